"""Bad input and an environment that is not there: one sentence, the right exit code, nothing lost.

After the remedy the same command works.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from cutter.gpg import Gpg
from tests.support.laws import law
from tests.support.processes import POSTGRES, TEMPORAL, Done, Stack, stack, wait

GOOD = law(4)
FIRST_ARTICLE = GOOD.index("### Article 1")
REPEATED = GOOD + GOOD[FIRST_ARTICLE:]


def told(done: Done, code: int) -> str:
    """The one sentence of a command that refused."""
    lines = [line for line in done.stderr.strip().splitlines() if line]
    assert done.returncode == code, done.stderr[-1500:]
    assert "Traceback" not in done.stderr
    assert "this is a bug" not in done.stderr
    assert lines, "nothing was said"
    return lines[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text that `source add` refuses; `remedy` are the options or the bytes with which it is taken."""

    data: bytes
    says: str
    remedy: tuple[str, ...] = ()


TEXTS = {
    "empty": Text(data=b"", says="empty"),
    "white": Text(data=b" \n\t\n", says="empty"),
    "broken-utf-8": Text(data=GOOD.encode().replace(b"river", b"riv\xe9r"), says=r"line \d+: byte \d+ is not UTF-8"),
    "utf-16": Text(data=GOOD.encode("utf-16"), says="not UTF-8"),
    "not-nfc": Text(
        data=unicodedata.normalize("NFD", GOOD.replace("lamp", "đèn tường")).encode(),
        says=r"line \d+ is not in Unicode NFC: type `cutter source add",
        remedy=("--normalise", "nfc"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_cannot_be_registered_is_refused_with_its_line(standing: Stack, tmp_path: Path, name: str) -> None:
    text = TEXTS[name]
    document = f"TEXT-{name.upper()}"
    file = tmp_path / "law.md"
    file.write_bytes(text.data)
    given = ("source", "add", str(file), "--document-id", document, "--profile", "generic-markdown")
    assert re.search(text.says, told(standing.cutter(*given), 2))
    assert standing.value("select count(*) from public.source_document where doc_code = %s", (document,)) == 0
    if not text.remedy:
        file.write_text(GOOD, encoding="utf-8")
    assert standing.cutter(*given, *text.remedy).returncode == 0
    assert standing.value("select count(*) from public.source_document where doc_code = %s", (document,)) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A law that is registered and cannot be cut; `remedy` are options with which, or another text that, it can."""

    text: str
    says: str
    remedy: tuple[str, ...] = ()
    corrected: str = ""


LAWS = {
    "NO-HEADINGS": Law(text="Just a sentence.\n\nAnd another.\n", says="candidate|heading|unit", corrected=GOOD),
    "REPEATED": Law(
        text=REPEATED,
        says="duplicate|twice",
        remedy=(
            "--duplicates",
            "ordinal",
            "--accept",
            "number_repeated:REPEATED/CHAPTER-1/ARTICLE-1~2",
            "--because",
            "printed twice",
        ),
    ),
    "SWALLOWED": Law(
        text=GOOD.replace("### Article 2", "Article 2"),
        says="heading_absorbed, line",
        remedy=("--accept", "heading_absorbed:SWALLOWED/CHAPTER-1/ARTICLE-1", "--because", "quoted"),
    ),
    "NO-TEXT": Law(
        text=GOOD + "\n### Article 3. Repealed\n", says="childless_heading", remedy=("--empty", "heading_only")
    ),
    "FIVE-THOUSAND": Law(text=law(5_000), says="count 5000, max_candidates 1000", corrected=law(40)),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_that_cannot_be_cut_fails_with_its_reason_and_runs_after_its_correction(
    standing: Stack, name: str
) -> None:
    case = LAWS[name]
    standing.add(name, case.text)
    failed = standing.cutter("run", name, "--wait", "--json")
    assert failed.returncode == 1, failed.stderr[-1500:]
    assert "failed_mark" in failed.stdout
    assert re.search(case.says, failed.stdout, re.I), failed.stdout
    assert f"cutter source add FILE --document-id {name}" in failed.stdout
    assert units_of(standing, name) == 0
    standing.add(name, case.corrected or case.text, *case.remedy)
    assert standing.json("run", name, "--wait", code=3)["state"] == "awaiting_cut_authorization"
    stopped(standing, name)


def test_an_unknown_document_is_named_with_the_command_that_registers_it(standing: Stack) -> None:
    sentence = told(standing.cutter("run", "NOT-THERE-1", "--wait"), 1)
    assert re.search(
        "NOT-THERE-1 is not registered: .*type `cutter source add FILE --document-id NOT-THERE-1", sentence
    )
    standing.add("NOT-THERE-1", GOOD)
    standing.json("run", "NOT-THERE-1", "--wait", code=3)
    stopped(standing, "NOT-THERE-1")


def test_an_unknown_run_is_said_to_be_unknown(standing: Stack) -> None:
    """Seed 000 §7."""
    run_id = "ictr-20261121T000000Z-01a1fc4e-cc78-73fd-adda-c6f7bc16c9c1"
    sentence = told(standing.cutter("orchestrate", "resume", "--run-id", run_id), 1)
    assert run_id in sentence


def test_a_lone_carriage_return_in_a_heading_is_kept_in_the_body_and_ends_no_line(standing: Stack) -> None:
    standing.add("LONE-CR", GOOD.replace("The lamp", "The\rlamp").replace("\n\n", "\r\n\r\n"))
    run_id = standing.json("run", "LONE-CR", "--wait", code=3)["run_id"]
    assert next(iter(standing.sidecar(run_id)["requests"]))["kb_id"]
    stopped(standing, "LONE-CR")


def test_a_key_that_the_policy_does_not_name_is_refused_and_the_right_one_still_opens(
    standing: Stack, tmp_path: Path
) -> None:
    standing.add("WRONG-KEY", GOOD)
    run_id = standing.json("run", "WRONG-KEY", "--wait", code=3)["run_id"]
    with stranger() as home:
        sentence = told(standing.cutter("approve", run_id, "--yes", "--gpg-home", str(home)), 4)
        assert "0 of your keys fit the policy" in sentence
        kb_id = forged(standing, run_id, home, tmp_path)
        refused = standing.json("orchestrate", "resume", "--run-id", run_id, "--approval-kb-id", kb_id, code=4)
        assert refused["answer"]["status"] == "refused"
    assert standing.waits_in(run_id) == "awaiting_cut_authorization"
    assert units_of(standing, "WRONG-KEY") == 0
    done = standing.cutter("approve", run_id, "--yes", "--gpg-home", str(standing.state / "demo" / "gpg"))
    assert done.returncode == 0, done.stderr
    wait(lambda: standing.waits_in(run_id) == "awaiting_lifecycle_authorization", seconds=60, what="SG_2")
    stopped(standing, "WRONG-KEY")


@pytest.mark.parametrize(("victim", "word"), [(POSTGRES, "database"), (TEMPORAL, "Temporal")])
def test_what_is_down_is_named_and_the_same_command_works_when_it_is_up(
    standing: Stack, victim: str, word: str
) -> None:
    document = f"DOWN-{victim.upper()}"
    standing.add(document, GOOD)
    standing.kill(victim)
    for _ in range(2):
        sentence = told(standing.cutter("run", document, "--wait"), 5)
        assert word in sentence
        assert "cutter up" in sentence or "cutter doctor" in sentence
    standing.up()
    standing.json("run", document, "--wait", code=3)
    stopped(standing, document)


def test_a_stack_without_gpg_says_so_and_comes_up_with_it(tmp_path: Path) -> None:
    """PATH has everything but gpg and its parts."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if not program.name.startswith(("gpg", "temporal")) and not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
    with stack("cg") as made:
        sentence = told(made.cutter("up", env={"PATH": str(programs)}), 5)
        assert "gpg" in sentence
        looked = made.cutter("doctor", env={"PATH": str(programs)})
        assert looked.returncode == 5
        assert "gpg" in looked.stdout
        assert made.cutter("up").returncode == 0


def test_a_full_disk_under_the_backups_stops_the_run_and_room_lets_it_go_on(standing: Stack) -> None:
    """A run whose backup cannot be kept stops as unavailable; nothing half-written stays."""
    standing.add("FULL-BACKUP", law(5))
    with small_disk(standing.state / "runs") as folder:
        status = standing.json("run", "FULL-BACKUP", "--wait", code=4)
        assert status["state"] == "stopped_unavailable_backup"
        assert status["next"] == "cutter orchestrate resume --document-id FULL-BACKUP"
        assert not list(folder.rglob("*.gpg")), "nothing half-written under a final name"
    standing.json("orchestrate", "resume", "--run-id", status["run_id"], "--wait", code=3)
    stopped(standing, "FULL-BACKUP")


def test_a_full_disk_under_the_stack_is_told_before_anything_starts(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as folder:
        made = Stack(state=folder)
        sentence = told(made.cutter("up"), 5)
        assert "MiB free" in sentence
        assert "CUTTER_STATE_DIR" in sentence


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A small file system on top of a folder, filled to its last byte."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=False)
    if mounted.returncode != 0:
        pytest.skip("this machine does not let root mount a small file system")
    try:
        with (folder / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(b"x" * 4096)
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def stranger() -> Iterator[Path]:
    """The GnuPG home of somebody with a key that no policy names."""
    home = Path("/tmp") / f"cz{os.getpid()}"
    gpg = Gpg(home)
    try:
        gpg.generate_key("a stranger")
        yield home
    finally:
        gpg.stop_agent()
        shutil.rmtree(home, ignore_errors=True)


def forged(standing: Stack, run_id: str, home: Path, folder: Path) -> str:
    """The approver's statement with a stranger's signature, put into the knowledge base by hand; its KB id."""
    kb = standing.state / "kb"
    kb_id = standing.approve(run_id)
    body, signature = kb / kb_id, kb / f"{kb_id}.asc"
    name = kb_id.removesuffix(".md") + "-by-a-stranger.md"
    shutil.copy(body, kb / name)
    gpg = Gpg(home)
    (kb / f"{name}.asc").write_bytes(gpg.sign_detached(body.read_bytes(), gpg.primary_fingerprints(secret=True)[0]))
    shutil.move(body, folder / "unsent.md")
    shutil.move(signature, folder / "unsent.md.asc")
    return name


def units_of(standing: Stack, document: str) -> int:
    count = standing.value(
        "select count(*) from public.information_unit where canonical_address like %s", (f"{document}/%",)
    )
    return int(count)


def stopped(standing: Stack, document: str) -> None:
    """Leave no run behind that others would wait for."""
    standing.temporal("workflow", "terminate", "-w", f"document/{document}", "--reason", "the test is over")
