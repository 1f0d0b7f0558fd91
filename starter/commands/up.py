"""Orchestration: the servers: `cutter up` and `cutter down` start and stop the parts of the local stack in order.

`cutter migrate` installs schema, functions, grants and the drift baseline in any database.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from time import monotonic, sleep
from typing import Annotated, Any, TypeVar

import typer
from psycopg.conninfo import conninfo_to_dict

from cutter import limits
from cutter.catalogue import Role
from cutter.domain.amounts import counted
from cutter.errors import InvalidInput, Refused, Unavailable
from cutter.policy.rules_file import shipped
from cutter.settings import Settings, load
from cutter.stack import postgres, processes, supervisor, temporal, workers
from cutter.stack.addresses import DEMO, temporal_address, ui_url
from cutter.stack.processes import last_line
from cutter.stack.supervisor import Service
from cutter.storage import migrate as storage
from cutter.storage import policies, roles
from cutter.storage.policies import EPOCH
from cutter.storage.pools import session
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, progress, say, show, table

Answer = TypeVar("Answer")
Say = Callable[[str], None]


def up(as_json: AsJson = False) -> None:
    """Start the local stack: database, Temporal, three workers. Parts that already run stay as they are.

    Example: cutter up
    """
    settings = load()
    with progress("starting") as status:
        services = start(settings, status)
    other = workers.differing(settings)
    if other:
        say(f"the running workers have other settings: {'; '.join(other)}: type `cutter down`, then `cutter up`")
    for service in services:
        if service.note not in ("", "started"):
            say(f"{service.name} {service.note}")
    rows: list[dict[str, Any]] = [
        {"name": service.name, "address": service.address, "version": service.version, "pid": service.process.pid,
         "how": service.how, "note": service.note}
        for service in services
    ]  # fmt: skip
    ui = ui_url(settings)
    if ui is not None:
        rows.append({"name": "web ui", "address": ui, "version": "", "pid": None, "how": "temporal", "note": ""})
    columns = ("name", "address", "version", "pid", "how")
    step = "cutter down"
    if not other:
        with session(settings, Role.OPERATOR) as connection:
            named = EPOCH.first(connection) is not None
        # The approvers come first, because nobody may sign without them.
        step = "cutter inbox" if named else "cutter approvers init --approver NAME=KEY.asc"
    address = temporal_address(settings)
    show(
        {"services": rows, "temporal_address": address, "ui": ui, "other_settings": other, "next": step},
        as_json=as_json,
        render=lambda console: console.print(
            table(("what", "address", "version", "pid", "how"), [[row[key] or "" for key in columns] for row in rows])
        ),
    )
    if not as_json:
        say(f"next: {step}")


def down(
    drain: bool = typer.Option(False, "--drain", help="Let the workers finish what they run, up to the longest cap."),
    as_json: AsJson = False,
) -> None:
    """Stop only what `cutter up` started or a demo left running. Data stays.

    Example: cutter down --drain
    """
    settings = load()
    with progress("stopping") as status:
        stopped = stop(settings, status, drain=drain)
        demo = settings.model_copy(update={"state_dir": settings.state / DEMO})
        if supervisor.read(demo.state):
            stopped += [f"the demo's {name}" for name in stop(demo, status)]
    sentence = f"stopped: {', '.join(stopped)}" if stopped else f"nothing was running in {settings.state}"
    show(
        {"stopped": stopped, "state_dir": str(settings.state)},
        as_json=as_json,
        render=lambda console: console.print(sentence, soft_wrap=True),
    )


def start(settings: Settings, status: Say) -> list[Service]:
    """Start all parts in order, and wait until they are ready. A second call starts only the parts that died. Raises
    Unavailable.
    """
    # Only the owner may read the stack's passwords, keys, logs and data, whatever the shell's umask is.
    before = os.umask(0o077)
    try:
        return _start(settings, status)
    finally:
        os.umask(before)


def _start(settings: Settings, status: Say) -> list[Service]:
    # These imports are here and not above, because `cutter down` needs no driver of Temporal.
    from starter.commands import reconcile
    from starter.commands.keys import ensure_throwaway_keys, refuse_elsewhere

    refuse_elsewhere(settings)
    if settings.versioning == "pinned":
        raise Refused(
            "the local stack has workers of one build: unset CUTTER_VERSIONING, or start the workers of each build by "
            "hand (docs/runbooks/upgrade.md)",
            code="pinned_builds",
        )
    state_dir = settings.state
    supervisor.make_writable(state_dir)
    with supervisor.only_one(state_dir):
        supervisor.require_disk(state_dir)
        services = []
        if settings.database_url is None:
            status("starting PostgreSQL")
            cluster = postgres.ensure_cluster(state_dir)
            services.append(postgres.service(cluster))
            supervisor.remember(state_dir, services[-1])  # so that `down` knows that `up` started it
            postgres.bootstrap(cluster, settings.secrets)
        status("migrating the database")
        storage.migrate(settings)
        status("making keys")
        ensure_throwaway_keys(settings)
        with session(settings, Role.OPERATOR) as connection:
            # The shipped policy allows every side effect of the product. An existing policy is not changed.
            if policies.in_force(connection) is policies.NONE:
                policies.install(connection, shipped())
                say("installed the shipped effect policy; `cutter policy explain` shows its rules")
        services += _start_temporal(settings, status)
        ask = partial(_answered, settings, status)
        status("registering search attributes")
        ask(lambda: reconcile.ensure_attributes_or_say(settings))
        status("starting the workers")
        database = settings.database_url or (state_dir / "postgres.url").read_text(encoding="ascii").strip()
        given = f"{database} {temporal_address(settings)} {settings.temporal_namespace}"
        services += workers.ensure_workers(settings, given=given)
        status("scheduling the reconciler")
        ask(lambda: reconcile.ensure_schedule(settings))
        return services


def _answered(settings: Settings, status: Say, step: Callable[[], Answer]) -> Answer:
    """The step's answer. If a server was killed or met a full disk, the step is tried again until the server serves.

    A local server that does not serve within half of the time is started again once: its data is on disk.
    """
    began, restarted = monotonic(), False
    while True:
        try:
            return step()
        except Unavailable as problem:
            waited = monotonic() - began
            if problem.what != "temporal" or waited > limits.TEMPORAL_START_SECONDS:
                log, tail = temporal.log_file(settings.state), ""
                if problem.what == "temporal" and log.exists():
                    tail = f"; its log says: {last_line(log)} (whole log: {log})"
                unavailable = Unavailable(f"{problem}{tail}", what=problem.what, code=problem.code)
                raise unavailable.leads_to(problem.then) from None
            if not restarted and waited > limits.TEMPORAL_START_SECONDS / 2:
                restarted = True
                temporal.stop_server(settings.state)
                _start_temporal(settings, status)
            status("waiting for Temporal to answer")
            # The time between two questions to a Temporal server that does not answer yet.
            sleep(1.0)


def stop(settings: Settings, status: Say, *, drain: bool = False) -> list[str]:
    """Stop the recorded processes, the last started first. Returns the names of those that were running."""
    state_dir = settings.state
    if not state_dir.exists():
        return []
    with supervisor.only_one(state_dir):
        status("stopping the workers")
        stopped = workers.stop_workers(state_dir, drain=drain)
        status("stopping Temporal")
        if temporal.stop_server(state_dir):
            stopped.append(temporal.NAME)
        status("stopping PostgreSQL")
        if postgres.NAME in supervisor.read(state_dir):
            if postgres.stop_cluster(state_dir):
                stopped.append(postgres.NAME)
            supervisor.forget(state_dir, postgres.NAME)
        processes.stop_agents(state_dir)
        return stopped


def _start_temporal(settings: Settings, status: Say) -> list[Service]:
    status("looking for a Temporal server")
    server = temporal.resolve(address=settings.temporal_address)
    if server.address is not None:
        return []
    status("starting Temporal")
    return [temporal.ensure_server(settings, server)]


NAMES_MAX = 12


def migrate(
    check: Annotated[bool, typer.Option("--check", help="Only say what is missing; exit 1 when something is.")] = False,
    bootstrap: Annotated[
        str | None,
        typer.Option(help="First make roles and databases: a superuser's URL without password (that is PGPASSWORD)"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring the database to this version's schema; a second call does nothing.

    Example: PGPASSWORD=… cutter migrate --bootstrap postgresql://postgres@127.0.0.1:5433/postgres
    """
    settings = load()
    if check:
        missing = storage.check(settings)
        answer: dict[str, Any] = {"missing": missing}
        if missing:
            step = "cutter migrate"
            message = f"{counted(len(missing), 'file')} of the schema not applied: type `{step}`"
            answer = as_failure(answer, code="migrations_missing", message=message, next_command=step)
        show(
            answer,
            as_json=as_json,
            render=lambda out: out.print(f"missing: {_names(missing)}" if missing else "nothing is missing"),
        )
        end(ExitCode.FAILED if missing else ExitCode.DONE)
        return
    if bootstrap is not None:
        if conninfo_to_dict(bootstrap).get("password"):
            raise InvalidInput("--bootstrap: leave the password out of the URL, others can read it; set PGPASSWORD")
        renewed = roles.bootstrap(bootstrap, settings.secrets)
        if renewed:
            say(f"new passwords of {', '.join(renewed)} in {settings.secrets}: copy each file to the hosts of its role")
    done = storage.migrate(settings)
    show(
        {"version": done.version, "applied": done.applied, "dropped": done.dropped},
        as_json=as_json,
        render=lambda out: out.print(
            f"schema version {done.version}; applied: {_names(done.applied) or 'nothing new'}"
            + (f"; dropped: {_names(done.dropped)}" if done.dropped else "")
        ),
    )


def _names(files: tuple[str, ...]) -> str:
    """The names, or only their number if they would fill the terminal. A fresh database gets about two hundred
    files.
    """
    return ", ".join(files) if len(files) <= NAMES_MAX else counted(len(files), "file")
