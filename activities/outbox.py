"""IO: drains a run's outbox into the knowledge base and rewrites its run folder, after COMMIT.

A document is rendered from its receipt, so that it has the same bytes at every try; what is not put now is put by the
next activity or by the reconciler. The database's round trips: one to see what waits, one to say what was put.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import structlog
from psycopg import Cursor
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from activities import effects as commands
from activities.effects import Context, Put
from activities.worker.dependencies import Deps, day_of, folder_of
from cutter.catalogue import Role
from cutter.domain import recorded
from cutter.domain.ids import InvalidId
from cutter.errors import CutterError, PolicyDenied, ProgrammingError, Unavailable
from cutter.gates.report import GateReport
from cutter.kb import folder as kb_folder
from cutter.kb.ids import document_id_rule
from cutter.projections import phase_report, run_folder
from cutter.projections.state_file import phase_reports
from cutter.storage.gate_transaction import Attempt, Sealed
from cutter.storage.pools import Connection, single
from cutter.types import Json

log = structlog.get_logger()


_WAITING = "select * from cutter_governance.fn_outbox_waiting(%s)"
_SIDECAR = "select cutter_governance.fn_run_sidecar(%s), clock_timestamp()"
_RENAME = "select cutter_governance.fn_outbox_rename(%s, %s)"
_DONE = "select cutter_governance.fn_outbox_done(%s, %s, %s, %s)"


def report_id(attempt: Attempt, report: GateReport) -> str:
    """KB id of a gate's own report."""
    pins = {**attempt.pins, **report.pins}
    run = {**attempt.run, "docprefix": attempt.run["docprefix"] or report.pins.get("docprefix")}
    return kb_folder.phase_report(folder_of(run, pins.get("content_sha256")), attempt.gate, day_of(run).date())


def publish(deps: Deps, role: Role, run_id: str) -> dict[str, tuple[str, str]]:
    """Put every waiting document that is this role's to put; answers {subject: (kb id, sha256)} of those put now.

    Raises what the knowledge base raised, after what was put before it is recorded and the run folder is written. What
    the policy denies keeps waiting.
    """
    return _publish(deps, role, run_id)[0]


def publish_now(deps: Deps, role: Role, context: Context, document: tuple[str, bytes] | None) -> Json:
    """Put one document (KB id, bytes) that was committed a moment ago, then whatever else waits; the run's sidecar.

    Saves a look at the outbox. Without a document, or if the knowledge base is unavailable, it looks there.
    """
    run_id = context.run_id or ""
    if document is None:
        return _publish(deps, role, run_id)[1]
    try:
        put = commands.put_free(deps, context, *document)
    except (Unavailable, PolicyDenied):
        # Tries again, and writes the run folder whatever the knowledge base does.
        return _publish(deps, role, run_id)[1]
    sidecar = _done(deps, role, [(document[0], put)])
    if any(one["sha256"] is None for one in sidecar["documents"]):
        return _publish(deps, role, run_id)[1]
    _follow(deps, sidecar)
    return sidecar


def publish_report(deps: Deps, role: Role, sealed: Sealed) -> tuple[str, str]:
    """(KB id, sha256) of a sealed gate's report, put now or before; whatever else waits for the run is put too.

    A report that was sealed a moment ago is rendered from the receipt in hand, which saves a look at the outbox.
    """
    run_id, name = sealed.receipt["run_id"], sealed.receipt["gate"]
    if sealed.kb_id is None:
        put = publish(deps, role, run_id)
        return put.get(name) or _put_before(deps, role, run_id, name)
    context = commands.of_run(sealed.run, sealed.pins, sealed.receipt["sealed_at"], name)
    sidecar = publish_now(deps, role, context, (sealed.kb_id, phase_report.render(sealed.run, sealed.receipt)))
    return _report_of(sidecar, name) or (sealed.kb_id, "")


def _publish(deps: Deps, role: Role, run_id: str) -> tuple[dict[str, tuple[str, str]], Json]:
    with single(deps.pool(role)) as connection, connection.pipeline():
        waiting = connection.cursor(row_factory=dict_row).execute(_WAITING, (run_id,))
        state = connection.execute(_SIDECAR, (run_id,))
    row = state.fetchone()
    if row is None:
        raise ProgrammingError(f"there is no run {run_id} to publish for")
    sidecar = recorded.sidecar(row[0])  # type: ignore[arg-type]
    now: datetime = row[1]  # type: ignore[assignment]
    pins = pins_of(sidecar)
    subjects: dict[str, tuple[str, str]] = {}
    put: list[tuple[str, Put]] = []
    stopped: CutterError | None = None
    for entry in waiting.fetchall():
        if not can_stand(entry, sidecar):
            log.warning("outbox.malformed", run_id=run_id, kb_id=entry["kb_id"][:100])
            continue
        context = commands.of_run(sidecar["run"], pins, now, entry["subject"])
        try:
            done = commands.put_free(deps, context, entry["kb_id"], _render(entry, sidecar))
        except PolicyDenied as problem:
            log.warning("outbox.denied", run_id=run_id, kb_id=entry["kb_id"], reason=str(problem))
            continue
        except CutterError as problem:
            stopped = problem
            break
        put.append((entry["kb_id"], done))
        subjects[entry["subject"]] = (done.kb_id, done.sha256)
    if put:
        sidecar = _done(deps, role, put)
    _follow(deps, sidecar)
    if stopped is not None:
        raise stopped
    return subjects, sidecar


def can_stand(entry: Json, sidecar: Json) -> bool:
    """Whether a recorded document can be put at all: under a name that a store takes, a report from its receipt."""
    try:
        document_id_rule(entry["kb_id"])
    except InvalidId:
        return False
    return entry["kind"] != "gate_report" or any(one["gate"] == entry["subject"] for one in sidecar["receipts"])


def pins_of(sidecar: Json) -> Json:
    """The pins of all sealed gates."""
    return {name: value for receipt in sidecar["receipts"] for name, value in receipt["result"]["pins"].items()}


def project(deps: Deps, sidecar: Json) -> None:
    """Rewrite the run folder from what the database answered: state.json, transitions.jsonl, phase reports."""
    run_folder.write(deps.settings.runs, sidecar["run"]["run_id"], sidecar, phase_reports(sidecar))


def _follow(deps: Deps, sidecar: Json) -> None:
    # The folder follows the database: one that is busy or full must not fail what was committed. The next write, or
    # `cutter rebuild`, catches up.
    try:
        project(deps, sidecar)
    except CutterError as problem:
        log.warning("run_folder.behind", run_id=sidecar["run"]["run_id"], code=problem.code, reason=str(problem))


def _done(deps: Deps, role: Role, put: Sequence[tuple[str, Put]]) -> Json:
    """Record what was put, each with the name that it was to have, in one round trip; the run's sidecar afterwards."""
    with single(deps.pool(role)) as connection, connection.pipeline():
        cursors = [done(connection, wanted, one) for wanted, one in put]
    row = cursors[-1].fetchone() if cursors else None
    return recorded.sidecar(row[0]) if row else {}  # type: ignore[arg-type]


def done(connection: Connection, wanted: str, put: Put) -> Cursor[tuple[object, ...]]:
    """Record one document, first under its other name when it got one; the answer is a run's sidecar."""
    if put.kb_id != wanted:
        log.warning("outbox.name_taken", wanted=wanted, kb_id=put.kb_id)
        connection.execute(_RENAME, (wanted, put.kb_id))
    return connection.execute(_DONE, (put.kb_id, put.sha256, put.size_bytes, Jsonb(put.policy)))


def _put_before(deps: Deps, role: Role, run_id: str, name: str) -> tuple[str, str]:
    with single(deps.pool(role)) as connection:
        row = connection.execute(_SIDECAR, (run_id,)).fetchone()
    return (_report_of(row[0], name) if row else None) or ("", "")  # type: ignore[arg-type]


def _report_of(sidecar: Json, name: str) -> tuple[str, str] | None:
    """(KB id, sha256) of a gate's report that was put."""
    documents: list[Json] = sidecar["documents"]
    found = (one for one in documents if one["kind"] == "gate_report" and one["subject"] == name and one["sha256"])
    return next(((one["kb_id"], one["sha256"]) for one in found), None)


def _render(entry: Json, sidecar: Json) -> bytes:
    if entry["body"] is not None:
        return str(entry["body"]).encode()
    receipt = next(one for one in sidecar["receipts"] if one["gate"] == entry["subject"])
    return phase_report.render(sidecar["run"], receipt)
