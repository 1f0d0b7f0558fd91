"""IO: `cutter migrate`: installs schema, functions, the roles' grants and the drift baseline."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from psycopg.conninfo import conninfo_to_dict

from cutter.domain.amounts import counted
from cutter.errors import InvalidInput
from cutter.settings import load
from cutter.storage import migrate as storage
from cutter.storage import roles as roles
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, say, show

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
