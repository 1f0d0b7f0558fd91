"""IO: `cutter stop|cancel|void`, and the acknowledgement of drift: instructions of people other than approvals.

Stop and cancel need no signature and work while Temporal is down. The latch in PostgreSQL holds back every write, and
the signal only tells the workflow at once. Void and the acknowledgement of drift are signed orders.
"""

from __future__ import annotations

import asyncio
import getpass
import textwrap
from dataclasses import replace
from typing import Any, Literal

from cutter import limits
from cutter.approvals import schema
from cutter.batch.state import ENDS
from cutter.catalogue import GATES, Role
from cutter.domain import ids
from cutter.domain.next_step import StepFacts, next_step
from cutter.domain.run_record import RunRecord
from cutter.domain.run_state import RunState
from cutter.errors import InvalidInput, Refused, Unavailable
from cutter.settings import Settings, load
from cutter.storage import runs as run_rows
from cutter.storage.gate_transaction import Decided, Drift, call
from cutter.storage.pools import session
from starter.approver import orders
from starter.commands.options import Approver, GpgHome, Key, Reason, Run
from starter.console.confirmation import Yes
from starter.console.failures import of_answer
from starter.console.terminal import AsJson, ExitCode, end, fields, progress, show
from temporal import batches, executions
from temporal.client import connect
from temporal.executions import Hold, tell

Kind = Literal["stop", "cancel"]


def stop(run: Run, reason: Reason, as_json: AsJson = False) -> None:
    """Stop a run before its next gate, or a batch with all its runs. Only continuing a stopped run needs a signature.

    Example: cutter stop ICX-LAW-2026-001 --reason "the text is wrong"
    """
    _stop(run, "stop", reason, as_json=as_json)


def cancel(run: Run, reason: Reason, as_json: AsJson = False) -> None:
    """Cancel a run, or a batch with all its runs, without a signature.

    A run that has written nothing ends. A run that has written units stops until it is voided.

    Example: cutter cancel ICX-LAW-2026-001 --reason "started by mistake"
    """
    _stop(run, "cancel", reason, as_json=as_json)


def void(
    run: Run, reason: Reason, approver: Approver = None, key: Key = None, gpg_home: GpgHome = None, yes: Yes = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Void an open or failed run with a signature, and withdraw its drafts. Enacted law is never voided.

    Example: cutter void ICX-LAW-2026-001 --reason "wrong source"
    """
    settings = load()
    run_id = run_rows.run_id_of(settings, run)
    sidecar = run_rows.sidecar(settings, run_id)
    if RunState(sidecar.run.state).voided:
        asyncio.run(orders.tell_of_void(settings, sidecar))
        _show({"run_id": run_id, "status": "duplicate", "state": sidecar.run.state}, as_json=as_json)
        return
    if sidecar.step_facts.enacted:
        raise Refused(
            f"{run_id} is already enacted: enacted units are never voided", code="enacted_law_is_never_voided"
        )
    order = orders.prepare(settings, sidecar.run, schema.VOID, reason, orders.Keys(approver, key, gpg_home))
    effect = "its draft units are withdrawn" if sidecar.step_facts.wrote else "it wrote no unit; the run ends"
    rows: list[tuple[str, object]] = [
        ("state", sidecar.run.state), ("gates passed", len(sidecar.receipts)), ("effect", effect),
    ]  # fmt: skip
    orders.confirm(order, rows, yes=yes)
    name = orders.sign(settings, order)
    reply = asyncio.run(orders.through_void_workflow(settings, sidecar.run, name))
    _show({"run_id": run_id, "decision": schema.VOID, "kb_id": name, **reply.as_json()}, as_json=as_json)


def acknowledge_drift(run: str, reason: str, keys: orders.Keys, *, yes: bool, as_json: bool) -> None:
    """Show what differs in the database now, and accept exactly that state with a signature. The run then continues."""
    settings = load()
    run_id = run_rows.run_id_of(settings, run)
    record = run_rows.sidecar(settings, run_id).run
    drift = run_rows.drift(settings, run_id)
    if drift is None:
        raise Refused(
            f"{run_id} is {record.state}, not stopped by drift: see", then=f"cutter status {run_id}", code="no_drift"
        )
    order = orders.prepare(settings, record, schema.ACKNOWLEDGE_DRIFT, reason, keys, fingerprint=drift.fingerprint)
    orders.confirm(order, drift_rows(drift), yes=yes)
    name = orders.sign(settings, order)
    reply = orders.hand_over(settings, record, name)
    order_names = {"run_id": run_id, "decision": schema.ACKNOWLEDGE_DRIFT, "kb_id": name}
    _show({**order_names, "drift": list(drift.lines), **reply.as_json()}, as_json=as_json)


def drift_rows(drift: Drift) -> list[tuple[str, object]]:
    """The readable diff: the dimension, then one line for each object, then the fingerprint that is signed."""
    lines = [line.partition(": ") for line in drift.lines]
    return [
        ("dimension", drift.dimension),
        *([] if lines else [("", "nothing differs any more")]),
        *((name, "\n".join(textwrap.wrap(rest, 120)) or name) for name, _, rest in lines),
        ("fingerprint", drift.fingerprint),
    ]


def _stop(run: str, kind: Kind, reason: str, *, as_json: bool) -> None:
    settings = load()
    text = " ".join(reason.split())[: limits.REASON_CHARACTERS_MAX]
    if not text:
        raise InvalidInput("--reason: say why, in one line")
    if ids.is_batch_id(run):
        _stop_batch(settings, run, kind, text, as_json=as_json)
        return
    run_id = executions.run_id_of(settings, run)
    sidecar = run_rows.sidecar(settings, run_id)
    record = sidecar.run
    if record.ended_at is not None:
        raise Refused(f"{run_id} is over as {record.outcome or record.state}: nothing to {kind}", code="run_ended")
    answer = set_latch(settings, run_id, kind, text)
    if answer.status != "stopped":
        raise Refused(f"{run_id} ended meanwhile as {answer.state or 'unknown'}: nothing to {kind}", code="run_ended")
    delivered, note, hold = asyncio.run(_deliver(settings, record, kind, text))
    outcome = {
        "run_id": run_id,
        "document_id": record.document_id,
        "latch": kind,
        "reason": text,
        "wrote": answer.wrote,
        "units": "draft units of this run are in the database" if answer.wrote else "nothing was written",
        "workflow_told": delivered,
        "note": note,
        "next": hold.command if hold else after(sidecar.step_facts, kind, wrote=answer.wrote, delivered=delivered),
    }
    show(outcome, as_json=as_json, render=lambda out: out.print(fields(outcome), soft_wrap=True))


def after(run: StepFacts, kind: Kind, *, wrote: bool, delivered: bool) -> str:
    """The command that comes after the workflow has obeyed."""
    if not delivered:
        return "cutter reconcile"
    state = "stopped_stop" if kind == "stop" else "stopped_cancel" if wrote else "voided_cancelled"
    return next_step(replace(run, state=state, latched=True)).command


def _stop_batch(settings: Settings, batch_id: str, kind: Kind, reason: str, *, as_json: bool) -> None:
    """Halt a batch in the database, which wakes the batch's workflow. Refuses a batch that has ended."""
    view = batches.view(settings, batch_id)
    state = view.batch.state
    if state in ENDS and all(item.ended or not item.run_id for item in view.items):
        raise Refused(f"batch {batch_id} is over as {state}: nothing to {kind}", code="batch_ended")
    halted, note = batches.stop(settings, batch_id, kind, reason)
    outcome = {"batch_id": batch_id, "status": "accepted", "halted": halted, "reason": reason, "note": note,
               "next": f"cutter status {batch_id}"}  # fmt: skip
    _show(outcome, as_json=as_json)


def set_latch(settings: Settings, run_id: str, kind: Kind, reason: str) -> Decided:
    """Set the stop latch as the operator. If a gate is writing now, wait for it, at most until its cap."""
    longest = max(settings.cap_seconds(gate.phase) for gate in GATES)
    with (
        progress("setting the stop latch, after any gate that is writing now") as _,
        session(settings, Role.OPERATOR) as connection,
    ):
        connection.execute("select set_config('lock_timeout', %s, false)", (f"{int(longest * 1000)}ms",))
        return call(
            connection,
            Decided.of,
            "select cutter_governance.fn_stop_set(%s, %s, %s, %s)",
            (run_id, kind, reason, getpass.getuser()),
        )


async def _deliver(settings: Settings, run: RunRecord, kind: Kind, reason: str) -> tuple[bool, str, Hold | None]:
    """Signal the run's own workflow. Returns whether it got the signal, a note, and what keeps it from reading it."""
    try:
        client = await connect(settings)
        return await tell(client, run, kind, reason)
    except Unavailable:
        return False, "Temporal does not answer: the latch alone is set, and no gate writes past it", None


def _show(answered: dict[str, Any], *, as_json: bool) -> None:
    done = (*orders.TAKEN, "voided")
    outcome = of_answer(answered, done)
    show(outcome, as_json=as_json, render=lambda out: out.print(fields(answered), soft_wrap=True))
    end(ExitCode.DONE if outcome.get("status") in done else ExitCode.STOPPED)
