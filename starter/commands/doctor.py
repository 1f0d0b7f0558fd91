"""IO: `cutter doctor` and its checks: those of the preflight, those of the operator, and those of the local stack.

A check only looks. It never starts, makes or repairs anything, except that the preflight writes one object into each
store and removes it.
"""

from __future__ import annotations

import getpass
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import psycopg
import typer

from cutter import limits
from cutter.catalogue import Role, WorkerRole
from cutter.domain import lanes
from cutter.errors import CutterError, NotFound, Unavailable
from cutter.notifications import channels
from cutter.preflight import checks
from cutter.preflight.checks import Check, Description, Host, Probe, Verdict, bad, ok, unseen, warned
from cutter.preflight.database import first_line, remedy_of
from cutter.settings import Settings, load
from cutter.stack import postgres, supervisor, temporal, workers
from cutter.storage import migrate
from cutter.storage.pools import session
from cutter.storage.records import Connection, Rows, values
from cutter.storage.roles import GUARDED
from cutter.storage.runs import BLOCKED_WORKERS, LANES, LIVING_WORKERS, SHOW_WORKERS, STILL
from starter.approver import signing_desk
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, show, table
from starter.operator.inbox_entries import INBOX
from starter.operator.run_status import view_of, with_holds

PYTHON_MIN = (3, 11)
KEYS = tuple(sorted(workers.HOMES.values()))

IN_CHECKOUT = (Path(__file__).parents[2] / "Makefile").is_file()
"""True if cutter runs from a checkout. Installed from a wheel, it needs neither git nor make."""

ROLES_WITHOUT_LIMIT: Rows[str] = values("roles_without_limit")
BOUNDED: Rows[bool] = values("sessions_are_bounded")
NOTIFICATIONS: Rows[float] = values("notification_queue")

MARKS = {Verdict.OK: "✓", Verdict.OFF: "-", Verdict.OPTIONAL: "-", Verdict.BAD: "✗"}
SERVERS = {postgres.NAME: checks.DATABASE, temporal.NAME: checks.TEMPORAL}
"""The preflight's check of each server that `cutter up` starts."""


def doctor(
    as_json: AsJson = False,
    host: Annotated[
        list[Host] | None,
        typer.Option("--host", help="What this machine is for; may be repeated; default: by the passwords it has"),
    ] = None,
) -> None:
    """Check everything that the product needs on this machine, and say what is missing and how to get it.

    Example: cutter doctor --host exec
    """
    checks = all_checks(load(), frozenset(host) if host else None)
    answer: dict[str, Any] = {
        "healthy": not any(check.failed for check in checks), "checks": [check.as_json() for check in checks],
    }  # fmt: skip
    wrong = next((check for check in checks if check.failed), None)
    if wrong is not None:
        message = f"{wrong.name}: {wrong.found}; {wrong.remedy}"
        answer = as_failure(answer, code="UNAVAILABLE", message=message, next_command=wrong.command)
    show(
        answer,
        as_json=as_json,
        render=lambda console: console.print(
            table(
                ("", "what", "found", "to do"),
                [(MARKS[check.verdict], check.name, check.found, check.remedy) for check in checks],
            )
        ),
    )
    end(ExitCode.UNAVAILABLE if any(check.failed for check in checks) else ExitCode.DONE)


def all_checks(settings: Settings, hosts: frozenset[Host] | None = None) -> list[Check]:
    """The checks that this machine needs. `hosts` says what it is for; without it, its passwords say so.

    A server that `cutter up` would start and that does not run is one finding, and nothing is asked of it.
    """
    # `cutter down` imports this module too, and needs no driver of Temporal.
    from temporal.preflight import hosts_of, preflight

    hosts = hosts or hosts_of(settings)
    of_machine: tuple[tuple[Description, Probe], ...] = (
        (checks.PYTHON, lambda: [python()]),
        (checks.GIT, lambda: [tool(checks.GIT)]),
        (checks.MAKE, lambda: [tool(checks.MAKE)]),
        (checks.TEMPORAL_PROGRAM, lambda: [temporal_program(settings)]),
        (checks.PROCESSES, lambda: processes(settings)),
        (checks.HOMES, lambda: [keys(settings)]),
    )
    own = checks.made(of_machine, hosts)
    down = {SERVERS[check.name] for check in own if check.name in SERVERS and check.verdict is not Verdict.OK}
    shared = preflight(settings, hosts, down)
    named = {check.name for check in own}
    own += [check for check in shared if check.failed or check.name not in named]
    if checks.DATABASE in down or any(check.name == checks.DATABASE.name and check.failed for check in shared):
        return own
    return own + checks.made([(each, partial(_looked, settings, each)) for each in OF_DATABASE], hosts)


def look(settings: Settings, description: Description) -> Check:
    """One of the checks that ask the database as the operator. `off` if it cannot answer, also before the first
    migration.
    """
    try:
        with session(settings, Role.OPERATOR) as connection:
            return OF_DATABASE[description](settings, connection)
    except (CutterError, psycopg.Error) as problem:
        return unseen(description, first_line(problem), remedy_of(problem, "cutter up"))


def _looked(settings: Settings, description: Description) -> list[Check]:
    return [look(settings, description)]


def python() -> Check:
    if sys.version_info >= PYTHON_MIN:
        return ok(checks.PYTHON, platform.python_version())
    wanted = ".".join(map(str, PYTHON_MIN))
    remedy = f"install Python {wanted} or newer, then make the virtual environment again"
    return bad(checks.PYTHON, platform.python_version(), remedy)


def tool(description: Description) -> Check:
    """A program that only a checkout needs."""
    path = shutil.which(description.name)
    if path is not None:
        return ok(description, path)
    if IN_CHECKOUT:
        return bad(description, "not on PATH", f"install {description.name}")
    return warned(description, "not on PATH", "only for a checkout")


def temporal_program(settings: Settings) -> Check:
    """The way in which `cutter up` would get a server."""
    try:
        program = temporal.resolve(address=settings.temporal_address)
    except Unavailable as problem:
        return warned(checks.TEMPORAL_PROGRAM, "none", str(problem))
    return ok(checks.TEMPORAL_PROGRAM, f"{program.how}: {program.address or f'{program.version} at {program.path}'}")


def processes(settings: Settings) -> Iterator[Check]:
    """The parts that `cutter up` starts. The embedded database is checked by its own state."""
    known = supervisor.read(settings.state)
    if settings.database_url is None:
        status = postgres.cluster_status(settings.state)
        runs = status.state is postgres.State.RUNNING
        verdict = Verdict.BAD if status.state is postgres.State.CRASHED else Verdict.OK if runs else Verdict.OFF
        text = f"embedded, {status.state}" + (f" on port {status.port}" if status.port else "")
        yield Check(name=postgres.NAME, verdict=verdict, found=text, remedy="" if runs else "cutter up")
    names = [temporal.NAME] if settings.temporal_address is None else []
    for name in (*names, *(workers.service_name(role) for role in WorkerRole)):
        service = known.get(name)
        if service is None:
            yield Check(name=name, verdict=Verdict.OFF, found="not started", remedy="cutter up")
        elif service.alive:
            text = " ".join(filter(None, (service.address, service.version, f"process {service.process.pid}")))
            yield Check(name=name, verdict=Verdict.OK, found=text)
        else:
            remedy = "`cutter up`; its log is in the state folder"
            text = f"died (process {service.process.pid})"
            yield Check(name=name, verdict=Verdict.BAD, found=text, remedy=remedy, then="cutter up")


def serving_workers(_: Settings, connection: Connection) -> Check:
    """The living workers of each role, and those whose host has a fault."""
    stuck, living = BLOCKED_WORKERS.all(connection), LIVING_WORKERS.all(connection)
    if stuck:
        return bad(checks.SERVING, stuck[0].sentence, SHOW_WORKERS)
    counts = "serving: " + (", ".join(f"{row.number} {row.role}" for row in living) or "none")
    missing = [role.value for role in WorkerRole if role.value not in {row.role for row in living}]
    if missing:
        return unseen(checks.SERVING, counts, f"start a worker of the role {missing[0]}")
    return ok(checks.SERVING, counts)


def definitions(settings: Settings, _: Connection) -> Check:
    """The migrations as `cutter migrate --check` sees them."""
    try:
        waiting = migrate.check(settings)
    except CutterError as problem:
        return bad(checks.DEFINITIONS, first_line(problem), remedy_of(problem, "cutter migrate"))
    if waiting:
        return bad(checks.DEFINITIONS, f"{len(waiting)} waiting", "cutter migrate")
    return ok(checks.DEFINITIONS, "up to date")


def approvers(settings: Settings, _: Connection) -> Check:
    """Somebody may approve the runs that this user starts."""
    try:
        policy = signing_desk.policy_in_force(settings)
    except NotFound:
        remedy = "cutter approvers init --approver NAME=KEY.asc"
        return bad(checks.SIGNERS, "no policy is installed: nobody may sign", remedy)
    except CutterError as problem:
        return bad(checks.SIGNERS, str(problem), remedy_of(problem))
    names = sorted({approver.name for approver in policy.approvers})
    me = getpass.getuser()
    if set(names) <= {me}:
        add = "cutter approvers propose --approver NAME=KEY.asc"
        text = f"only {me} may sign, and nobody may approve a run that they started"
        return bad(checks.SIGNERS, text, f"`{add}`, or let another user start the runs", then=add)
    people = ", ".join(f"{person.name} ({person.fingerprint})" for person in policy.approvers)
    return ok(checks.SIGNERS, f"epoch {policy.number}, signing {policy.signing}: {people}")


def runs(settings: Settings, connection: Connection) -> Check:
    """Each open run that waits for nobody still moves."""
    still = [run.document_id for run in STILL.all(connection, {"run_id": None, "seconds": limits.STILL_SECONDS})]
    asked = {"run_id": None, "seconds": limits.HOLD_LOOK_SECONDS}
    approved = {run.run_id for run in INBOX.all(connection) if run.approved}
    unmoved = approved | {run.run_id for run in STILL.all(connection, asked)}
    views = [view_of(settings, connection, run_id) for run_id in sorted(unmoved)]
    held = [run for run in with_holds(settings, connection, views) if run not in views]
    if held:
        return bad(checks.RUNS, held[0].needs, held[0].next)
    if still:
        named = ", ".join(still[:3]) + (" …" if len(still) > 3 else "")
        text = f"{len(still)} without a move for {limits.STILL_SECONDS // 60} minutes: {named}"
        return bad(checks.RUNS, text, "cutter reconcile")
    return ok(checks.RUNS, "each open run moves or waits for a person")


def guards(settings: Settings, connection: Connection) -> Check:
    """The superuser's settings, which stop each role from using up what the others need."""
    open_to_all = [guard.function for guard in GUARDED.all(connection) if guard.open_to_all]
    gaps = [f"{len(open_to_all)} functions such as {open_to_all[0]} are open to every role"] if open_to_all else []
    free = ROLES_WITHOUT_LIMIT.all(connection, {"roles": [role.value for role in Role]})
    gaps += [f"{name} may open any number of connections" for name in free]
    gaps += [] if BOUNDED.one(connection) else ["sessions are not bounded"]
    if gaps:
        bootstrap = "cutter migrate --bootstrap postgresql://SUPERUSER@HOST/postgres"
        return bad(checks.GUARDS, "; ".join(gaps), "cutter up" if settings.database_url is None else bootstrap)
    return ok(checks.GUARDS, "each role has its limits")


def held_lanes(_: Settings, connection: Connection) -> Check:
    """The holders of the lanes. A session without a run that holds a lane stops every run from writing."""
    held = LANES.one(connection)
    text = "; ".join(lanes.sentences(held)) or "free"
    strangers = lanes.strangers(held)
    if not strangers:
        return ok(checks.LANES, text)
    end = f"select pg_terminate_backend({strangers[0].pid})"
    return bad(checks.LANES, text, f"as the superuser: {end}; then give {strangers[0].role} another password")


def change_notices(_: Settings, connection: Connection) -> Check:
    """How full the server's notification queue is. Once half full, batches see changes only by their poll."""
    share = NOTIFICATIONS.one(connection)
    # From half full on a changed batch sends no notification, so that no COMMIT meets a full queue.
    if share < 0.5:
        return ok(checks.CHANGE_NOTICES, f"{share:.0%} of the queue")
    remedy = "end the session that listens and stays in its transaction: it is named in PostgreSQL's log"
    return bad(checks.CHANGE_NOTICES, f"{share:.0%} of the queue", remedy)


def messages(settings: Settings, connection: Connection) -> Check:
    """Messages to people arrive. `off` if no channel was ever served."""
    rows = channels.health(connection)
    if not rows:
        remedy = "cutter notify serve" if channels.are_on(settings) else channels.HOW_TO_SWITCH_ON
        return unseen(checks.MESSAGES, "no channel was served yet", remedy)
    wrong = "; ".join(channels.sentences(rows))
    if wrong:
        return bad(checks.MESSAGES, wrong, "cutter notify check")
    return ok(checks.MESSAGES, f"arrive by {', '.join(channel.name for channel in rows)}")


def keys(settings: Settings) -> Check:
    """Each worker has a key of its own, and none was given another worker's key."""
    missing = [name for name in KEYS if not (settings.keys / name).is_dir()]
    if missing:
        remedy = "`cutter up` makes throw-away keys; for real ones set CUTTER_KEYS_DIR"
        if len(missing) == len(KEYS):
            return unseen(checks.HOMES, f"missing: {', '.join(missing)}", remedy)
        return bad(checks.HOMES, f"missing: {', '.join(missing)}", remedy, then="cutter up")
    for home, other in workers.shared(settings.keys):
        text = f"{home} and {other} in {settings.keys} hold the same private key"
        return bad(checks.HOMES, text, "give each worker a key of its own")
    for role in WorkerRole:
        others = workers.foreign(workers.handed_keys(settings, role), role)
        if others:
            text = f"the {role} worker was given {', '.join(others)} too"
            return bad(checks.HOMES, text, "`cutter down`, then `cutter up`", then="cutter down")
    return ok(checks.HOMES, f"{', '.join(KEYS)} in {settings.keys}")


OF_DATABASE: dict[Description, Callable[[Settings, Connection], Check]] = {
    checks.DEFINITIONS: definitions, checks.SIGNERS: approvers, checks.SERVING: serving_workers,
    checks.GUARDS: guards, checks.LANES: held_lanes, checks.CHANGE_NOTICES: change_notices,
    checks.MESSAGES: messages, checks.RUNS: runs,
}  # fmt: skip
"""The checks that ask the database as the operator."""
