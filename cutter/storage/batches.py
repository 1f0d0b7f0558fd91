"""IO: a queue against the database: what it knows of the documents, the rows of a batch that is let in, its view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from psycopg.types.json import Jsonb

from cutter import limits
from cutter.approvals.policy_file import parse_policy
from cutter.batch.admission import Decision, Known, check_against, decided_before_start, items_of
from cutter.batch.item import Item
from cutter.batch.queue import Queue, QueueItem, QueueRefused, load_queue
from cutter.batch.resumption import include_command
from cutter.errors import Conflict, NotFound
from cutter.marking import parse_profile
from cutter.messages import Mode
from cutter.storage.gate_transaction import call
from cutter.storage.pools import Connection
from cutter.storage.queries import query
from cutter.types import Json

Policy = Literal["default", "strict", "quarantine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a batch is to run (seed 001 §2, §6, §7). `unattended`: what no approval covers goes to human review."""

    mode: Mode = "live"
    policy: Policy = "default"
    lanes: int = limits.BATCH_LANES
    hard_cap_minutes: float = limits.BATCH_HARD_CAP_MINUTES
    unattended: bool = False
    skip_completed: bool = False
    items_max: int = limits.QUEUE_ITEMS_DEFAULT

    @classmethod
    def overnight(cls, mode: Mode = "live", items_max: int = limits.QUEUE_ITEMS_DEFAULT) -> Options:
        """Two lanes, quarantine, six hours, nobody there to ask."""
        return cls(
            mode=mode, policy="quarantine", lanes=limits.OVERNIGHT_LANES, unattended=True,
            hard_cap_minutes=limits.OVERNIGHT_HARD_CAP_MINUTES, items_max=items_max,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What would start: the items as they are registered (`rows`), and as the planner sees them.

    `law_by` names the run that enacted an item's newest version: its run here would end as skipped.
    """

    queue: Queue
    rows: tuple[Json, ...]
    items: tuple[Item, ...]
    law_by: Mapping[str, str]


def known_documents(connection: Connection, document_ids: Sequence[str]) -> dict[str, Known]:
    """What the database says of these documents; those that it does not know are missing."""
    rows = connection.execute(query("batch_known"), {"document_ids": list(document_ids)}).fetchall()
    scopes = _scopes(connection, {str(sha256): version for *_, version, sha256, _ in rows if version})
    return {
        str(code): Known(
            docprefix=str(prefix), tenant=str(tenant), profile=str(profile), open_run=_text(open_run),
            enacted_run=_text(enacted), failed_run=_text(failed),
            scope=scopes.get(str(sha256)) and (_text(scope) or scopes[str(sha256)]),
        )
        for code, prefix, tenant, profile, open_run, enacted, failed, _, sha256, scope in rows
    }  # fmt: skip


def _scopes(connection: Connection, versions: Mapping[str, object]) -> dict[str, str | None]:
    """The own scope of each profile, by its sha256; None for one that knows no status. `versions`: one that has it."""
    rows = connection.execute(query("profiles_of_versions"), {"ids": list(versions.values())}).fetchall()
    return {str(sha256): parse_profile(str(body).encode()).scope for sha256, body in rows}


def _approvers(connection: Connection) -> frozenset[str] | None:
    """The names in the policy in force; None when none is installed."""
    row = connection.execute(query("policy_in_force")).fetchone()
    return None if row is None else frozenset(one.name for one in parse_policy(str(row[1]).encode()).approvers)


def view(connection: Connection, batch_id: str) -> Json:
    """The batch and its items; STOP_BATCH_NOT_FOUND when the database knows none."""
    row = connection.execute("select cutter_governance.fn_batch_seen(%s)", (batch_id,)).fetchone()
    if row is None or row[0] is None:
        raise unknown(batch_id)
    found: Json = row[0]  # type: ignore[assignment]
    return found


def unknown(batch_id: str) -> NotFound:
    """No batch of that name; one that has only been rehearsed has another."""
    rehearsal = "" if batch_id.endswith("-dryrun") else f"; its rehearsal would be {batch_id}-dryrun"
    return NotFound(
        f"no batch {batch_id}: see `cutter status`, or type `cutter orchestrate batch --queue FILE`{rehearsal}",
        code="STOP_BATCH_NOT_FOUND",
    )


def rooms(connection: Connection, batch_id: str) -> list[Json]:
    """What each tenant of a batch may begin now, as `fn_tenant_room` says it, by name."""
    return [row[0] for row in connection.execute(query("tenant_rooms"), {"batch_id": batch_id}).fetchall()]  # type: ignore[misc]


def weights(connection: Connection, items: Sequence[Item]) -> dict[str, int]:
    """The weights that these items' tenants have now; a batch keeps those of its registration."""
    names = sorted({item.tenant for item in items})
    return dict(connection.execute(query("tenant_weights"), {"tenants": names}).fetchall())  # type: ignore[arg-type]


def state_and_mode(connection: Connection, batch_id: str) -> tuple[str, str] | None:
    """Of a registered batch; None when the database knows none."""
    row = connection.execute(query("batch_state"), {"batch_id": batch_id}).fetchone()
    return None if row is None else (str(row[0]), str(row[1]))


def admit(connection: Connection, data: bytes, options: Options) -> Admission:
    """A queue.yaml as the database sees it. Raises QueueRefused when it is wrong; nothing is written."""
    queue = load_queue(data, items_max=options.items_max)
    known = known_documents(connection, [item.document_id for item in queue.items])
    problems = check_against(queue, known, _approvers(connection))
    wrong = tuple(one for one in problems if not one.alone)
    if wrong:
        raise QueueRefused(wrong)
    decided = decided_before_start(queue, known, skip_completed=options.skip_completed)
    rows = tuple(_row(queue, item, known[item.document_id], decided.get(item.document_id)) for item in queue.items)
    law_by = {name: one.enacted_run for name, one in known.items() if one.enacted_run}
    return Admission(queue=queue, rows=rows, items=tuple(items_of(queue, known, decided)), law_by=law_by)


def _row(queue: Queue, item: QueueItem, there: Known, decision: Decision | None) -> Json:
    return {
        "document_id": item.document_id, "position": item.position, "priority": item.priority,
        "depends_on": list(item.depends_on), "critical": item.critical, "tenant": there.tenant,
        "source_uri": item.source_uri, "marking_profile": item.marking_profile,
        "decided": decision.outcome.value if decision else None, "reason": decision.reason if decision else None,
        "scope": item.scope or queue.default_scope, "actor": item.actor,
    }  # fmt: skip


def name_of(queue: Queue, options: Options) -> str:
    """The batch's id; a rehearsal of a queue is a batch of its own."""
    return f"{queue.batch_id}-dryrun" if options.mode == "dryrun" else queue.batch_id


def register(
    connection: Connection, admission: Admission, options: Options, *, run_caps: Json, starter: str
) -> tuple[str, bool]:
    """(Batch id, whether it is new). `run_caps` are a run's own, of which no document may take longer than the batch.

    Raises Conflict when another queue has that id.
    """
    queue = admission.queue
    batch_id = name_of(queue, options)
    hard_seconds = options.hard_cap_minutes * 60
    caps = {**run_caps, "hard_seconds": min(run_caps["hard_seconds"], hard_seconds)}
    answer = call(
        connection,
        "select cutter_governance.fn_batch_register(%s, %s)",
        (
            Jsonb({
                "batch_id": batch_id, "queue_sha256": queue.sha256, "mode": options.mode, "policy": options.policy,
                "unattended": options.unattended, "lanes": options.lanes,
                "hard_cap_seconds": hard_seconds, "caps": caps, "created_by": queue.created_by,
                "starter": starter, "default_scope": queue.default_scope, "default_actor": queue.default_actor,
            }),
            Jsonb(list(admission.rows)),
        ),
    )  # fmt: skip
    if answer["status"] == "conflict":
        raise Conflict(
            f"batch {batch_id} was made from another queue (sha256 {answer['queue_sha256'][:16]}, this one is "
            f"{queue.sha256[:16]}): give the changed queue a batch_id of its own",
            code="STOP_BATCH_CONFLICT",
        )
    return batch_id, bool(answer["status"] == "registered")


def failed_runs(connection: Connection, document_ids: Sequence[str]) -> list[Json]:
    """The newest failed run of each of these documents, with the command that continues it."""
    rows = connection.execute(query("failed_runs"), {"document_ids": list(document_ids)}).fetchall()
    return [
        {
            "document_id": str(document_id), "run_id": str(run_id), "state": str(state),
            "sign": include_command(str(batch_id), str(document_id))
            if batch_id else f"cutter run {document_id} --amends {run_id}",
        }
        for document_id, run_id, state, batch_id in rows
    ]  # fmt: skip


def with_lanes(options: Options, lanes: int | None) -> Options:
    """The options with another number of lanes, when one is given."""
    return options if lanes is None else replace(options, lanes=lanes)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
