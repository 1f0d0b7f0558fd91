"""IO: `cutter audit export` writes the append-only events to a file, which `cutter verify` checks offline, and
`cutter transitions export` writes all transitions of the database as one stream.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from time import sleep
from typing import Annotated, Any, TextIO

import typer
from psycopg import Connection, IsolationLevel

from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import NotFound
from cutter.evidence import audit
from cutter.limits import TRANSITIONS_PAUSE_SECONDS
from cutter.projections.transitions_corpus import Follower, gathered
from cutter.settings import Settings, load
from cutter.storage import private
from cutter.storage import runs as run_rows
from cutter.storage.pools import session
from cutter.storage.records import records
from starter.commands.options import OUT, Out
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, output, say, show, table

app = typer.Typer(help="The audit chain.", no_args_is_help=True, add_completion=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """An event of a chain as it is stored."""

    chain: str
    seq: int
    kind: str
    body: str
    prev_hash: str
    hash: str


EVENTS = records("audit_events", AuditEvent)


@app.command()
def export(
    out: Annotated[Path, OUT],
    run: Annotated[str | None, typer.Option(help="One run, or a document's newest; default: all")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the audit events of one run or of all, and print the head to keep elsewhere.

    Example: cutter audit export --run ICX-LAW-2026-001 --out audit.jsonl
    """
    settings = load()
    data = exported(settings, run_rows.run_id_of(settings, run) if run else None)
    with output(out):
        private.write(out, data)
    checked = audit.verify(data)
    answer = {
        "file": str(out),
        "sha256": sha256_hex(data),
        "events": checked.events,
        "chains": checked.chains,
        "head": checked.head,
        "next": f"cutter verify {out} --head {checked.head}",
    }
    show(answer, as_json=as_json, render=lambda console: console.print(table(("field", "value"), list(answer.items()))))


def exported(settings: Settings, run_id: str | None) -> bytes:
    """The export's bytes; NotFound when there is no event."""
    with session(settings, Role.OPERATOR) as connection:
        events = EVENTS.all(connection, {"chain": run_id})
    if not events:
        raise NotFound(f"no audit events{f' of {run_id}' if run_id else ''}: see", then="cutter status")
    return audit.export(asdict(event) for event in events)


def verify(file: Path, head: str | None, *, as_json: bool) -> None:
    """Check an export offline and print what is wrong. Exit code 1 if anything is."""
    checked = audit.verify(file.read_bytes(), head=head)
    answer = {
        "intact": not checked.problems,
        "problems": list(checked.problems),
        "events": checked.events,
        "chains": checked.chains,
        "head": checked.head,
        "anchored": checked.anchored,
        "not_checked": list(checked.unchecked),
    }
    if checked.problems:
        answer = as_failure(answer, code="audit_broken", message=str(checked.problems[0]))
    rows = [
        ("intact", "NO" if checked.problems else "yes"),
        *(("problem", problem) for problem in checked.problems),
        ("events", f"{checked.events} in {checked.chains} chains"),
        ("head", checked.head),
        ("anchored", checked.anchored),
        *(("NOT CHECKED", text) for text in checked.unchecked),
    ]
    show(answer, as_json=as_json, render=lambda console: console.print(table(("", ""), rows)))
    end(ExitCode.FAILED if checked.problems else ExitCode.DONE)


transitions_app = typer.Typer(
    help="Files of transitions (transitions.jsonl).", no_args_is_help=True, add_completion=False
)


@transitions_app.command("export")
def export_transitions(
    out: Out = None,
    follow: Annotated[bool, typer.Option("--follow", help="Continue with new transitions until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write every transition of all runs, batches, tasks and workers as one stream, in the order of time.

    It goes to standard output without --out. Each line is one JSON object. The stream is one snapshot of the database.
    It is sorted on disk, so memory does not grow with the database. With --follow, each later transition follows when
    no earlier one can come.

    Example: cutter transitions export --out transitions.jsonl
    """
    settings, count = load(), 0
    if follow:
        with closing(Follower()) as follower, _target(out) as stream:
            while True:
                with _snapshot(settings) as connection:
                    stream.writelines(f"{line}\n" for line in follower.look(connection))
                stream.flush()
                sleep(TRANSITIONS_PAUSE_SECONDS)
    with _snapshot(settings) as connection:
        spool = gathered(connection)
    with closing(spool), _target(out) as stream:
        for line in spool.ordered():
            count += stream.write(f"{line}\n") > 0
    if out is None:
        return  # the stream itself is JSON lines
    check = f"cutter verify {out}"
    answer = {"transitions": count, "out": str(out), "next": check}
    show(answer, as_json=as_json, render=lambda _: say(f"{count} transitions in {out}; to check them: {check}"))


@contextmanager
def _snapshot(settings: Settings) -> Iterator[Connection[Any]]:
    with session(settings, Role.OPERATOR) as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            yield connection


@contextmanager
def _target(out: Path | None) -> Iterator[TextIO]:
    with output(out), nullcontext(sys.stdout) if out is None else out.open("w", encoding="utf-8") as stream:
        yield stream
