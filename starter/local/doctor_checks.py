"""IO: the checks of `cutter doctor`: those of the preflight, and those of the local stack.

A check only looks. It never starts, makes or repairs anything, except that the preflight writes one object into each
store and removes it.
"""

from __future__ import annotations

import getpass
import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from cutter import limits
from cutter.approvals import approver_store
from cutter.backup import health as backup_health
from cutter.catalogue import Role, WorkerRole
from cutter.domain import lanes
from cutter.domain.amounts import counted
from cutter.errors import CutterError, NotFound, Unavailable
from cutter.notifications import channels, health
from cutter.policy.rules import EffectPolicy
from cutter.preflight.checks import (
    APPROVERS,
    DATABASE,
    FOLDERS,
    GPG,
    MIGRATIONS,
    POLICY,
    TEMPORAL,
    Check,
    Host,
    Verdict,
)
from cutter.preflight.database import first_line, remedy_of
from cutter.preflight.files import gpg
from cutter.settings import Settings
from cutter.stack import folders, key_homes, ports, postgres, records, supervisor, temporal, workers
from cutter.stack.records import Service
from cutter.storage import blocked_workers, effect_policy
from cutter.storage.guards import GUARDED
from cutter.storage.pools import Connection, check_direct, session
from cutter.storage.records import Rows, values
from cutter.storage.runs import LANES, STILL
from starter.operator.holds import with_holds
from starter.operator.inbox_entries import INBOX
from starter.operator.run_status import view_of

PYTHON_MIN = (3, 11)
KEYS = tuple(sorted(key_homes.HOMES.values()))

IN_CHECKOUT = (Path(__file__).parents[2] / "Makefile").is_file()
"""True if cutter runs from a checkout. Installed from a wheel, it needs neither git nor make."""

ROLES_WITHOUT_LIMIT: Rows[str] = values("roles_without_limit")
BOUNDED: Rows[bool] = values("sessions_are_bounded")
NOTIFICATIONS: Rows[float] = values("notification_queue")


MARKS = {Verdict.OK: "✓", Verdict.OFF: "-", Verdict.OPTIONAL: "-", Verdict.BAD: "✗"}


REPEATED = frozenset({POLICY.name, APPROVERS.name, FOLDERS.name, GPG.name})
"""The checks of the preflight whose subject another check of the local stack has."""


def all_checks(settings: Settings, hosts: frozenset[Host] | None = None) -> list[Check]:
    """The checks that this machine needs. `hosts` says what it is for; without it, its passwords say so."""
    # `cutter down` imports this module too, and needs no driver of Temporal.
    from temporal.preflight import hosts_of

    hosts = hosts or hosts_of(settings)
    return list(_local(settings, hosts) if Host.LOCAL in hosts else _host(settings, hosts))


def _host(settings: Settings, hosts: frozenset[Host]) -> Iterator[Check]:
    """The checks of a host of a deployment. Only an operator's role sees the other hosts."""
    from temporal.preflight import preflight

    yield python()
    checks = preflight(settings, hosts)
    yield from checks
    if Host.OPERATOR in hosts:
        yield from _of_operator(
            settings, answers=not any(check.name == DATABASE.name and check.failed for check in checks)
        )


def _of_operator(settings: Settings, *, answers: bool) -> Iterator[Check]:
    if not answers:
        return
    for check in (serving_workers, guards, held_lanes, change_notices, messages, runs):
        yield check(settings)


def _local(settings: Settings, hosts: frozenset[Host]) -> Iterator[Check]:
    known = records.read(settings.state)
    yield python()
    yield gpg()
    yield tool("git", needed=IN_CHECKOUT)
    yield tool("make", needed=IN_CHECKOUT)
    yield temporal_program(settings)
    yield temporal_server(settings, known)
    yield database(settings)
    yield migrations(settings)
    yield guards(settings)
    yield held_lanes(settings)
    yield change_notices(settings)
    yield messages(settings)
    yield backups(settings)
    yield policy(settings)
    for role in WorkerRole:
        yield process(workers.service_name(settings, role), known)
    yield from _servers(settings, hosts)
    yield runs(settings)
    yield disk(settings)
    yield writable(settings)
    yield keys(settings)
    yield approvers(settings)


def _servers(settings: Settings, hosts: frozenset[Host]) -> Iterator[Check]:
    """What the preflight adds for a machine with the local stack. Nothing if the database is off."""
    from temporal.preflight import preflight

    needed = hosts - {Host.LOCAL}
    if not needed or database(settings).verdict is not Verdict.OK:
        return
    seen_here = REPEATED | {DATABASE.name, MIGRATIONS.name}
    if settings.temporal_address is None:
        seen_here |= {TEMPORAL.name}
    yield serving_workers(settings)
    yield from (check for check in preflight(settings, needed) if check.name not in seen_here)


def serving_workers(settings: Settings) -> Check:
    """The living workers of each role, and those whose host has a fault."""
    try:
        with _asked(settings) as connection:
            stuck, living = blocked_workers.blocked(connection), blocked_workers.LIVING.all(connection)
    except CutterError as problem:
        return _unseen("workers", problem)
    if stuck:
        return Check(
            name="workers", verdict=Verdict.BAD, found=stuck[0].sentence, remedy=blocked_workers.SHOW
        )  # fmt: skip
    missing = [role.value for role in WorkerRole if role.value not in {row.role for row in living}]
    counts = ", ".join(f"{row.number} {row.role}" for row in living) or "none"
    if missing:
        remedy = f"start a worker of the role {missing[0]}"
        return Check(name="workers", verdict=Verdict.OFF, found=f"serving: {counts}", remedy=remedy)
    return Check(name="workers", verdict=Verdict.OK, found=f"serving: {counts}")


def python() -> Check:
    wanted = ".".join(map(str, PYTHON_MIN))
    good = sys.version_info >= PYTHON_MIN
    remedy = "" if good else f"install Python {wanted} or newer, then make the virtual environment again"
    return Check(name="python", verdict=_good(good), found=platform.python_version(), remedy=remedy)


def tool(name: str, *, needed: bool) -> Check:
    path = shutil.which(name)
    if path is not None:
        return Check(name=name, verdict=Verdict.OK, found=path)
    if not needed:
        return Check(name=name, verdict=Verdict.OPTIONAL, found="not on PATH", remedy="only for a checkout")
    return Check(name=name, verdict=Verdict.BAD, found="not on PATH", remedy=f"install {name}")


def temporal_program(settings: Settings) -> Check:
    """The way in which `cutter up` would get a server. This check downloads nothing."""
    try:
        program = temporal.resolve(address=settings.temporal_address, fetch=False)
    except Unavailable:
        how = "`cutter up` downloads it"
        return Check(name="temporal program", verdict=Verdict.OPTIONAL, found="none yet", remedy=how)
    where = program.address or f"{program.version} at {program.path}"
    return Check(name="temporal program", verdict=Verdict.OK, found=f"{program.how}: {where}")


def temporal_server(settings: Settings, known: dict[str, Service]) -> Check:
    if settings.temporal_address is None:
        return process("temporal", known)
    good = ports.listens(settings.temporal_address)
    remedy = "" if good else "start it, or correct CUTTER_TEMPORAL_ADDRESS"
    description = f"{settings.temporal_address} {'listens' if good else 'does not answer'}"
    return Check(name="temporal", verdict=_good(good), found=description, remedy=remedy)


def process(name: str, known: dict[str, Service]) -> Check:
    service = known.get(name)
    if service is None:
        return Check(name=name, verdict=Verdict.OFF, found="not started", remedy="cutter up")
    if not service.alive:
        description = f"died (process {service.process.pid})"
        return Check(
            name=name, verdict=Verdict.BAD, found=description, remedy="`cutter up`; its log is in the state folder",
            then="cutter up",
        )  # fmt: skip
    description = " ".join(filter(None, (service.address, service.version, f"process {service.process.pid}")))
    return Check(name=name, verdict=Verdict.OK, found=description)


def database(settings: Settings) -> Check:
    """The embedded cluster, checked by its own state. An external one is checked by a connection."""
    if settings.database_url is None:
        status = postgres.cluster_status(settings.state)
        description = f"embedded, {status.state}" + (f" on port {status.port}" if status.port else "")
        verdict = {
            postgres.State.RUNNING: Verdict.OK,
            postgres.State.STARTING: Verdict.OK,
            postgres.State.CRASHED: Verdict.BAD,
        }.get(status.state, Verdict.OFF)
        return Check(
            name="postgres", verdict=verdict, found=description, remedy="" if verdict is Verdict.OK else "cutter up"
        )
    try:
        check_direct(settings, Role.OPERATOR)
        with session(settings, Role.OPERATOR) as connection:
            version = connection.info.server_version // 10_000
    except (psycopg.Error, CutterError) as problem:
        return Check(name="postgres", verdict=Verdict.BAD, found=first_line(problem), remedy=remedy_of(problem))
    return Check(name="postgres", verdict=Verdict.OK, found=f"PostgreSQL {version} at {settings.database_url}")


def migrations(settings: Settings) -> Check:
    """The migrations as `cutter migrate --check` sees them. `off` if the database is off."""
    if database(settings).verdict is not Verdict.OK:
        return Check(name="migrations", verdict=Verdict.OFF, found="the database is not up", remedy="cutter up")
    from cutter.storage import migrate

    try:
        waiting = migrate.check(settings)
    except CutterError as problem:
        remedy = remedy_of(problem, "cutter migrate")
        return Check(name="migrations", verdict=Verdict.BAD, found=first_line(problem), remedy=remedy)
    if waiting:
        return Check(name="migrations", verdict=Verdict.BAD, found=f"{len(waiting)} waiting", remedy="cutter migrate")
    return Check(name="migrations", verdict=Verdict.OK, found="up to date")


def runs(settings: Settings) -> Check:
    """Checks that each open run which waits for nobody still moves. `off` if the database is off."""
    try:
        with _asked(settings) as connection:
            asked = {"run_id": None, "seconds": limits.STILL_SECONDS}
            still = [run.document_id for run in STILL.all(connection, asked)]
            asked = {"run_id": None, "seconds": limits.HOLD_LOOK_SECONDS}
            approved = {run.run_id for run in INBOX.all(connection) if run.approved}
            unmoved = approved | {run.run_id for run in STILL.all(connection, asked)}
            views = [view_of(settings, connection, run_id) for run_id in sorted(unmoved)]
            held = [run for run in with_holds(settings, connection, views) if run not in views]
    except CutterError as problem:
        return _unseen("runs", problem)
    if held:
        return Check(name="runs", verdict=Verdict.BAD, found=held[0].needs, remedy=held[0].next)
    if still:
        named = ", ".join(still[:3]) + (" …" if len(still) > 3 else "")
        description = f"{len(still)} without a move for {limits.STILL_SECONDS // 60} minutes: {named}"
        return Check(name="runs", verdict=Verdict.BAD, found=description, remedy="cutter reconcile")
    return Check(name="runs", verdict=Verdict.OK, found="each open run moves or waits for a person")


def guards(settings: Settings) -> Check:
    """Checks the superuser's settings, which stop each role from using up what the others need."""
    if settings.database_url is None:
        remedy = "cutter up"
    else:
        remedy = "cutter migrate --bootstrap postgresql://SUPERUSER@HOST/postgres"
    try:
        with _asked(settings) as connection:
            open_to_all = [guard.function for guard in GUARDED.all(connection) if guard.open_to_all]
            free = ROLES_WITHOUT_LIMIT.all(connection, {"roles": [role.value for role in Role]})
            bounded = BOUNDED.one(connection)
    except CutterError as problem:
        return _unseen("database guards", problem)
    gaps = [f"{len(open_to_all)} functions such as {open_to_all[0]} are open to every role"] if open_to_all else []
    gaps += [f"{name} may open any number of connections" for name in free]
    gaps += [] if bounded else ["sessions are not bounded"]
    if gaps:
        return Check(name="database guards", verdict=Verdict.BAD, found="; ".join(gaps), remedy=remedy)
    return Check(name="database guards", verdict=Verdict.OK, found="each role has its limits")


def held_lanes(settings: Settings) -> Check:
    """Names the holders of the lanes. A session without a run that holds a lane stops every run from writing."""
    try:
        with _asked(settings) as connection:
            held = LANES.one(connection)
    except CutterError as problem:
        return _unseen("lanes", problem)
    description = "; ".join(lanes.sentences(held)) or "free"
    strangers = lanes.strangers(held)
    if not strangers:
        return Check(name="lanes", verdict=Verdict.OK, found=description)
    end = f"select pg_terminate_backend({strangers[0].pid})"
    remedy = f"as the superuser: {end}; then give {strangers[0].role} another password"
    return Check(name="lanes", verdict=Verdict.BAD, found=description, remedy=remedy)


def messages(settings: Settings) -> Check:
    """Checks that messages to people arrive. `off` if no channel was ever served."""
    try:
        with _asked(settings) as connection:
            rows = health.health(connection)
    except CutterError as problem:
        return _unseen("messages", problem)
    if not rows:
        remedy = "cutter notify serve" if channels.are_on(settings) else channels.HOW_TO_SWITCH_ON
        return Check(name="messages", verdict=Verdict.OFF, found="no channel was served yet", remedy=remedy)
    wrong = "; ".join(health.sentences(rows))
    if wrong:
        return Check(name="messages", verdict=Verdict.BAD, found=wrong, remedy="cutter notify list")
    return Check(name="messages", verdict=Verdict.OK, found=f"arrive by {', '.join(channel.name for channel in rows)}")


def backups(settings: Settings) -> Check:
    """Checks that the segments of backups are verified. `off` if there are none."""
    try:
        with _asked(settings) as connection:
            summary = backup_health.health(connection)
    except CutterError as problem:
        return _unseen("backups", problem)
    if not summary.sealed:
        return Check(name="backups", verdict=Verdict.OFF, found="no segment yet: a run takes a backup before it writes")
    wrong = "; ".join(backup_health.sentences(summary, settings.backup_verified_max_days))
    if wrong:
        return Check(name="backups", verdict=Verdict.BAD, found=wrong, remedy="cutter backup scrub")
    age = f"the oldest verification is {summary.oldest_days:.0f} days old"
    return Check(name="backups", verdict=Verdict.OK, found=f"{counted(summary.sealed, 'document')} in segments, {age}")


def change_notices(settings: Settings) -> Check:
    """Checks how full the server's notification queue is. Once half full, batches see changes only by their poll."""
    try:
        with _asked(settings) as connection:
            share = NOTIFICATIONS.one(connection)
    except CutterError as problem:
        return _unseen("change notices", problem)
    good = share < limits.NOTIFY_QUEUE_SHARE_MAX
    remedy = (
        "" if good else "end the session that listens and stays in its transaction: it is named in PostgreSQL's log"
    )
    return Check(name="change notices", verdict=_good(good), found=f"{share:.0%} of the queue", remedy=remedy)


@contextmanager
def _asked(settings: Settings) -> Iterator[Connection]:
    """A connection of the operator. Raises Unavailable if there is none, also before the first migration."""
    if database(settings).verdict is not Verdict.OK:
        raise Unavailable("the database is not up", what="database")
    try:
        with session(settings, Role.OPERATOR) as connection:
            yield connection
    except psycopg.Error as problem:
        raise Unavailable(str(problem).strip().splitlines()[0], what="database") from None


def _unseen(name: str, problem: CutterError) -> Check:
    return Check(name=name, verdict=Verdict.OFF, found=first_line(problem), remedy=remedy_of(problem, "cutter up"))


def policy(settings: Settings) -> Check:
    """Checks that the effect policy can be read. `off` if no policy was ever installed."""
    try:
        with _asked(settings) as connection:
            current_policy = effect_policy.in_force(connection)
    except Unavailable as problem:
        return _unseen("policy", problem)
    if isinstance(current_policy, EffectPolicy):
        return Check(
            name="policy",
            verdict=Verdict.OK,
            found=f"{len(current_policy.rules)} rules, sha256 {current_policy.sha256[:16]}",
        )
    if current_policy is effect_policy.NONE:
        return Check(name="policy", verdict=Verdict.OFF, found="none is installed", remedy="cutter policy install")
    return Check(
        name="policy",
        verdict=Verdict.BAD,
        found=str(current_policy.problems[0]),
        remedy="cutter policy check --current",
    )


def approvers(settings: Settings) -> Check:
    """Checks that somebody may approve the runs that this user starts. `off` if the database is off."""
    if database(settings).verdict is not Verdict.OK:
        return Check(name="approvers", verdict=Verdict.OFF, found="the database is not up", remedy="cutter up")
    from starter.approver import signing_desk

    try:
        policy = signing_desk.policy_in_force(settings)
    except NotFound:
        remedy = "cutter approvers init --approver NAME=KEY.asc"
        return Check(
            name="approvers", verdict=Verdict.BAD, found="no policy is installed: nobody may sign", remedy=remedy
        )
    except CutterError as problem:
        return Check(name="approvers", verdict=Verdict.BAD, found=str(problem), remedy="cutter approvers show")
    try:
        for approver in policy.approvers:
            approver_store.public_key(settings.approvers, approver)
    except CutterError as problem:
        remedy = "copy the folder of approvers here again from the machine on which the epoch was made"
        return Check(name="approvers", verdict=Verdict.BAD, found=str(problem), remedy=remedy)
    names = sorted({approver.name for approver in policy.approvers})
    me = getpass.getuser()
    if set(names) <= {me}:
        description = f"only {me} may sign, and nobody may approve a run that they started"
        add = "cutter approvers propose --approver NAME=KEY.asc"
        remedy = f"`{add}`, or let another user start the runs"
        return Check(name="approvers", verdict=Verdict.BAD, found=description, remedy=remedy, then=add)
    return Check(name="approvers", verdict=Verdict.OK, found=", ".join(names))


def writable(settings: Settings) -> Check:
    """Checks that the deployment's folders can be written. It makes nothing in them."""
    wrong = [str(folder) for folder in _folders(settings) if not folders.is_writable(folder)]
    if wrong:
        remedy = "make them writable for this user, or set CUTTER_STATE_DIR"
        return Check(name="folders", verdict=Verdict.BAD, found=f"cannot write in {', '.join(wrong)}", remedy=remedy)
    return Check(name="folders", verdict=Verdict.OK, found=f"writable, {settings.state}")


def _folders(settings: Settings) -> list[Path]:
    """The folders to which commands and workers write, if they are on this machine."""
    stores = [
        Path(url.removeprefix("file://")) for url in (settings.kb, settings.artifacts) if url.startswith("file://")
    ]
    return list(dict.fromkeys([settings.state, settings.runs, settings.batches, settings.approvers, *stores]))


def disk(settings: Settings) -> Check:
    free = supervisor.free_bytes(settings.state)
    good = free >= limits.DISK_FREE_MIN_BYTES
    needed = limits.DISK_FREE_MIN_BYTES // limits.MIB
    remedy = "" if good else f"make room: {needed} MiB are needed, or set CUTTER_STATE_DIR"
    return Check(
        name="disk", verdict=_good(good), found=f"{free // limits.MIB} MiB free for {settings.state}", remedy=remedy
    )


def keys(settings: Settings) -> Check:
    missing = [name for name in KEYS if not (settings.keys / name).is_dir()]
    if not missing:
        return _separation(settings) or Check(
            name="keys", verdict=Verdict.OK, found=f"{', '.join(KEYS)} in {settings.keys}"
        )
    remedy = "`cutter up` makes throw-away keys; for real ones set CUTTER_KEYS_DIR"
    verdict = Verdict.OFF if len(missing) == len(KEYS) else Verdict.BAD
    return Check(name="keys", verdict=verdict, found=f"missing: {', '.join(missing)}", remedy=remedy, then="cutter up")


def _separation(settings: Settings) -> Check | None:
    """The mistake if a worker can sign as another worker. None if no worker can."""
    for home, other in key_homes.shared(settings.keys):
        description = f"{home} and {other} in {settings.keys} hold the same private key"
        return Check(name="keys", verdict=Verdict.BAD, found=description, remedy="give each worker a key of its own")
    for role in WorkerRole:
        others = key_homes.foreign(workers.handed_keys(settings, role), role)
        if others:
            description = f"the {role} worker was given {', '.join(others)} too"
            remedy = "`cutter down`, then `cutter up`"
            return Check(name="keys", verdict=Verdict.BAD, found=description, remedy=remedy, then="cutter down")
    return None


def _good(good: bool) -> Verdict:
    return Verdict.OK if good else Verdict.BAD
