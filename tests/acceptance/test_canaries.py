"""No word of a law leaves the places where the law belongs: database, snapshot, and the requests that people read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.laws import law
from tests.support.left_texts import decoded, files
from tests.support.processes import Stack, wait

BODY, HEADING = "zqbodyxcanary", "Zqheadxcanary"

STORES = ("postgres", "artifacts")
"""Below these the law itself is kept: the database's files, and encrypted backups (searched all the same)."""

DOCUMENTS = {"passed": "CANARY-1", "refused": "CANARY-2", "empty": "CANARY-3"}


@pytest.fixture(scope="module")
def marked(_made: Stack) -> Stack:
    """Three runs of laws full of canaries: one to its end, one refused for a repeated article, one for an empty one."""
    stack = _made
    stack.up()
    text = law(9, word=BODY, heading=HEADING)
    article = f"### Article 1. The bridge {HEADING}\n\nAgain. {BODY}\n"
    stack.add(DOCUMENTS["passed"], text)
    stack.add(DOCUMENTS["refused"], f"{text}\n{article}{article}")
    stack.add(DOCUMENTS["empty"], f"{text}\n### Article 70. Nothing {HEADING}\n")
    for name in ("refused", "empty"):
        status = stack.json("run", DOCUMENTS[name], "--wait", code=None)
        assert status["state"].startswith("failed_"), status
    run_id = stack.json("run", DOCUMENTS["passed"], "--wait", code=3)["run_id"]
    for state in ("awaiting_cut_authorization", "awaiting_lifecycle_authorization"):
        wait(lambda state=state: stack.waits_in(run_id) == state, seconds=60, what=state)
        stack.signal(DOCUMENTS["passed"], stack.approve(run_id))
    wait(lambda: stack.waits_in(run_id) == "closeout_reported", seconds=60, what="closeout")
    return stack


def test_the_law_itself_is_where_it_belongs(marked: Stack) -> None:
    """Else nothing below could fail."""
    assert marked.value("select count(*) from public.unit_version where body like %s", (f"%{BODY}%",)) > 3
    kb = [path for path in files(marked.state / "kb") if BODY.encode() in path.read_bytes()]
    assert kb
    assert all("snapshot" in path.name or "request" in path.name for path in kb), kb


def test_no_word_of_the_law_is_in_a_history(marked: Stack) -> None:
    for document in DOCUMENTS.values():
        shown = marked.temporal("workflow", "show", "-w", f"document/{document}", "-o", "json").stdout
        texts = [shown, *decoded(json.loads(shown))]
        assert len(texts) > 10
        for text in texts:
            assert not words_in(text), f"{document}: {around(text)}"


def test_no_word_of_the_law_is_in_search_attributes_or_answers_to_queries(marked: Stack) -> None:
    for document in DOCUMENTS.values():
        answers = [marked.temporal("workflow", "describe", "-w", f"document/{document}", "-o", "json").stdout]
        answers += [
            marked.temporal("workflow", "query", "-w", f"document/{document}", "--name", name).stdout
            for name in ("status", "request", "__temporal_workflow_metadata")
        ]
        for text in [part for answer in answers for part in (answer, *decoded_text(answer))]:
            assert not words_in(text), f"{document}: {around(text)}"


def test_no_word_of_the_law_is_in_temporals_files(marked: Stack) -> None:
    for path in (marked.state / "temporal").glob("temporal.db*"):
        assert not words_in(path.read_bytes().decode("latin-1")), path


def test_no_word_of_the_law_is_in_a_log(marked: Stack) -> None:
    logs = list((marked.state / "logs").iterdir())
    assert {"worker-cutter.log", "worker-exec.log", "temporal.log", "postgres.log"} <= {path.name for path in logs}
    for path in logs:
        assert not words_in(path.read_text(encoding="utf-8", errors="replace")), path.name


def test_no_word_of_the_law_is_in_a_run_folder(marked: Stack) -> None:
    paths = list(files(marked.state / "runs"))
    assert any(path.name == "state.json" for path in paths)
    for path in paths:
        text = path.read_bytes().decode("utf-8", errors="replace")
        assert not words_in(text), f"{path.name}: {around(text)}"


def test_no_word_of_the_law_is_in_an_evidence_bundle(marked: Stack, tmp_path: Path) -> None:
    sealed = {}
    for name, document in DOCUMENTS.items():
        file = tmp_path / f"{name}.tar"
        sealed[name] = marked.json("evidence", "export", document, "-o", str(file))["sealed"]
        text = file.read_bytes().decode("latin-1")
        assert not words_in(text), f"{name}: {around(text)}"
    assert {name for name, how in sealed.items() if how == "by the closeout"} == {"passed"}


def test_titles_and_excerpts_are_in_requests_and_in_no_other_document(marked: Stack) -> None:
    for path in files(marked.state / "kb"):
        text = path.read_bytes().decode("utf-8", errors="replace")
        if "snapshot" in path.name:
            continue
        if "request" in path.name:
            ours = f"/{DOCUMENTS['passed'].lower()}/" in str(path)
            assert not ours or (HEADING in text and BODY in text), "people see what they sign"
        else:
            assert not words_in(text), f"{path.name}: {around(text)}"


def test_a_backup_shows_nothing_and_no_other_file_of_the_stack_does(marked: Stack) -> None:
    for path in files(marked.state):
        inside = path.relative_to(marked.state)
        if inside.parts[0] in ("postgres", "kb") or inside.suffix == ".md":
            continue
        assert not words_in(path.read_bytes().decode("latin-1")), inside


def words_in(text: str) -> bool:
    """Addresses made from a heading are upper case, so case counts for nothing."""
    low = text.lower()
    return BODY in low or HEADING.lower() in low


def around(text: str) -> str:
    low = text.lower()
    place = max(low.find(BODY), low.find(HEADING.lower()))
    return text[max(0, place - 120) : place + 60]


def decoded_text(text: str) -> Iterator[str]:
    try:
        yield from decoded(json.loads(text))
    except ValueError:
        return
