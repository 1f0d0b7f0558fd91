"""IO: registers a run or finds it, and ends a run that writes nothing: a rehearsal, or a run of an enacted version.

Each workflow of a run begins by registering it, also after Temporal's data was lost.
"""

from __future__ import annotations

from dataclasses import asdict, fields

from psycopg.types.json import Jsonb
from pydantic import TypeAdapter, ValidationError
from temporalio import activity

from activities.gates.runner import facts_of
from activities.outbox import publish
from activities.run.escalate import command_of
from activities.worker.dependencies import Deps
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.run_record import RunSidecar
from cutter.errors import Conflict
from cutter.messages import NOT_SO, BeginInput, Caps, FinishInput, RunFinished, RunView
from cutter.storage.gate_transaction import call
from cutter.storage.pools import translated
from cutter.storage.run_evidence import sidecar_now
from cutter.storage.runs import Registration, caps_of, mint_run_id


def begin_run(deps: Deps, input: BeginInput) -> RunView:
    """Register the run (idempotent). Returns its state, its caps and its sealed gates.

    Raises Conflict for a workflow that is not the document's own, because two workflows of one run would fence out each
    other's attempts.
    """
    run = input.run
    document_id = ids.document_id(run.document_id)
    if activity.in_activity() and activity.info().workflow_id != f"document/{document_id}":
        raise Conflict(f"{document_id} is driven by the workflow document/{document_id} alone")
    run_id = ids.run_id(run.run_id) if run.run_id else mint_run_id()
    with translated(), deps.pool(Role.READ).connection() as connection:
        registration = call(
            connection,
            Registration.of,
            "select cutter_governance.fn_run_register(%s, %s, %s, %s, %s, %s, %s, %s)",
            (
                run_id, document_id, run.mode, run.starter[:100], Jsonb(asdict(caps_of(deps.settings))),
                input.first_execution_id if run.run_id is None else None, run.batch_id, run.amends,
            ),
        )  # fmt: skip
        sidecar = call(
            connection,
            RunSidecar.of,
            "select cutter_governance.fn_run_sidecar(cutter_governance.fn_run_version(%s, %s))",
            (registration.require_run(), deps.build_id),
        )
    return view_of(sidecar)


def view_of(sidecar: RunSidecar) -> RunView:
    """A run as the workflow needs it.

    Shipped limits replace missing ones. If a pinned limit is invalid, all limits are the shipped ones.
    """
    run = sidecar.run
    pinned = {field.name: run.caps[field.name] for field in fields(Caps) if run.caps.get(field.name) is not None}
    try:
        caps = TypeAdapter(Caps).validate_python(pinned)
    except ValidationError:
        caps = Caps()
    return RunView(
        run_id=run.run_id,
        document_id=run.document_id,
        mode=run.mode,
        state=run.state,
        caps=caps,
        sealed=sidecar.sealed,
        outcome=run.outcome,
        facts=facts_of(sidecar.pins),
        next_command=command_of(sidecar),
    )


def finish_run(deps: Deps, input: FinishInput) -> RunFinished:
    """Record the outcome if an attempt of a gate had it. Any other outcome gets the answer `not_so`."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        sidecar = sidecar_now(connection, input.run_id)
        if not any(attempt.outcome == input.outcome for attempt in sidecar.attempts):
            return RunFinished(state=sidecar.run.state, code=NOT_SO)
        connection.execute("select cutter_governance.fn_run_outcome(%s, %s)", (input.run_id, input.outcome))
    publish(deps, Role.READ, input.run_id)
    return RunFinished(state="", code=input.outcome)
