"""IO: `cutter approve|reject|revoke`: a person's decision, signed with their own key on their own machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cutter.approvals import schema
from cutter.catalogue import State
from cutter.domain.next_step import Needs
from cutter.domain.run_record import RunRecord
from cutter.domain.run_state import RunState
from cutter.errors import InvalidInput, Refused
from cutter.settings import Settings, load
from cutter.storage import runs as run_rows
from starter.approver import orders, signing_desk, signing_session
from starter.approver.session import Choice, Decision
from starter.approver.signing_session import Ask
from starter.commands.options import RUN, Approver, GpgHome, Key, OptionalReason, Reason, Run
from starter.commands.stop import acknowledge_drift
from starter.console.confirmation import Yes
from starter.console.failures import of_answer
from starter.console.terminal import AsJson, ExitCode, end, fields, fills_the_screen, progress, show
from starter.operator.run_status import moves, step_of, wait_while_it_moves
from temporal.runs import OrderReply


def approve(
    run: Annotated[str | None, RUN] = None,
    batch: Annotated[str | None, typer.Option(help="A whole batch: sign all its requests in one session")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Of a batch, this document only; may be repeated")] = None,
    decision: Annotated[
        str, typer.Option(help="approve; resume or acknowledge_drift for a stopped run; include_failed for a batch")
    ] = schema.APPROVE,
    reason: OptionalReason = None,
    approver: Approver = None, key: Key = None, gpg_home: GpgHome = None, yes: Yes = False,
    as_json: AsJson = False,
    plain: Annotated[bool, typer.Option("--plain", help="Show a short page and ask in a line")] = False,
) -> None:  # fmt: skip
    """Show a request, compute every digest again on this machine, sign it with your key and hand it over.

    A request is shown on the whole screen, or with --plain as one short page. With --batch, so are all requests of a
    batch. Those you approve are signed with one signature and handed over as one set. With --decision resume --reason
    TEXT, a stopped run that needs a signature to continue is shown and signed. With --decision include_failed, so are
    the failed documents of the batch, which then run again. With --decision acknowledge_drift, the command shows what
    differs in the database now, and the signature accepts exactly that state.

    Example: cutter approve ICX-LAW-2026-001

    Example: cutter approve --batch 0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b
    """
    if (run is None) == (batch is None):
        raise InvalidInput("name a run, or a batch by --batch ID")
    keys = orders.Keys(approver, key, gpg_home)
    if batch is not None:
        settings = load()
        if decision == schema.INCLUDE_FAILED:
            answer = orders.include(settings, batch, keys, only=only or (), reason=reason or "", yes=yes)
            _show_set(answer, as_json=as_json)
        elif decision == schema.APPROVE:
            signer = signing_desk.who(settings, *signing_session.addressed(settings, batch, keys))
            ask = _ask(yes, plain or as_json)
            answer = signing_session.hold(settings, batch, signer, only=only or (), ask=ask)
            _show_set(answer, as_json=as_json)
        else:
            raise InvalidInput(f"--decision {decision}: of a batch approve or include_failed")
        return
    assert run is not None
    if decision == schema.RESUME:
        _resume(run, reason or "", keys, yes=yes, as_json=as_json)
        return
    if decision == schema.ACKNOWLEDGE_DRIFT:
        acknowledge_drift(run, reason or "", keys, yes=yes, as_json=as_json)
        return
    if decision != schema.APPROVE:
        raise InvalidInput(
            f"--decision {decision}: approve, resume or acknowledge_drift; type",
            then=_ELSEWHERE.get(decision, "cutter --help"),
        )
    wanted = Decision(choice=Choice.APPROVE)
    _decide(run, wanted, keys, _ask(yes, plain or as_json), as_json=as_json)


def _ask(yes: bool, plain: bool) -> Ask:
    if yes:
        return Ask.NOBODY
    return Ask.BY_LINE if plain or not fills_the_screen() else Ask.ON_SCREEN


SECOND_SIGNATURE = "the drafts are written and verified now; after that the law waits for its second signature"

_ELSEWHERE = {
    schema.REJECT: "cutter reject RUN --reason TEXT",
    schema.VOID: "cutter void RUN --reason TEXT",
    schema.REVOKE: "cutter revoke RUN --approval SHA256 --reason TEXT",
    schema.INCLUDE_FAILED: "cutter approve --batch ID --decision include_failed --reason TEXT",
}


def _show_set(answer: dict[str, Any], *, as_json: bool) -> None:
    rows = {name: signing_session.text_of(value) for name, value in answer.items() if value not in ("", [], None)}
    outcome = of_answer(answer, ("accepted",))
    _print(outcome, rows, as_json=as_json, done=outcome.get("status") == "accepted")


def reject(
    run: Run,
    reason: Reason,
    approver: Approver = None,
    key: Key = None,
    gpg_home: GpgHome = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Show a request and refuse it with a signature; the run ends as failed_rejected.

    Example: cutter reject ICX-LAW-2026-001 --reason "article 4 is missing"
    """
    wanted = Decision(choice=Choice.REJECT, text=reason)
    _decide(run, wanted, orders.Keys(approver, key, gpg_home), _ask(yes, True), as_json=as_json)


def revoke(
    run: Run,
    approval: Annotated[str, typer.Option(help="sha256 of the approval's signed body")],
    reason: Reason,
    approver: Approver = None,
    key: Key = None,
    gpg_home: GpgHome = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Show an approval that no gate has consumed yet and take it back with a signature; the run then asks again.

    Example: cutter revoke ICX-LAW-2026-001 --approval 3fa4… --reason "signed by mistake"
    """
    settings = load()
    record = _open_run(settings, run)
    keys = orders.Keys(approver, key, gpg_home)
    order = orders.prepare(settings, record, schema.REVOKE, reason, keys, approval_sha256=approval)
    verdicts = run_rows.sidecar(settings, record.run_id).verdicts
    verdict = next((verdict for verdict in verdicts if verdict.approval_sha256 == approval), None)
    rows: list[tuple[str, object]] = [("approval", approval), ("", "nobody has handed it to this run")]
    if verdict is not None:
        rows = [
            ("approval", approval), ("decision", verdict.decision), ("gate", verdict.gate),
            ("approver", verdict.approver), ("recorded", verdict.recorded_at), ("file", verdict.kb_id),
        ]  # fmt: skip
    orders.confirm(order, rows, yes=yes)
    name = orders.sign(settings, order)
    _show(record.run_id, schema.REVOKE, name, orders.revoke(settings, record, approval, name), as_json=as_json)


def _resume(run: str, reason: str, keys: orders.Keys, *, yes: bool, as_json: bool) -> None:
    settings = load()
    record = _open_run(settings, run)
    step = step_of(settings, record.run_id)
    if step.needs not in (Needs.SIGNED_RESUME, Needs.SIGNED_VOID):
        message = f"{record.run_id} is {record.state}: type"
        raise Refused(message, then=step.commands[0], code="no_signed_resume_needed")
    order = orders.prepare(settings, record, schema.RESUME, reason, keys, stopped_state=record.state)
    latch = run_rows.sidecar(settings, record.run_id).latch
    why = record.error.get("reason") or latch.reason or ""
    orders.confirm(order, [("stopped as", record.state), ("because", why)], yes=yes)
    name = orders.sign(settings, order)
    _show(record.run_id, schema.RESUME, name, orders.hand_over(settings, record, name), as_json=as_json)


def _open_run(settings: Settings, run: str) -> RunRecord:
    """The run's row. Refuses an ended run before a key is used."""
    record = run_rows.sidecar(settings, run_rows.run_id_of(settings, run)).run
    if record.ended_at is not None:
        raise Refused(
            f"{record.run_id} is over as {record.outcome or record.state}: see",
            then=f"cutter status {record.run_id}",
            code="run_ended",
        )
    return record


def _require_waiting(settings: Settings, record: RunRecord, decision: str) -> None:
    """Refuse before a key is used: a stopped run accepts no decision about its gate until it continues, and a request
    that has all its signatures accepts no other approval.
    """
    step = step_of(settings, record.run_id)
    if RunState(record.state).stopped:
        raise Refused(
            f"{record.run_id} is {record.state} and takes no `{decision}` before it continues: type",
            then=step.commands[0],
            code="run_is_stopped",
        )
    if decision == schema.APPROVE and step.needs in (Needs.EXECUTION, Needs.WORKER):
        message = f"the request of {record.run_id} has all its signatures: type"
        raise Refused(message, then=step.commands[0], code="approved_already")


def _decide(run: str, wanted: Decision, keys: orders.Keys, ask: Ask, *, as_json: bool) -> None:
    settings, decision = load(), wanted.choice.value
    record = _open_run(settings, run)
    if wanted.choice is Choice.APPROVE and moves(settings, record.run_id):
        # A run between its two signatures makes the second request in seconds, so nobody has to type the command again
        # for it.
        with progress(f"{record.run_id} moves on; waiting for its request"):
            wait_while_it_moves(settings, record.run_id)
        record = _open_run(settings, record.run_id)
    _require_waiting(settings, record, decision)
    signer = signing_desk.who(settings, *keys)
    reason = " --reason TEXT" if wanted.choice is Choice.REJECT else ""
    again = f"cutter {decision} {record.document_id}{reason}"
    made, name, reply = signing_session.hold_one(settings, record, signer, wanted, ask=ask, again=again)
    first = made is Choice.APPROVE and record.state == State.AWAITING_CUT_AUTHORIZATION
    _show(record.run_id, made.value, name, reply, as_json=as_json, second=record.document_id if first else None)


def _show(
    run_id: str, decision: str, kb_id: str, reply: OrderReply, *, as_json: bool, second: str | None = None
) -> None:
    """Show the reply with the next command. `second` is the document that then waits for its second signature."""
    answered = {"run_id": run_id, "decision": decision, "approval_kb_id": kb_id, **reply.as_json()}
    if reply.status in orders.TAKEN:
        step = step_of(load(), run_id)
        answered["next"] = step.command
        if second is not None and step.needs in (Needs.NOTHING, Needs.EXECUTION):
            answered |= {"then": SECOND_SIGNATURE, "next": f"cutter approve {second}"}
    outcome = of_answer(answered, orders.TAKEN)
    _print(outcome, answered, as_json=as_json, done=outcome.get("status") in orders.TAKEN)


def _print(outcome: dict[str, Any], rows: dict[str, Any], *, as_json: bool, done: bool) -> None:
    """Show the answer to an order, with the next command."""
    step = {"next": outcome["next"]} if outcome.get("next") else {}
    show(outcome, as_json=as_json, render=lambda out: out.print(fields({**rows, **step}), soft_wrap=True))
    end(ExitCode.DONE if done else ExitCode.STOPPED)
