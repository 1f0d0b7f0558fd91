"""The report of a run: what its first page answers, what is folded, and what it says of a run that did not arrive."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from cutter.domain.next_step import Needs
from cutter.domain.run_record import RunSidecar
from cutter.marking import Finding
from cutter.projections import report
from cutter.projections.report import PinnedLaw
from cutter.projections.run_view import ShownRun, run_view
from cutter.types import Json
from tests.cases import request_views
from tests.cases.run_reports import closed, five, halted, law_of
from tests.support.hostile import STRINGS, leaks
from tests.unit.evidence import sidecars as made

HALTED: dict[str, tuple[dict[str, Any], str, str]] = {
    "failed_mark": ({"gates": made.through("IG_mark") - 1}, "This run has failed at IG_mark.",
                    f"cutter run {made.DOCUMENT} --amends {made.RUN_ID}"),
    "failed_rejected": ({"gates": made.through("IG_grant_probe")}, "An approver rejected this run.",
                        f"cutter source add FILE --document-id {made.DOCUMENT} --profile PROFILE"),
    "failed_closeout": ({"gates": made.through("IG_closeout") - 1},
                        "The law is enacted, but the run has failed at IG_closeout.",
                        f"cutter audit export --run {made.RUN_ID} --out audit.jsonl"),
    "voided_mistake": ({"gates": made.through("IG_structural_verify")}, "This run is voided.",
                       f"cutter run {made.DOCUMENT}"),
    "stopped_stop": ({}, "This run is stopped.", f"cutter approve {made.DOCUMENT} --decision resume --reason TEXT"),
    "stopped_unavailable_kb": ({}, "This run is stopped.", f"cutter orchestrate resume --document-id {made.DOCUMENT}"),
    "stopped_drift_schema": (
        {}, "This run is stopped.", f"cutter approve {made.DOCUMENT} --decision acknowledge_drift --reason TEXT"
    ),
}  # fmt: skip
"""State → what the run has, the sentence on top, and a command of the way on."""


def page(view: ShownRun, law: PinnedLaw) -> str:
    return report.render(view, law).decode()


@pytest.mark.parametrize("state", HALTED)
def test_a_run_that_did_not_arrive_says_so_on_top_with_the_next_command(state: str) -> None:
    run, sentence, command = HALTED[state]
    top = page(*halted(state, **run)).partition("<h2")[0]
    for text in (sentence, "because of this", command, "An Act", state):
        assert text in top


@pytest.mark.parametrize(
    ("outcome", "sentence", "command"),
    [
        ("rehearsed", "This was a rehearsal: nothing was written.", f"cutter run {made.DOCUMENT}"),
        ("skipped", "This run did nothing.", "cutter report ictr-first"),
    ],
)
def test_a_run_that_was_to_write_nothing_says_so_on_top(outcome: str, sentence: str, command: str) -> None:
    sidecar = made.sidecar("pending", outcome=outcome, ended_at=made.at(9))
    sidecar["step_facts"]["law_by"] = "ictr-first"
    view = run_view(RunSidecar.of(sidecar))
    top = page(view, PinnedLaw(why="The run has pinned no text.")).partition("<h2")[0]
    assert sentence in top
    assert command in top


def test_a_run_that_waits_names_who_must_act_and_until_when() -> None:
    sidecar = made.sidecar("awaiting_cut_authorization", gates=made.through("IG_grant_probe"))
    sidecar["requests"] = [made.request()]
    shown = report.render(run_view(RunSidecar.of(sidecar))).decode()
    top, _, rest = shown.partition("<h2")
    assert "This run waits for a signed approval." in top
    assert f"cutter approve {made.DOCUMENT}" in top
    assert "Nobody has signed anything." in rest
    assert "2026-11-21 09:56:40Z" in rest


def test_a_stop_that_the_run_has_not_heard_of_is_on_top_with_its_author() -> None:
    sidecar = made.sidecar("marked", gates=made.through("IG_mark"))
    sidecar["latch"] |= {"stopped": True, "kind": "stop", "reason": "wrong text", "set_by": "op", "set_at": made.at(5)}
    sidecar["step_facts"]["latched"] = True
    top = page(run_view(RunSidecar.of(sidecar)), five()[1]).partition("<h2")[0]
    assert "A person has ordered a stop, and the run has not stopped yet." in top
    assert "by op at" in top
    assert "wrong text" in top


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ({}, "This run is at work."),
        ({"state": "awaiting_cut_authorization", "needs": Needs.WORKER}, "This run is approved."),
    ],
)
def test_a_run_on_its_way_says_so(run: Json, sentence: str) -> None:
    view = run_view(RunSidecar.of(made.sidecar("marked", gates=made.through("IG_mark"))))
    assert sentence in page(replace(view, **run), five()[1])


def test_a_closed_run_does_not_send_its_reader_to_its_own_report() -> None:
    top = page(*five()).partition("<h2")[0]
    assert "The law is enacted, and the run is closed." in top
    assert "Next" not in top


def test_the_first_page_says_which_law_how_many_units_who_signed_and_the_tree() -> None:
    shown = page(*five())
    wanted = [
        "Act on Public Reading Rooms", made.DOCUMENT, "5 units", "5 units (enacted)", "approver-1", "approver-2",
        "SG_1: write the units", "SG_2: make them effective", "2026-11-21 09:00:25Z", "2026-11-21 09:00:40Z",
        "Chapter 1 On lamps", "Article 1. The lamp", "Article 3. The orchard",
    ]  # fmt: skip
    assert [text for text in wanted if text not in shown] == []


def test_the_answers_come_before_the_record_and_the_record_is_folded() -> None:
    shown = page(*five())
    assert re.findall(r"<h2[^>]*>([^<]*)", shown) == ["Signatures", "Findings", "Units", "Record"]
    record = shown.partition('id="record"')[2]
    assert "<details open" not in record
    outside = re.sub(r"(?s)<details>.*</details>|<[^>]+>", " ", record.partition(">")[2])
    assert " ".join(outside.split()).startswith("Record All times are UTC")
    before = shown.partition('id="record"')[0]
    assert re.findall(r"[0-9a-f]{64}", before) == []


def test_findings_and_their_acceptances_are_named_with_reasons() -> None:
    shown = request_views.view()
    text = page(closed(shown), law_of(shown))
    for finding in shown.findings:
        assert finding.name in text
    assert "printed twice in the gazette" in text


def test_a_number_that_no_title_says_is_in_the_tree() -> None:
    shown = request_views.view()
    assert [unit.number_not_in_title for unit in shown.units] == [None] * 5 + ["2~2"]
    assert "2~2" in page(closed(shown), law_of(shown))


def test_the_gate_that_failed_is_open() -> None:
    view, law = halted("failed_cutplan")
    record = page(view, law).partition('id="record"')[2]
    assert re.findall(r"<details open>\s*<summary><h\d>([^<]*)", record) == ["Gates", "3 IG_cutplan"]


def test_another_cut_than_the_sealed_one_is_not_shown_as_the_units_of_the_run() -> None:
    view, law = five()
    assert law.view is not None
    other = replace(law.view, digests=replace(law.view.digests, mark_digest="0" * 64))
    text = page(view, replace(law, view=other))
    assert "another way than this run did: mark_digest of the gates differ" in text
    assert "Article 1. The lamp" not in text


def test_a_cut_that_no_gate_has_sealed_is_called_so() -> None:
    view = run_view(RunSidecar.of(made.sidecar("source_pinned", gates=made.through("IG_source_pin"))))
    assert "No gate has sealed this cut." in page(view, five()[1])
    assert "No gate has sealed this cut." not in page(*five())


def test_units_that_are_not_all_stored_are_not_called_as_planned() -> None:
    assert "PostgreSQL holds 0 of 5 units." in page(*five())
    assert "Each has the title" not in page(*five())
    written = request_views.written_view()
    assert "PostgreSQL holds 6 of 6 units." in page(closed(written), law_of(written))
    assert "Each has the title" in page(closed(written), law_of(written))
    missing = request_views.written_view(())
    assert "6 differ from the plan." in page(closed(missing), law_of(missing))


def test_red_findings_that_nobody_accepted_are_listed_where_they_refuse_the_cut() -> None:
    red = Finding(code="looks_uncut", line=4, message="reads like text", severity="red")
    law = PinnedLaw(title="An Act", why="The text cannot be cut: line 4", refused=(red,))
    text = page(run_view(RunSidecar.of(made.sidecar("failed_mark", gates=made.through("IG_source_pin")))), law)
    assert "looks_uncut:LINE-4" in text
    assert "reads like text" in text


@pytest.mark.parametrize(
    ("state", "gates", "held", "words"),
    [
        ("cutplan_ok", 3, {}, "Nothing of it is written."),
        ("write_verified", 9, {"draft": 5}, "PostgreSQL holds 5 units (draft)."),
        ("write_verified", 9, {}, "PostgreSQL holds none of them now."),
        ("voided_mistake", 9, {"draft": 5}, "The void has withdrawn the drafts."),
    ],
)
def test_what_became_of_the_units(state: str, gates: int, held: dict[str, int], words: str) -> None:
    law = replace(five()[1], held=held)
    assert words in page(run_view(RunSidecar.of(made.sidecar(state, gates=gates))), law)


def test_a_time_of_signing_that_is_none_gives_way_to_that_of_the_database() -> None:
    for signed_utc in (None, 7, "yesterday", {"a": 1}):
        sidecar = made.sidecar("cutplan_ok", gates=made.through("IG_cutplan"))
        sidecar["verdicts"] = [{**made.verdict(), "statement": {"signed_utc": signed_utc}}]
        assert "2026-11-21 09:00:30Z" in page(run_view(RunSidecar.of(sidecar)), five()[1]).partition('id="findings"')[0]


def test_without_a_text_the_report_says_why() -> None:
    view = run_view(RunSidecar.of(made.sidecar("failed_mark", gates=made.through("IG_source_pin"))))
    assert "no heading" in page(view, PinnedLaw(title="An Act", why="The text cannot be cut: no heading"))


def test_the_same_run_is_the_same_report() -> None:
    assert report.render(*five()) == report.render(*five())


def hostile(text: str) -> tuple[ShownRun, PinnedLaw]:
    """A run with that text wherever somebody else writes, its law included."""
    sidecar = made.sidecar("stopped_stop", gates=made.through("IG_mark"), last_error={"reason": text})
    sidecar["run"] |= {"starter": text}
    sidecar["latch"] = {"stopped": True, "kind": "stop", "reason": text, "set_by": text, "set_at": made.at(1)}
    sidecar["verdicts"] = [{**made.verdict(reason=text), "approver": text, "fingerprint": text}]
    for receipt in sidecar["receipts"]:
        receipt["result"]["pins"] = {"pin": text}
    shown = request_views.hostile_view(text)
    return run_view(RunSidecar.of(sidecar)), PinnedLaw(view=shown, title=text, held={text: 1})


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_no_text_of_others_is_active_or_hidden_in_the_report(text: str) -> None:
    shown = page(*hostile(text))
    assert leaks(shown) == []
    assert all(f"⟨{code}⟩" in shown for code in leaks(text))
    tags = r"<(\w+)"
    assert re.findall(tags, shown) == re.findall(tags, page(*hostile("harmless")))
