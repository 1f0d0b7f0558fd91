"""The commands' own small decisions: whose workflow it is, how long an order lives, what a person is shown."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from cutter.approvals.statement import Statement
from cutter.catalogue import GATES
from cutter.domain.next_step import StepFacts
from cutter.domain.run_record import RunSidecar
from cutter.projections.run_view import ShownRun, run_view
from cutter.storage.gate_transaction import Drift
from starter.approver import orders
from starter.commands import inbox, source, status
from starter.commands import stop as messages
from starter.console import terminal
from starter.operator.inbox_entries import InboxEntry
from starter.operator.run_status import RunLine
from temporal.executions import Execution
from tests.unit.evidence import sidecars as made

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


def overview(*lines: RunLine) -> status.Overview:
    """All that `cutter status` shows, with these runs and nothing else."""
    return status.Overview(runs=list(lines), next=None, batches=[], tenants=[], lanes=[], messages=[], blocked=[])


def execution(run_id: str | None) -> Execution:
    return Execution(workflow_id="document/X", execution_id="e2", first_execution_id="e1", run_id=run_id)


def test_a_workflow_is_the_runs_that_it_was_started_with() -> None:
    assert execution("r1").is_of("r1", None)
    assert not execution("r2").is_of("r1", "e1")


def test_a_workflow_that_minted_its_run_is_known_by_its_first_execution() -> None:
    assert execution(None).is_of("r1", "e1")
    assert not execution(None).is_of("r1", "e9")
    assert not execution(None).is_of("r1", None)


def order(gate: str) -> Statement:
    return Statement(
        deployment_id="d", gate=gate, decision="void", binding="run", signed_utc=NOW,
        not_after=NOW + timedelta(hours=12), approver="an", document_id="X", run_id="r", reason="x",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gate", "seconds"), [("SG_cut_authz", 600), ("SG_lifecycle_authz", 300), ("SG_nothing_pinned", 12 * 3600)]
)
def test_an_order_lives_no_longer_than_the_run_lets_an_approval_live(gate: str, seconds: int) -> None:
    caps = {} if gate == "SG_nothing_pinned" else {"ttl_cut_seconds": 600.0, "ttl_lifecycle_seconds": 300.0}
    assert orders.within_ttl(order(gate), caps).not_after == NOW + timedelta(seconds=seconds)


def test_drift_is_shown_object_by_object_with_the_fingerprint_that_is_signed() -> None:
    lines = ("f(text): owner a → b", "t: appeared")
    drift = Drift(dimension="functions", fingerprint="9" * 64, lines=lines, report={})
    assert messages.drift_rows(drift) == [
        ("dimension", "functions"), ("f(text)", "owner a → b"), ("t", "appeared"), ("fingerprint", "9" * 64),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "wrote", "delivered", "command"),
    [
        ("stop", False, True, "cutter approve D --decision resume --reason TEXT"),
        ("stop", True, True, "cutter approve D --decision resume --reason TEXT"),
        ("cancel", False, True, "cutter run D"),
        ("cancel", True, True, "cutter void D --reason TEXT"),
        ("cancel", False, False, "cutter reconcile"),
    ],
)
def test_a_stop_names_the_command_that_comes_after_it(kind: Any, wrote: bool, delivered: bool, command: str) -> None:
    run = StepFacts(run_id="R", document_id="D", state="marked")
    assert messages.after(run, kind, wrote=wrote, delivered=delivered) == command


def shown(view: ShownRun) -> str:
    console = Console(width=240, no_color=True)
    with console.capture() as capture:
        console.print(status.render_run(view))
    return capture.get()


def test_a_run_is_shown_with_everything_and_empty_parts_are_left_out() -> None:
    sidecar = made.sidecar("awaiting_cut_authorization", gates=made.through("IG_grant_probe"))
    assert "retries" not in shown(run_view(RunSidecar.of(sidecar)))
    sidecar["requests"] = [made.request()]
    sidecar["verdicts"] = [made.verdict(), made.verdict(accepted=False, reason="not by this key")]
    sidecar["attempts"].append(made.attempt(4, n=2, outcome="unavailable", reason="kb: away"))
    output = shown(run_view(RunSidecar.of(sidecar)))
    for text in ("C0FFEE", made.APPROVAL, "not by this key", "kb: away", "SG1-cut-authz-request.md", made.FOLDER):
        assert text in output
    assert output.count(made.FOLDER) == 1


def test_what_came_from_outside_is_no_markup_on_the_terminal() -> None:
    assert "[red]x[/red]" in shown(
        run_view(RunSidecar.of(made.sidecar("stopped_stop", last_error={"reason": "[red]x[/red]"})))
    )


def test_following_a_run_has_one_line_a_move() -> None:
    view = run_view(RunSidecar.of(made.sidecar("marked", gates=made.through("IG_mark"))))
    assert [line.split()[3] for line in status.lines_of_run(view)] == ["pending", "source_pinned", "marked"]


WAITING = InboxEntry(
    run_id=made.RUN_ID, document_id=made.DOCUMENT, batch_id=None, state="x", gate="SG_cut_authz",
    needs="signed approval", reason=None, since_utc="2026-11-21T09:00:00Z", expires_utc=None, approvers_needed=2,
    approvers_accepted=["an"], request_kb_id=None, you_may_not=None, stop_latched=False,
    command=f"cutter approve {made.RUN_ID} --decision resume --reason TEXT", lane=None, newer=None,
)  # fmt: skip


def test_what_you_may_not_sign_is_marked_in_the_inbox() -> None:
    marked = replace(WAITING, you_may_not="an started this run")
    assert "not by you: an started this run" in "\n".join(on(inbox._rendered([WAITING, marked]), width=80))
    assert "not by you" not in "\n".join(on(inbox._rendered([WAITING]), width=80))


RUN_LINE = RunLine(
    document_id=made.DOCUMENT, run_id=made.RUN_ID, mode="live", state="awaiting_lifecycle_authorization", outcome=None,
    law_by=None, batch_id=None, gates_passed=9, since_utc="2026-11-21T09:00:00Z", ended_utc=None,
    expires_utc="2026-11-21T21:00:00Z", needs="approval", next=WAITING.command,
)  # fmt: skip


def on(renderable: Any, *, width: int, terminal: bool = True) -> list[str]:
    """The lines that a person sees."""
    console = Console(width=width, color_system=None, force_terminal=terminal)
    with console.capture() as capture:
        console.print(renderable, soft_wrap=True)
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.mark.parametrize(("terminal", "width"), [(True, 60), (True, 80), (True, 120), (False, 240)])
@pytest.mark.parametrize("listed", [inbox._rendered([WAITING]), status._table_of_all(overview(RUN_LINE))])
def test_no_name_time_or_command_of_a_list_is_cut_up(listed: Any, terminal: bool, width: int) -> None:
    lines = on(listed, width=width, terminal=terminal)
    for whole in (made.DOCUMENT, "2026-11-21 09:00:00Z", WAITING.command):
        assert any(whole in line for line in lines), lines
    assert all(len(line) <= width for line in lines if WAITING.command not in line)


def test_a_list_is_a_table_where_it_fits_and_blocks_where_it_does_not() -> None:
    listed = status._table_of_all(overview(RUN_LINE, RUN_LINE))
    assert on(listed, width=120)[0].split() == ["#", "document", "state", "gates", "since", "expires"]
    assert on(listed, width=80)[:4] == [
        made.DOCUMENT,
        f"  state: awaiting_lifecycle_authorization  gates: 9/{len(GATES)}",
        "  since: 2026-11-21 09:00:00Z  expires: 2026-11-21 21:00:00Z",
        f"  {WAITING.command}",
    ]


def test_a_list_that_is_piped_keeps_each_row_on_one_line_however_long_its_command_is() -> None:
    void = f"cutter void {made.RUN_ID} --reason TEXT"
    add = f"cutter source add FILE --document-id {made.DOCUMENT} --profile PROFILE"
    command = f"{void} # then: {add} # then: cutter run {made.DOCUMENT} --amends {made.RUN_ID}"
    piped = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", piped)
        terminal.out().print(status._table_of_all(overview(replace(RUN_LINE, next=command))), soft_wrap=True)
    heading, row = piped.getvalue().splitlines()
    assert heading.split() == ["document", "state", "gates", "since", "expires", "next"]
    assert (row.startswith(made.DOCUMENT), row.rstrip().endswith(command)) == (True, True)


def test_the_next_command_of_a_result_stands_whole_below_it() -> None:
    lines = on(terminal.fields({"run_id": made.RUN_ID, "note": "", "next": WAITING.command}), width=80)
    assert lines[-1] == f"next: {WAITING.command}"
    assert len(lines) == 3


def test_a_run_is_readable_at_eighty_columns() -> None:
    sidecar = made.sidecar("awaiting_cut_authorization", gates=made.through("IG_grant_probe"))
    sidecar["requests"], sidecar["verdicts"] = [made.request()], [made.verdict()]
    lines = on(status.render_run(run_view(RunSidecar.of(sidecar))), width=80)
    for whole in ("SG1-cut-authz-request.md", made.APPROVAL, "5" * 64, "2026-11-21 09:56:40Z", made.RUN_ID):
        assert any(whole in line for line in lines), whole


def test_what_is_said_while_something_runs_stands_on_a_line_of_its_own() -> None:
    written = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", written)
        patch.setenv("TERM", "xterm")
        with terminal.progress("working"):
            terminal.say("started")
            terminal.say("signed")
    # The line of the spinner, drawn below the first sentence, is erased before the second one is printed.
    assert "\x1b[2Ksigned" in written.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_waits_says_who_has_signed_and_how_many_are_needed() -> None:
    assert "1 of 2 (an)" in "\n".join(on(inbox._rendered([WAITING]), width=80))


def test_a_registration_is_told_in_the_order_in_which_people_read() -> None:
    answer = {"docprefix": "ICX", "sha256": "ab", "source_version_id": "v", "status": "registered", "version_seq": 2}
    shown = source.as_read(answer, "ICX-1", "german-law", 12345)
    assert list(shown) == [
        "document", "version", "profile", "size", "sha256", "status", "docprefix", "source_version_id", "next",
    ]  # fmt: skip
    assert (shown["version"], shown["size"], shown["next"]) == (2, "12,345 bytes", "cutter run ICX-1")


def test_a_registration_says_nothing_twice() -> None:
    answer = {"docprefix": "ICX-1", "document_id": "ICX-1", "size_bytes": 5, "status": "registered_before"}
    shown = source.as_read(answer, "ICX-1", "german-law", 5)
    assert list(shown) == ["document", "version", "profile", "size", "status", "next"]
    assert shown["status"] == "registered before; nothing changed"
