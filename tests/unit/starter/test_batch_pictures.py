"""A batch on the terminal: eighty columns, small screens, a thousand documents, and lines for a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from cutter.batch.view import BatchView
from cutter.domain.tenants import Room
from cutter.projections.batch_summary import ShownBatch, shown_batch
from cutter.projections.run_view import ShownRejection
from starter.console import terminal
from starter.console.terminal import ExitCode
from starter.console.watch import compact
from starter.operator import batch_outcome, batch_status
from starter.operator.batch_outcome import exit_code
from tests.unit.evidence import batches as made

NAMES = [f"ICX-LAW-2026-{number:03d}" for number in range(1, 11)]


def view(
    facts: made.Facts | None = None, rooms: Sequence[Room] = (), rejections: dict[str, ShownRejection] | None = None
) -> ShownBatch:
    whole = (facts or made.night(NAMES)).whole()
    sealed = {run_id: len(receipts) for run_id, receipts in whole["receipts"].items()}
    return shown_batch(BatchView.of(whole["view"]), sealed, made.at(3600), rejections=rejections or {}, rooms=rooms)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Console:
    """A terminal of 80 columns and 24 lines."""
    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, color_system=None)
    monkeypatch.setattr(batch_status, "out", lambda: console)
    return console


def printed(console: Console, renderable: Any) -> list[str]:
    console.print(renderable, soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_the_table_fits_eighty_columns_one_row_a_document(screen: Console) -> None:
    lines = printed(screen, batch_status.whole(view()))
    rows = lines[lines.index("") + 2 :][:10]
    assert [line.split()[:2] for line in rows] == [
        [document.document_id, document.shown] for document in view().documents
    ]
    assert max(len(line) for line in rows) <= 80
    assert rows[2].split()[2:] == ["SG_2", str(made.AT_SG2), "49", "min"]


def test_the_cap_that_holds_a_batch_up_is_named_while_something_waits_for_it(screen: Console) -> None:
    room = Room(
        tenant="default", workflow="batch", weight=1, max_concurrency=2, max_runs_per_min=None, max_writes_per_run=None,
        at_work=2, last_minute=2, room=0, code="STOP_TENANT_CONCURRENCY", again_utc=None,
    )  # fmt: skip
    sentence = "held by caps: tenant default has 2 of 2 runs at work (max_concurrency)"
    assert sentence in printed(screen, batch_status.whole(view(rooms=[room])))
    assert view(rooms=[room]).held[0].code == "STOP_TENANT_CONCURRENCY"
    assert view(rooms=[replace(room, code=None)]).held == ()
    assert view(rooms=[replace(room, tenant="other")]).held == ()


def test_below_the_table_stands_what_went_wrong_and_what_is_typed(screen: Console) -> None:
    lines = printed(screen, batch_status.whole(view()))
    below = lines[lines.index("") + 13 :]
    heads = [line.split()[0] for line in below if line.startswith("ICX")]
    assert heads == [NAMES[1], NAMES[2], NAMES[3], NAMES[4], NAMES[5], NAMES[8]]
    failed = below.index(f"{NAMES[3]} failed_mark: region_sha_rebuilt: two differ")
    commands = [
        line.strip() for line in below[failed + 1 : below.index(f"{NAMES[4]} stopped_drift_units: rows were changed")]
    ]
    sign = f"cutter approve --batch {made.BATCH_ID} --decision include_failed --only {NAMES[3]} --reason TEXT"
    assert commands[-1] == sign
    assert f"{NAMES[5]} blocked: it depends on another" in below
    assert below[-1] == f"next: cutter status {made.BATCH_ID} --watch", "what moves is not held by what failed"


@pytest.fixture
def rejected() -> ShownBatch:
    """A batch in which bob rejected the second of two documents."""
    facts = made.Facts()
    facts.add(NAMES[0], gates=made.ALL)
    facts.add(NAMES[1], gates=made.AT_SG1, state="failed_rejected", reason="article 4 is missing")
    rejection = ShownRejection(gate="SG_cut_authz", approver="bob", reason="article 4 is missing")
    return view(facts, rejections={made.run_id(2): rejection})


REJECTION = f"{NAMES[1]} was rejected at SG_1 by bob: article 4 is missing"


def test_a_rejected_document_says_who_rejected_it_why_and_what_is_typed(screen: Console, rejected: ShownBatch) -> None:
    lines = printed(screen, batch_status.whole(rejected))
    (row,) = (line.split() for line in lines if line.startswith(f"{NAMES[1]} ") and line != REJECTION)
    assert row == [NAMES[1], "rejected", "SG_1", str(made.AT_SG1)]
    add, sign = (line.strip() for line in lines[lines.index(REJECTION) + 1 :][:2])
    assert add == f"cutter source add FILE --document-id {NAMES[1]} --profile PROFILE"
    assert sign == f"cutter approve --batch {made.BATCH_ID} --decision include_failed --only {NAMES[1]} --reason TEXT"


def test_a_rejection_is_named_without_a_terminal_and_as_a_line_of_a_watch(rejected: ShownBatch) -> None:
    console = terminal._console(io.StringIO())
    console.print(batch_status.whole(rejected), soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    assert REJECTION in console.file.getvalue().splitlines()
    assert any(line.endswith(f"Z {REJECTION}") for line in batch_status.lines(rejected))


def test_signatures_of_a_batch_that_awaits_them_are_given_by_its_own_command(screen: Console) -> None:
    facts = made.Facts(state="batch_awaiting_cut_authz_set")
    facts.add("ICX-1", gates=made.AT_SG1)
    lines = printed(screen, batch_status.whole(view(facts)))
    assert [line for line in lines if "cutter" in line] == [f"next: cutter approve --batch {made.BATCH_ID}"]


def test_without_a_terminal_each_row_carries_its_command() -> None:
    console = terminal._console(io.StringIO())
    console.print(batch_status.whole(view()), soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    rows = [line for line in console.file.getvalue().splitlines() if line.startswith(NAMES[1])]
    assert len(rows) == 1
    assert rows[0].rstrip().endswith(f"cutter approve {NAMES[1]}")


def test_the_live_picture_fits_the_screen_and_counts_the_rest(screen: Console) -> None:
    lines = printed(screen, batch_status.live(view(made.thousand())))
    assert len(lines) <= 24
    assert lines[3].split("%")[0].split()[-1] == "100"
    documents = [line for line in lines if line.startswith("ICX")]
    assert all("failed" in line for line in documents[:11])
    assert f"… and {1000 - len(documents)} more: {1000 - len(documents)} enacted" in lines


def test_ages_are_those_of_what_goes_on() -> None:
    cells = {document.document_id: batch_status._cells(view(), document) for document in view().documents}
    assert cells[NAMES[0]][4] == ""
    assert cells[NAMES[1]][4] == "59 min"


@pytest.mark.parametrize(
    ("seconds", "text"), [(-2, "0 s"), (7, "7 s"), (119, "1 min"), (7_500, "2 h 5 min"), (273_600, "3 d 4 h")]
)
def test_ages_are_short(seconds: float, text: str) -> None:
    assert batch_status.age_text(made.at(0), made.at(seconds)) == text


def test_a_row_of_the_live_picture_is_one_line_at_any_width(screen: Console) -> None:
    facts = made.Facts()
    facts.add("ICX-" + "X" * 60, gates=4, state="stopped_unavailable_worker_exec")
    lines = printed(screen, batch_status.live(view(facts)))
    assert sum("ICX-" in line for line in lines) == 1
    assert max(len(line) for line in lines if not line.startswith("next")) <= 80


def test_lines_name_document_state_and_queue_and_change_only_with_them() -> None:
    before = batch_status.lines(view())
    assert f"2026-11-21 09:00:08Z {NAMES[3]} failed_mark (quarantine_queue)" in before
    assert not any(NAMES[7] in line for line in before)
    assert before[-1] == f"2026-11-21 09:00:00Z batch {made.BATCH_ID} batch_planning (partial)"
    assert batch_status.lines(replace(view(), now_utc=made.at(9999))) == before


def test_when_it_was_looked_at_is_no_change_for_machines() -> None:
    assert compact(view()) == compact(replace(view(), now_utc=made.at(9999)))


def test_waiting_ends_where_people_must_sign_and_no_rehearsal_asks_for_that() -> None:
    for mode, rests in (("live", True), ("dryrun", False)):
        facts = made.Facts(mode=mode, state="batch_awaiting_cut_authz_set")
        facts.add("ICX-1", gates=made.AT_SG1)
        assert view(facts).awaits == "SG_cut_authz"
        assert batch_outcome.rests(view(facts)) is rests
        facts.items.clear()
        facts.add("ICX-2", gates=made.AT_SG1, outcome="rehearsed")
        facts.batch["state"] = "batch_closeout"
        assert batch_outcome.rests(view(facts))


def test_the_waiting_line_names_state_and_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert batch_outcome.line_of(view()).startswith("0199f1de batch_planning: at_sg1 2 · at_sg2 1 · ")


@pytest.mark.parametrize(
    ("state", "waited", "asked", "code"),
    [
        ("batch_closeout", True, True, ExitCode.DONE),
        ("batch_failed_partial", True, False, ExitCode.FAILED),
        ("batch_failed_partial", False, False, ExitCode.DONE),
        ("batch_awaiting_cut_authz_set", True, True, ExitCode.WAITING),
        ("batch_awaiting_cut_authz_set", True, False, ExitCode.DONE),
        ("batch_planning", False, False, ExitCode.DONE),
    ],
)
def test_the_pause_is_an_exit_code_only_for_those_who_asked(
    state: str, waited: bool, asked: bool, code: ExitCode
) -> None:
    """Seed 001 §4."""
    assert exit_code({"state": state}, waited=waited, asked=asked) is code


def test_a_refused_set_is_its_own_exit_code() -> None:
    assert exit_code({"state": "batch_closeout", "status": "refused"}, waited=True, asked=True) is ExitCode.STOPPED
