"""Pure: one run for people: states, gates, requests, approvals, retries, documents and the next command.

The value comes from `fn_run_sidecar` and the rows of refused messages. `cutter status` and the report both show it. It
is plain JSON. Times are the database's own texts, and durations are in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from cutter.catalogue import GATES, Gate, State
from cutter.domain import recorded_values
from cutter.domain.next_step import next_step
from cutter.domain.run_record import AttemptRecord, RequestRecord, RunRecord, RunSidecar, VerdictRecord
from cutter.domain.stop_codes import stop_code
from cutter.domain.timestamps import parse_instant, readable
from cutter.lifecycle.history import of_audit
from cutter.projections.state_file import state_json
from cutter.types import Json


def run_view(
    sidecar: RunSidecar, refusals: Sequence[Json] = (), law_by: str | None = None, *, corrected: bool = False,
    approved: bool = False, exec_worker: bool = True,
) -> Json:  # fmt: skip
    """Everything that a reader sees of a run. `refusals` are rows of message_refusal, with their time as a text.

    For a skipped run, `law_by` is the run that enacted the law before. `corrected` is true if a version of the document
    was registered after the run began. `approved` is true if the open request has all signatures. `exec_worker` is true
    if an exec worker can continue the run.
    """
    run, latch = sidecar.run, sidecar.latch
    step = next_step(
        run_id=run.run_id, document_id=run.document_id, state=run.state, outcome=run.outcome,
        latched=latch.stopped, wrote=sidecar.wrote,
        enacted=sidecar.enacted, law_by=law_by, corrected=corrected,
        approved=approved, exec_worker=exec_worker,
    )  # fmt: skip
    timeline = _timeline(sidecar)
    return {
        "run_id": run.run_id,
        "document_id": run.document_id,
        "mode": run.mode,
        "state": run.state,
        "outcome": run.outcome,
        "code": stop_code(run.state),
        "starter": run.starter,
        "batch_id": run.batch_id,
        "amends": run.amends,
        "created_utc": run.created_at,
        "state_utc": run.state_at,
        "ended_utc": run.ended_at,
        "reason": _reason(run, law_by),
        "stop": {key: getattr(latch, key) for key in ("kind", "reason", "set_by", "set_at")} if latch.stopped else None,
        "wrote": sidecar.wrote,
        "states": _states(run, timeline),
        "timeline": timeline,
        "gates": [_gate(gate, sidecar) for gate in GATES],
        "digests": state_json(sidecar)["context_pins"],
        "requests": [_request(one) for one in sidecar.requests],
        "approvals": [_approval(one, sidecar) for one in sidecar.verdicts if one.accepted],
        "refusals": _refusals(sidecar, refusals),
        "retries": _retries(sidecar),
        "kb_folder": folder_of([one.kb_id for one in sidecar.documents]),
        "documents": [asdict(one) for one in sidecar.documents],
        "audit_head": _sealed_head(sidecar) or sidecar.audit_head,
        "newest_event": sidecar.audit_head,
        "needs": step.needs.value,
        "first": step.first or None,
        "next": step.command,
    }


def _sealed_head(sidecar: RunSidecar) -> str | None:
    """The audit head that the closeout sealed and with which the evidence bundle ends. None before the closeout.

    The events of the closeout itself come after this head, because a bundle cannot hold an event about its own making.
    """
    closed = next((one for one in sidecar.receipts if one.gate == "IG_closeout"), None)
    head = closed.pins.get("audit_head") if closed else None
    return str(head) if head else None


def law_already(law_by: str) -> str:
    """The reason why a run was skipped."""
    return f"this version is already enacted, by run {law_by}"


def _reason(run: RunRecord, law_by: str | None) -> str | None:
    if run.outcome == "skipped" and law_by:
        return law_already(law_by)
    # A run that continued after an error keeps that error as its last one, although the error is over.
    return None if run.state in tuple(State) else run.error.get("reason")


def seconds_between(start: str | None, end: str | None) -> float | None:
    """The seconds between two times of the database, to the millisecond. None if one time is missing."""
    if start is None or end is None:
        return None
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds(), 3)


def short_time(text: str | None) -> str:
    """A time in the form for people, such as 2026-11-21 09:00:00Z. Empty for None. Programs get the database's text."""
    return readable(datetime.fromisoformat(text)) if text else ""


def folder_of(kb_ids: Sequence[str]) -> str:
    """The folder of most of a run's documents, without a slash at its end. Empty if there are no documents."""
    folders = [kb_id.rpartition("/")[0] for kb_id in kb_ids]
    return max(sorted(set(folders)), key=folders.count, default="")


def _timeline(sidecar: RunSidecar) -> list[Json]:
    return [_move(body, sidecar.run.created_at) for body in sidecar.transitions]


def _move(body: str, began: str) -> Json:
    """One transition. A malformed one gets the time of the run's beginning, because its own time is unreadable."""
    event = of_audit(body)
    if event is None:
        return {"at": began, "from": "", "to": recorded_values.MALFORMED, "trigger": recorded_values.MALFORMED,
                "severity": "error", "reason": recorded_values.shown(body)}  # fmt: skip
    reason = event.metadata.get("reason")
    return {
        "at": event.timestamp,
        "from": event.from_state,
        "to": event.to_state,
        "trigger": event.trigger,
        "severity": event.severity,
        "reason": reason if reason is None or isinstance(reason, str) else recorded_values.shown(reason),
    }


def _states(run: RunRecord, timeline: Sequence[Json]) -> list[Json]:
    """The states in order, each with the time when the run first reached it. A stop, failure or void is at the end."""
    reached = {State.PENDING.value: run.created_at}
    for move in timeline:
        reached.setdefault(move["to"], move["at"])
    states = [{"state": state.value, "at": reached.get(state.value)} for state in State]
    if run.state not in tuple(State):
        states.append({"state": run.state, "at": run.state_at})
    return states


def _gate(gate: Gate, sidecar: RunSidecar) -> Json:
    receipt = next((one for one in sidecar.receipts if one.gate == gate.name), None)
    attempts = [one for one in sidecar.attempts if one.gate == gate.name]
    newest = attempts[-1] if attempts else None
    document = next((one for one in sidecar.documents if one.subject == gate.name and one.kind == "gate_report"), None)
    report = receipt.result if receipt else newest.report if newest else None
    started = newest.started_at if newest else None
    finished = receipt.sealed_at if receipt else newest.finished_at if newest else None
    return {
        "number": gate.number,
        "name": gate.name,
        "outcome": "passed" if receipt else _outcome(newest, ended=sidecar.run.ended_at is not None),
        "started_utc": started,
        "finished_utc": finished,
        "seconds": seconds_between(started, finished),
        "attempts": len(attempts),
        "role": gate.role.value,
        "receipt_hash": receipt.receipt_hash if receipt else None,
        "invariants": list((report or {}).get("invariants") or []),
        "pins": dict(sorted(((report or {}).get("pins") or {}).items())),
        "notes": list((report or {}).get("notes") or []),
        "document": asdict(document) if document else None,
    }


def _outcome(newest: AttemptRecord | None, *, ended: bool) -> str:
    if newest is None:
        return ""
    return str(newest.outcome or ("lost" if ended else "running"))


def _request(request: RequestRecord) -> Json:
    names = ("gate", "n", "status", "requested_at", "expires_at", "kb_id", "request_sha256", "challenge")
    asked = {
        "writer_digest": recorded_values.MALFORMED,
        "candidate_count": recorded_values.MALFORMED,
        **request.tuple,
    }
    return {**{name: getattr(request, name) for name in names}, "tuple": asked}


def _approval(verdict: VerdictRecord, sidecar: RunSidecar) -> Json:
    used = next((one for one in sidecar.consumptions if one.approval_sha256 == verdict.approval_sha256), None)
    names = ("gate", "decision", "approver", "fingerprint", "approval_sha256", "kb_id", "recorded_at", "not_after")
    said = verdict.statement
    return {
        **{name: getattr(verdict, name) for name in names},
        "reason": said.get("reason"),
        "signed_utc": _instant(said.get("signed_utc")),
        "consumed_at": used.consumed_at if used else None,
    }


def _instant(value: object) -> str | None:
    """A time in the form of a statement. None for a value that is not a time."""
    return value if isinstance(value, str) and parse_instant(value) else None


def _refusals(sidecar: RunSidecar, refusals: Sequence[Json]) -> list[Json]:
    """Refused documents and refused messages, by time."""
    documents = [
        {
            "at": one.recorded_at,
            "what": one.kb_id,
            "gate": one.gate,
            "code": one.code,
            "reason": one.reason,
        }
        for one in sidecar.verdicts
        if not one.accepted
    ]
    messages = [
        {"at": one["at"], "what": one["message"], "gate": one["gate"], "code": one["code"], "reason": one["reason"]}
        for one in refusals
    ]
    return sorted([*documents, *messages], key=lambda one: datetime.fromisoformat(one["at"]))


def _retries(sidecar: RunSidecar) -> list[Json]:
    """The attempts that did not pass, and the attempts after such an attempt."""
    return [
        {
            "gate": one.gate,
            "attempt": one.n,
            "outcome": one.outcome or "no outcome",
            "reason": one.reason,
            "started_utc": one.started_at,
            "seconds": seconds_between(one.started_at, one.finished_at),
            "worker": one.lease_owner,
            "next_eligible_at": one.next_eligible_at,
        }
        for one in sidecar.attempts
        if one.n > 1 or one.outcome not in ("passed", "rehearsed")
    ]
