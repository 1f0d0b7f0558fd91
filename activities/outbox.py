"""IO: drains a run's outbox into the knowledge base, and rewrites its run folder when the run pauses or ends. Wakes a
batch that has not seen the run's newest state.

A document is rendered from its receipt, so that it has the same bytes at every try. If a document is not put now, the
next activity or the reconciler puts it. This takes two round trips to the database: one reads the waiting documents,
and one records the put documents.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from psycopg import Cursor
from psycopg.rows import args_row
from psycopg.types.json import Jsonb

from activities import effects, permission
from activities.effects import Put
from activities.permission import Context
from activities.worker.dependencies import Deps
from cutter.catalogue import Role
from cutter.domain.ids import InvalidId
from cutter.domain.run_record import DocumentRecord, RunSidecar
from cutter.errors import Conflict, CutterError, PolicyDenied, Unavailable
from cutter.kb.ids import document_id_rule
from cutter.policy.rules import EffectPolicy, InvalidPolicy
from cutter.projections import run_folder, state_file
from cutter.projections.state_file import phase_reports
from cutter.storage import policies
from cutter.storage.gate_transaction import Sealed
from cutter.storage.pools import single
from cutter.storage.records import Connection, the_row
from cutter.storage.run_evidence import SIDECAR, STATE, WAITING, WaitingOfRun

log = structlog.get_logger()


_RENAME = "select cutter_governance.fn_outbox_rename(%s, %s)"
_DONE = "select cutter_governance.fn_outbox_done(%s, %s, %s, %s)"


def publish(deps: Deps, role: Role, run_id: str) -> dict[str, Put]:
    """Put every waiting document that this role may put. Returns the documents that were put now, by subject.

    One read of the effect policy decides about all waiting documents. Documents that it denies continue to wait. Raises
    the error of the knowledge base, but first records the documents that were put before it and writes the folder of a
    run at rest.
    """
    return _publish(deps, role, run_id)[0]


def publish_now(
    deps: Deps,
    role: Role,
    context: Context,
    document: tuple[str, bytes] | None,
    policy: EffectPolicy | InvalidPolicy | None,
) -> RunSidecar:
    """Put one document (KB id, bytes) that was committed a moment ago, then all other waiting documents. Returns the
    run's sidecar. Of a run on its way to its next gate it returns only the run and its last documents.

    This saves a query of the outbox. Without a document, or if the knowledge base is unavailable, the outbox is
    queried. `policy` is the effect policy at the time of the commit. If it is None, it is read here.
    """
    run_id = context.run_id or ""
    if document is None:
        return _publish(deps, role, run_id)[1]
    try:
        put = effects.put_free(deps, context, *document, policy)
    except (Unavailable, PolicyDenied):
        # This tries again.
        return _publish(deps, role, run_id)[1]
    sidecar = _done(deps, role, [(document[0], put)])
    if any(document.sha256 is None for document in sidecar.documents):
        return _publish(deps, role, run_id)[1]
    _follow(deps, sidecar)
    return sidecar


def publish_report(deps: Deps, role: Role, sealed: Sealed) -> tuple[str, str]:
    """(KB id, sha256) of a sealed gate's report, which was put now or before. All other waiting documents of the run
    are put too.

    If the report was sealed a moment ago, it is rendered from the receipt at hand, which saves a query of the outbox.
    """
    run_id, name = sealed.receipt.run_id, sealed.receipt.gate
    if sealed.kb_id is None:
        put = publish(deps, role, run_id).get(name)
        if put is not None:
            return put.kb_id, put.sha256
        with single(deps.pool(role)) as connection:
            recorded = SIDECAR.first(connection, {"run_id": run_id})
        return (_report_of(recorded, name) if recorded else None) or ("", "")
    context = permission.of_run(sealed.run, sealed.pins, sealed.receipt.sealed_at, name)
    report = (sealed.kb_id, state_file.render_gate(sealed.run, sealed.receipt))
    sidecar = publish_now(deps, role, context, report, sealed.policy)
    return _report_of(sidecar, name) or (sealed.kb_id, "")


def _publish(deps: Deps, role: Role, run_id: str) -> tuple[dict[str, Put], RunSidecar]:
    with single(deps.pool(role)) as connection, connection.pipeline():
        waiting = WAITING.sent(connection, {"run_id": run_id})
        state = STATE.sent(connection, {"run_id": run_id})
        text = policies.TEXT.sent(connection)
    policy = policies.of(text)
    recorded = the_row(STATE.name, state)
    sidecar = recorded.sidecar
    subjects: dict[str, Put] = {}
    put: list[tuple[str, Put]] = []
    stopped: CutterError | None = None
    for entry in waiting:
        if not can_be_put(entry, sidecar):
            log.warning("outbox.malformed", run_id=run_id, kb_id=entry.kb_id[:100])
            continue
        context = permission.of_run(sidecar.run, sidecar.pins, recorded.now, entry.subject)
        try:
            if entry.body is not None:
                data = entry.body.encode()
            else:
                receipt = next(receipt for receipt in sidecar.receipts if receipt.gate == entry.subject)
                data = state_file.render_gate(sidecar.run, receipt)
            done = effects.put_free(deps, context, entry.kb_id, data, policy)
        except PolicyDenied as problem:
            log.warning("outbox.denied", run_id=run_id, kb_id=entry.kb_id, reason=str(problem))
            continue
        except CutterError as problem:
            stopped = problem
            break
        put.append((entry.kb_id, done))
        subjects[entry.subject] = done
    if put:
        sidecar = _done(deps, role, put)
    _follow(deps, sidecar)
    if stopped is not None:
        raise stopped
    return subjects, sidecar


def can_be_put(document: WaitingOfRun | DocumentRecord, sidecar: RunSidecar) -> bool:
    """Whether a recorded document can be put at all: its name must suit the store, and a report needs its receipt."""
    try:
        document_id_rule(document.kb_id)
    except InvalidId:
        return False
    return document.kind != "gate_report" or document.subject in sidecar.sealed


def project(deps: Deps, sidecar: RunSidecar) -> None:
    """Rewrite the run folder from the database's answer: state.json, transitions.jsonl, phase reports."""
    run_folder.write(deps.settings.runs, sidecar.run.run_id, sidecar, phase_reports(sidecar))


def _follow(deps: Deps, sidecar: RunSidecar) -> None:
    """Wake the run's batch if nobody looks at it. Write the run folder, unless the run changes a moment later."""
    if sidecar.unseen_by is not None:
        deps.wake_batch(sidecar.unseen_by)
    if sidecar.run.moves:
        return
    # The folder is only a projection, so a busy or full folder must not fail a committed gate. The next write or
    # `cutter rebuild` writes it again.
    try:
        project(deps, sidecar)
    except CutterError as problem:
        log.warning("run_folder.behind", run_id=sidecar.run.run_id, code=problem.code, reason=str(problem))


def _done(deps: Deps, role: Role, put: Sequence[tuple[str, Put]]) -> RunSidecar:
    """Record the put documents with their intended names in one round trip. Answers as `fn_run_published`."""
    try:
        return _done_as(deps, role, put)
    except Conflict:
        # A holder of a role's password has recorded other bytes, or another document, under one of the names.
        return _done_as(deps, role, [(wanted, effects.put_by_digest(deps, document)) for wanted, document in put])


def _done_as(deps: Deps, role: Role, put: Sequence[tuple[str, Put]]) -> RunSidecar:
    with single(deps.pool(role)) as connection, connection.pipeline():
        cursors = [done(connection, wanted, document) for wanted, document in put]
    return the_row("fn_outbox_done", cursors[-1])


def done(connection: Connection, wanted: str, put: Put) -> Cursor[RunSidecar]:
    """Record one document, and first another name that it got. The answer is that of `fn_run_published`."""
    if put.kb_id != wanted:
        log.warning("outbox.name_taken", wanted=wanted, kb_id=put.kb_id)
        connection.execute(_RENAME, (wanted, put.kb_id))
    return connection.cursor(row_factory=args_row(RunSidecar.published)).execute(
        _DONE, (put.kb_id, put.sha256, len(put.data), Jsonb(put.rule.as_json()))
    )


def _report_of(sidecar: RunSidecar, name: str) -> tuple[str, str] | None:
    """(KB id, sha256) of a gate's report that was put."""
    reports = (
        document for document in sidecar.documents if document.kind == "gate_report" and document.subject == name
    )
    return next(((report.kb_id, report.sha256) for report in reports if report.sha256), None)
