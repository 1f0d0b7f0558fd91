"""A law with two versions: what is in force on a day, what changed, and that each version can still be exported."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from cutter import sources
from cutter.law import export_forms
from cutter.law.export_check import FORMS
from tests.integration.law.conftest import Corpus
from tests.support import printed
from tests.support.database import TestCluster
from tests.support.printed import examples_in
from tests.support.runs import OPTIONS, Deployment, Keys, deployment, drive

LAW = "ICX-TWO-1"
FIRST = """# Part One

Preamble.

## Kept

The first article stays.

## Revised

The fee is ten euros.

## Dropped

The third article ends.

## Moved

This body is the same at another address.

# Part Two

Its text stays.
"""
SECOND = """# Part One

Preamble.

## Kept

The first article stays.

## Revised

The fee is twelve euros.

## New

The fourth article is new.

# Part Two

Its text stays.

## Moved

This body is the same at another address.
"""
BEGUN, CHANGED = "2020-01-01", "2024-07-01"
MOVE_DAYS = f"""
alter table public.unit_version disable trigger all;
alter table public.enactment disable trigger all;
update public.enactment set effective_from = case n when 1 then date '{BEGUN}' else date '{CHANGED}' end;
update public.unit_version v set effective_from = e.effective_from,
    effective_until = (select x.effective_from from public.enactment x where x.change_set_id = v.ended_by)
from public.enactment e where e.change_set_id = v.enacted_by;
"""
"""Days of the other side of today, which an administrator alone could write afterwards."""


def register(made: Deployment, text: str, effective: str | None, correction: str | None = None) -> None:
    """The next text of the law, in force from that day."""
    day = None if effective is None else date.fromisoformat(effective)
    sources.register(
        made.settings, text.encode(), document_id=LAW, docprefix=LAW, profile="generic-markdown",
        options=dict(OPTIONS), effective=day, correction=correction,
    )  # fmt: skip


@pytest.fixture(scope="module")
def amended(cluster: TestCluster, keys: Keys) -> Iterator[Corpus]:
    with cluster.database(prefix="two") as database, deployment(database, keys) as made:
        register(made, FIRST, BEGUN)
        first = drive(made, document_id=LAW)
        register(made, SECOND, CHANGED)
        second = drive(made, document_id=LAW)
        yield Corpus(made=made, act=first, rules=second)


@pytest.fixture(scope="module")
def ended(cluster: TestCluster, keys: Keys) -> Iterator[Corpus]:
    """The same law, of which the second version corrects the first, and the third repeals it."""
    with cluster.database(prefix="end") as database, deployment(database, keys) as made:
        register(made, FIRST, BEGUN)
        drive(made, document_id=LAW)
        register(made, SECOND, None, correction="A typing error")
        second = drive(made, document_id=LAW)
        sources.repeal(made.settings, LAW, effective=date.fromisoformat(CHANGED), reason="No longer needed")
        third = drive(made, document_id=LAW)
        yield Corpus(made=made, act=second, rules=third)


@pytest.mark.parametrize(
    ("arguments", "version", "text"),
    [
        ((), 2, "twelve"), (("--at", "2023-12-31"), 1, "ten"), (("--at", "2024-06-30"), 1, "ten"),
        (("--at", CHANGED), 2, "twelve"), (("--version", "1"), 1, "ten"), (("--version", "2"), 2, "twelve"),
    ],
)  # fmt: skip
@pytest.mark.promise
def test_a_day_and_a_number_choose_the_version(
    amended: Corpus, arguments: tuple[str, ...], version: int, text: str
) -> None:
    answer = amended("law", "show", LAW, *arguments, "--json").json
    bodies = "\n\n".join(unit["body"] for unit in answer["text"])
    assert answer["version"] == version
    assert f"The fee is {text} euros." in bodies
    assert bodies == (FIRST if version == 1 else SECOND).rstrip("\n")


def test_a_day_before_the_law_is_answered_with_its_first_day(amended: Corpus) -> None:
    answer = amended("law", "show", LAW, "--at", "2019-01-01", "--json")
    assert answer.json["next"] == f"cutter law show {LAW} --at {BEGUN}"
    assert amended(*answer.json["next"].split()[1:]).code == 0


def test_history_has_both_versions_and_their_time(amended: Corpus) -> None:
    first, second = amended("law", "history", LAW, "--json").json["versions"]
    assert (first["effective_from"], first["effective_until"], first["status"]) == (BEGUN, CHANGED, "superseded")
    assert (second["effective_from"], second["effective_until"], second["status"]) == (CHANGED, None, "in_force")
    assert (second["operation"], second["base_version"]) == ("revision", 1)
    shown = amended("law", "history", LAW).out
    assert f"next: cutter law diff {LAW}" in shown


@pytest.mark.promise
def test_history_of_a_unit_has_its_versions(amended: Corpus) -> None:
    address = next(
        unit["address"] for unit in amended("law", "show", LAW, "--json").json["text"] if "twelve" in unit["body"]
    )
    units = amended("law", "history", LAW, address, "--json").json["units"]
    assert [(unit["version"], unit["status"], unit["effective_until"]) for unit in units] == [
        (1, "superseded", CHANGED), (2, "in_force", None),
    ]  # fmt: skip
    (then,) = amended("law", "history", LAW, address, "--at", BEGUN, "--json").json["units"]
    assert then["version"] == 1


@pytest.mark.parametrize(
    ("command", "unit", "version", "other"),
    [("show", "DROPPED", 2, 1), ("show", "NEW", 1, 2), ("history", "DROPPED", 2, 1), ("history", "NEW", 1, 2)],
)
def test_a_unit_of_another_version_is_answered_with_that_version(
    amended: Corpus, command: str, unit: str, version: int, other: int
) -> None:
    answer = amended("law", command, LAW, unit, "--version", str(version), "--json")
    assert f"version {version} has no unit {unit}, and version {other} has one" in answer.json["message"]
    assert answer.json["next"] == f"cutter law show {LAW} {unit} --version {other}"
    assert (answer.code, amended(*answer.json["next"].split()[1:]).code) == (1, 0)


def test_a_unit_that_was_recorded_later_is_not_named(amended: Corpus) -> None:
    then = amended.database.value("select enacted_at from public.enactment where n = 1").isoformat()
    answer = amended("law", "show", LAW, "NEW", "--recorded", then, "--json")
    assert (answer.code, answer.json["code"]) == (1, "STOP_UNIT_NOT_FOUND"), answer
    assert "version 2" not in answer.json["message"]


@pytest.mark.promise
def test_a_diff_shows_the_word_and_each_kind_of_change(amended: Corpus) -> None:
    diff = amended("law", "diff", LAW, "--json").json
    assert {name: count for name, count in diff["counts"].items() if name != "kept"} == {
        "revised": 1, "created": 1, "repealed": 1, "moved": 1,
    }  # fmt: skip
    shown = amended("law", "diff", LAW).out
    assert "The fee is [-ten-]{+twelve+} euros." in shown
    assert "moved: " in shown
    only = amended(
        "law", "diff", LAW, next(c["address"] for c in diff["changes"] if c["change"] == "revised"), "--json"
    )
    assert [change["change"] for change in only.json["changes"]] == ["revised"]
    back = amended("law", "diff", LAW, "--from", "2", "--version", "1", "--json").json
    assert (back["counts"]["created"], back["counts"]["repealed"]) == (1, 1)


@pytest.mark.promise
def test_search_finds_the_text_of_the_day(amended: Corpus) -> None:
    def hits(*arguments: str) -> int:
        return len(amended("law", "search", "twelve", *arguments, "--json").json["found"])

    assert (hits(), hits("--at", BEGUN), hits("--at", CHANGED)) == (1, 0, 1)
    assert (hits("--document", LAW, "--version", "1"), hits("--document", LAW, "--version", "2")) == (0, 1)


def test_list_has_the_version_of_the_day(amended: Corpus) -> None:
    assert [law["version"] for law in amended("law", "show", "--json").json["laws"]] == [2]
    assert [law["version"] for law in amended("law", "show", "--at", BEGUN, "--json").json["laws"]] == [1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", [1, 2])
def test_each_version_is_exported_with_its_own_source(amended: Corpus, tmp_path: Path, version: int, form: str) -> None:
    file = tmp_path / "law"
    made = amended("law", "export", LAW, "--version", str(version), "--form", form, "-o", str(file), "--json")
    assert made.code == 0, made
    assert amended("verify", str(file), "--json").json["identical"]
    if form == "markdown":
        text = file.read_bytes().rpartition(export_forms.TRAILER)[0].decode()
        assert text == (FIRST if version == 1 else SECOND)


@pytest.mark.parametrize("form", FORMS)
def test_an_export_from_before_the_change_still_holds(amended: Corpus, tmp_path: Path, form: str) -> None:
    file = tmp_path / "law"
    first = min(row["enacted_at"] for row in amended("law", "history", LAW, "--json").json["versions"])
    of_then = ("--version", "1", "--recorded", first, "--form", form)
    assert amended("law", "export", LAW, *of_then, "-o", str(file)).code == 0
    report = amended("verify", str(file), "--json").json
    assert report["holds"], report
    if not report["identical"]:
        assert "later versions have ended" in report["notes"][0]
    file.write_bytes(file.read_bytes().replace(b"enact", b"enoct", 1))
    assert not amended("verify", str(file), "--json").json["holds"]


def test_the_feed_has_what_began_and_what_ended(amended: Corpus) -> None:
    rows = amended.database.value(
        'select jsonb_agg(jsonb_build_array(version, change) order by "cursor") from api.change', role="cutter_api"
    )
    assert [change for version, change in rows if version == 1] == ["create"] * 6
    assert sorted(change for version, change in rows if version == 2) == [
        "create", "create", "repeal", "repeal", "revise",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["show", "tree", "history", "search", "diff", "export"]
)  # fmt: skip
def test_the_example_of_each_help_page_works(amended: Corpus, tmp_path: Path, name: str) -> None:
    examples = examples_in(amended("law", name, "--help").out)
    assert len(examples) == 1
    typed = {
        "ICX-LAW-2026-001": LAW,
        "ARTICLE-3": f"{LAW}/PART-ONE/REVISED",
        "law.json": str(tmp_path / "law.json"),
    }
    words = [typed.get(word, word) if place > 2 else word for place, word in enumerate(examples[0].split())]
    answer = amended(*words[1:])
    assert answer.code == 0, answer


def test_a_version_that_is_not_yet_in_force_is_shown_as_such(amended: Corpus) -> None:
    amended.database.run(MOVE_DAYS.replace(CHANGED, "2999-01-01"))  # type: ignore[arg-type]
    try:
        assert amended("law", "show", LAW, "--json").json["version"] == 1
        assert amended("law", "show", LAW, "--at", "2999-01-01", "--json").json["version"] == 2
        first, second = amended("law", "history", LAW, "--json").json["versions"]
        assert (first["status"], second["status"]) == ("in_force", "not_yet_in_force")
        (law,) = amended("law", "show", "--json").json["laws"]
        assert (law["version"], law["newest_version"], law["effective_until"]) == (1, 2, "2999-01-01")
        assert "twelve" in amended("law", "diff", LAW).out
        bodies = amended.database.value("select string_agg(body, '') from api.unit", role="cutter_api")
        assert "ten euros" in bodies
        assert "twelve euros" not in bodies
    finally:
        amended.database.run(MOVE_DAYS)  # type: ignore[arg-type]


def test_a_law_that_is_not_yet_in_force_is_shown_with_its_first_version(amended: Corpus) -> None:
    later = MOVE_DAYS.replace(BEGUN, "2998-01-01").replace(CHANGED, "2999-01-01")
    amended.database.run(later)  # type: ignore[arg-type]
    try:
        answer = amended("law", "show", LAW, "--json").json
        assert (answer["version"], answer["status"]) == (1, "not_yet_in_force")
        (law,) = amended("law", "show", "--json").json["laws"]
        assert (law["version"], law["status"]) == (1, "not_yet_in_force")
        assert amended("law", "search", "euros", "--json").json["found"] == []
        assert amended.database.value("select count(*) from api.unit", role="cutter_api") == 0
    finally:
        amended.database.run(MOVE_DAYS)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["show", "diff"])
def test_a_line_of_a_law_never_begins_as_a_line_of_ours(amended: Corpus, command: str) -> None:
    """A law may have a line such as `next: cutter approve …`."""
    printed = amended("law", command, LAW).out.splitlines()
    of_the_law = tuple(filter(None, (FIRST + SECOND).splitlines()))
    assert any(line.startswith("  ") and line.strip().startswith(of_the_law) for line in printed)
    assert not [line for line in printed if line.startswith(of_the_law)]


def test_a_correction_takes_the_place_of_what_it_corrects(ended: Corpus) -> None:
    first, second, third = ended("law", "history", LAW, "--json").json["versions"]
    assert [version["operation"] for version in (first, second, third)] == ["first_cut", "correction", "repeal"]
    assert (first["effective_from"], first["effective_until"], second["effective_from"]) == (BEGUN, BEGUN, BEGUN)
    assert (second["reason"], second["effective_until"]) == ("A typing error", CHANGED)
    assert "twelve" in ended("law", "show", LAW, "--at", BEGUN).out
    assert "ten euros" in ended("law", "show", LAW, "--version", "1").out


def test_a_repealed_law_says_so_and_its_last_text_is_still_there(ended: Corpus) -> None:
    (law,) = ended("law", "show", "--json").json["laws"]
    assert (law["status"], law["version"], law["units"], law["title"]) == ("repealed", 3, 0, "Part One")
    answer = ended("law", "show", LAW)
    assert "it repeals the law" in answer.out
    for script in printed.scripts_in(answer.out):
        for command in script:
            assert "twelve" in ended(*command.split()[1:]).out
    assert ended("law", "search", "euros", "--json").json["found"] == []
    assert ended.database.value("select count(*) from api.unit", role="cutter_api") == 0
    assert ended("law", "diff", LAW, "--json").json["counts"]["repealed"] == 6
    assert ended("law", "tree", LAW).code == 0
    units = ended("law", "history", LAW, "PART-ONE/REVISED", "--json").json["units"]
    assert [unit["status"] for unit in units] == ["superseded", "repealed"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", [1, 2, 3])
def test_each_version_of_a_repealed_law_is_exported(ended: Corpus, tmp_path: Path, version: int, form: str) -> None:
    file = tmp_path / "law"
    made = ended("law", "export", LAW, "--version", str(version), "--form", form, "-o", str(file), "--json")
    if version == 3 and form == "csv":
        assert (made.code, "has no units: choose --form json" in made.json["message"]) == (2, True)
        return
    assert made.code == 0, made
    assert ended("verify", str(file), "--json").json["identical"]
