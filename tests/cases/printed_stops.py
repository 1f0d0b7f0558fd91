"""IO: the states that drift, a policy, an outage or a lost worker leads to; what was away is put back on demand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from cutter import limits
from cutter.catalogue import WorkerRole
from starter.console.terminal import ExitCode
from tests.acceptance.cli.conftest import NOBODY, Cutter
from tests.cases.printed_states import (
    AWAY,
    CHANGED,
    CUT,
    HIDDEN,
    Builder,
    World,
    document,
    looking,
    started,
    waiting_at_the_cut,
    waiting_at_the_enactment,
)
from tests.support.policies import never_installed, put_in_force, put_unread
from tests.support.runs import in_force
from tests.support.stack import Stack
from tests.support.temporal import until

NO_DATABASE = "postgresql://127.0.0.1:1/cutter"
SOFT_CAP = '{"mark": 1}'
SECOND_IN_MINUTES = "0.017"


class Losing(Interceptor):
    """Loses every try of the activities in `names`, as a worker that dies does."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        names = self.names

        class Lost(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> object:
                if activity.info().activity_type in names:
                    raise ApplicationError("the worker was lost")
                return await super().execute_activity(input)

        return Lost(next)


LOSING = Losing()
"""Of all workers of the campaign; it loses nothing until a state names something."""


async def stopped_by(world: World, prefix: str = "stopped_unavailable_") -> World:
    """Wait until the run has stopped for a reason of that kind."""

    async def stopped() -> bool:
        with suppress(psycopg.OperationalError):
            return (await world.run.state()).startswith(prefix)
        return False

    await until(stopped, what=f"{world.document} is {prefix}…")
    if world.kb.exists():
        await until(world.reported, what=f"the report of {world.document}")
    return world


def moved_away(path: Path) -> None:
    """Nobody finds it until it is put back; what was made in its place meanwhile is kept."""
    hidden = path.with_name(f"{path.name}{HIDDEN}")
    path.rename(hidden)

    def back() -> None:
        for made in sorted(path.rglob("*")) if path.is_dir() else ():
            kept = hidden / made.relative_to(path)
            if made.is_file() and not kept.exists():
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(made, kept)
        shutil.rmtree(path, ignore_errors=True)
        hidden.rename(path)

    AWAY.append(back)


# --- drift ------------------------------------------------------------------------------------------------------------


def _drift(dimension: str, change: LiteralString, undo: LiteralString) -> Builder:
    """A run that finds the database changed after it was prepared; the change is undone before the next state."""

    async def drifted(stack: Stack, cutter: Cutter) -> World:
        world = await waiting_at_the_cut(stack, cutter)
        CHANGED.append(lambda: stack.database.run(undo))
        stack.database.run(change)
        await world.typed("approve", world.run_id)
        await world.to(f"stopped_drift_{dimension}")
        return world

    drifted.__name__ = f"drift_of_{dimension}"
    return drifted


UNDO_COLUMN: LiteralString = "alter table public.unit_version drop column if exists by_the_owner"

drift_of_tables = _drift("tables", "alter table public.unit_version add column by_the_owner integer", UNDO_COLUMN)
drift_of_functions = _drift(
    "functions", "alter function public.fn_iu_apply_edit_draft(uuid, text) owner to postgres",
    "alter function public.fn_iu_apply_edit_draft(uuid, text) owner to cutter_owner",
)  # fmt: skip
drift_of_triggers = _drift(
    "triggers", "alter table public.information_unit disable trigger trg_iu_birth_gate_layer1",
    "alter table public.information_unit enable trigger trg_iu_birth_gate_layer1",
)  # fmt: skip
drift_of_grants = _drift(
    "grants", "grant insert on public.information_unit to cutter_read",
    "revoke insert on public.information_unit from cutter_read",
)  # fmt: skip


async def drift_that_was_undone(stack: Stack, cutter: Cutter) -> World:
    world = await drift_of_tables(stack, cutter)
    stack.database.run(UNDO_COLUMN)
    return world


# --- policies ---------------------------------------------------------------------------------------------------------


async def under(stack: Stack, cutter: Cutter, rule: str) -> World:
    """A registered document to which a rule of the policy applies, until the shipped policy is put back."""
    world = await document(stack, cutter)
    in_force(stack.settings, f"document: {world.document}, {rule}")
    AWAY.append(lambda: _shipped(stack))
    return world


def _shipped(stack: Stack) -> None:
    put_in_force(stack.settings)


async def run_of(world: World) -> World:
    """Its run, begun by command. The run may have failed before the command looked at it."""
    answer = await world.cutter("run", world.document, "--json")
    assert answer.code in (ExitCode.DONE, ExitCode.FAILED), answer.out + answer.err
    world.run_id = json.loads(answer.out or answer.err)["run_id"]
    world.asks = [
        *looking(world.run_id, world.document), ("doctor",), ("policy", "explain", "--json"),
        ("policy", "explain", "--gate", "IG_backup", "--document", world.document),
    ]  # fmt: skip
    return world


async def denied_before_the_write(stack: Stack, cutter: Cutter) -> World:
    world = await run_of(await under(stack, cutter, "connector: backup, verdict: deny"))
    await world.run.result()
    return world


async def denied_after_the_write(stack: Stack, cutter: Cutter) -> World:
    rule = "gate: IG_lifecycle_enact_execute, connector: database, verdict: deny"
    world = await run_of(await under(stack, cutter, rule))
    await world.run.until_requested(CUT)
    await world.typed("approve", world.run_id)
    await world.run.result()
    return world


async def asked_by_the_policy(stack: Stack, cutter: Cutter) -> World:
    world = await run_of(await under(stack, cutter, "connector: backup, verdict: needs_approval(medium)"))
    await stopped_by(world, "stopped_policy_")
    return world


async def without_a_policy(stack: Stack, cutter: Cutter) -> World:
    world = await document(stack, cutter)
    never_installed(stack.database)
    AWAY.append(lambda: _shipped(stack))
    world = await run_of(world)
    await world.run.result()
    return world


async def with_a_broken_policy(stack: Stack, cutter: Cutter) -> World:
    world = await document(stack, cutter)
    put_unread(stack.settings, "schema: cutter-policy/1\nrules: nonsense\n")
    AWAY.append(lambda: _shipped(stack))
    world = await run_of(world)
    await world.run.result()
    return world


# --- outages ----------------------------------------------------------------------------------------------------------


async def keys_away(stack: Stack, cutter: Cutter) -> World:
    world = await document(stack, cutter)
    for role in WorkerRole:
        moved_away(stack.settings.state / f"keys-{role.value}")
    return await stopped_by(await run_of(world))


async def approvers_away(stack: Stack, cutter: Cutter) -> World:
    world = await document(stack, cutter)
    moved_away(stack.settings.approvers)
    return await stopped_by(await run_of(world))


async def knowledge_base_away(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    kb_id = await world.run.sign()
    moved_away(world.kb)
    await world.run.handle.signal("submit_approval", kb_id)
    return await stopped_by(world)


async def database_away(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    kb_id = await world.run.sign()
    _allow_connections(stack, allowed=False)
    AWAY.append(lambda: _allow_connections(stack, allowed=True))
    await world.run.handle.signal("submit_approval", kb_id)
    await world.run.until_shown("stopped_unavailable_database")
    return world


def _allow_connections(stack: Stack, *, allowed: bool) -> None:
    name = sql.Identifier(stack.database.name)
    word = sql.SQL("true" if allowed else "false")
    statements = [sql.SQL("alter database {} allow_connections {}").format(name, word)]
    if not allowed:
        ended = sql.SQL("select pg_terminate_backend(pid) from pg_stat_activity where datname = {}")
        statements.append(ended.format(sql.Literal(stack.database.name)))
    stack.database.server.maintain(*statements)


async def after_the_database_was_away(stack: Stack, cutter: Cutter) -> World:
    world = await database_away(stack, cutter)
    AWAY.pop()()
    return await stopped_by(world)


def _lost(name: str, activity_name: str) -> Builder:
    async def lost(stack: Stack, cutter: Cutter) -> World:
        world = await document(stack, cutter)
        LOSING.names.add(activity_name)
        AWAY.append(lambda: LOSING.names.clear())
        world = await run_of(world)
        await world.run.until_shown("stopped_unavailable_worker_cutter")
        return world

    lost.__name__ = name
    return lost


lost_before_registration = _lost("lost_before_registration", "begin_run")
lost_at_the_request = _lost("lost_at_the_request", "open_request")


async def temporal_away(stack: Stack, cutter: Cutter) -> World:
    """For the commands: nobody answers at the address that they have."""
    world = await waiting_at_the_cut(stack, cutter)
    world.environment["CUTTER_TEMPORAL_ADDRESS"] = NOBODY
    world.asks += [
        ("stop", world.run_id, "--reason", "x"), ("cancel", world.run_id, "--reason", "x"), ("doctor",),
        ("void", world.run_id, "--reason", "x", "--yes", "--approver", "alice", "--gpg-home",
         str(stack.kit.alice.home)), ("reconcile", "--every", "10",),
    ]  # fmt: skip
    return world


async def database_unreachable(stack: Stack, cutter: Cutter) -> World:
    """For the commands: nobody answers where they look for the database."""
    world = await waiting_at_the_cut(stack, cutter)
    world.environment["CUTTER_DATABASE_URL"] = NO_DATABASE
    world.asks += [("doctor",), ("stop", world.run_id, "--reason", "x"), ("migrate", "--check"), ("doctor", "--json")]
    return world


# --- limits -----------------------------------------------------------------------------------------------------------


async def flooded(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    for number in range(limits.REFUSALS_A_GATE + 5):
        await world.run.handle.signal("submit_approval", f"{number} is no KB id")
    await world.to("stopped_signal_flood")
    return world


async def over_its_soft_cap(stack: Stack, cutter: Cutter) -> World:
    def hold(gate: str) -> None:
        if gate == "IG_source_pin" and not stack.held:
            stack.take("select from cutter_governance.stop_latch for update")

    stack.hooks.append(hold)
    try:
        world = await started(stack, cutter, None, CUTTER_SOFT_CAP_SECONDS=SOFT_CAP)
        await world.run.until_shown("stopped_soft_cap_mark")
    finally:
        stack.hooks.remove(hold)
        stack.let_go()
    return await stopped_by(world, "stopped_soft_cap_")


async def waiting_for_the_lane(stack: Stack, cutter: Cutter) -> World:
    """Approved; another session writes, so that the approval is not consumed."""
    world = await waiting_at_the_cut(stack, cutter)
    stack.take_write_lane()
    AWAY.append(stack.let_go)
    await world.typed("approve", world.run_id)
    await world.run.until_attempted("IG_cut_leg_a_execute", "lane_busy")
    world.asks += [("doctor",), ("stop", world.run_id, "--reason", "x")]
    return world


# --- a deployment without an exec worker ------------------------------------------------------------------------------


async def approved_without_an_exec_worker(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    await world.typed("approve", world.run_id)
    return world


async def stopped_without_an_exec_worker(stack: Stack, cutter: Cutter) -> World:
    world = await started(stack, cutter, None, CUTTER_WORKER_WAIT_MINUTES=SECOND_IN_MINUTES)
    await world.run.until_requested(CUT)
    await world.typed("approve", world.run_id)
    return await stopped_by(world)


async def stopped_at_the_enactment_by_the_policy(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_enactment(stack, cutter)
    rule = f"document: {world.document}, gate: IG_lifecycle_enact_execute, connector: database, verdict: deny"
    in_force(stack.settings, rule)
    AWAY.append(lambda: _shipped(stack))
    await world.typed("approve", world.run_id)
    await world.run.result()
    return world


async def nothing_away(stack: Stack, cutter: Cutter) -> World:
    """One run waits: what a person types who looks around."""
    world = await waiting_at_the_cut(stack, cutter)
    world.asks = [
        ("status",), ("status", "--json"), ("inbox",), ("queues",), ("workers",), ("tenants",), ("doctor",),
        ("law", "show"), ("backup", "list"), ("doctor",), ("policy", "explain"),
        ("notify", "check"), ("reconcile",), ("rebuild",), ("reconcile", "--every", "10",),
        ("audit", "export"), ("evidence", "export", "NOPE"), ("transitions", "export"), ("migrate", "--check"),
    ]  # fmt: skip
    return world


Place = tuple[tuple[WorkerRole, ...], tuple[Builder, ...]]

STOPS: tuple[Builder, ...] = (
    nothing_away, denied_before_the_write, denied_after_the_write, stopped_at_the_enactment_by_the_policy,
    asked_by_the_policy, without_a_policy, with_a_broken_policy, keys_away, approvers_away, knowledge_base_away,
    lost_before_registration, lost_at_the_request, temporal_away, database_unreachable, flooded, over_its_soft_cap,
    waiting_for_the_lane, database_away, after_the_database_was_away,
    drift_of_tables, drift_that_was_undone, drift_of_functions, drift_of_triggers, drift_of_grants,
)  # fmt: skip
WITHOUT_EXEC: tuple[Builder, ...] = (approved_without_an_exec_worker, stopped_without_an_exec_worker)
"""Of a deployment whose exec worker does not run."""

Moves = Callable[[], None]
