"""IO: `cutter audit export` writes the append-only events to a file, and `cutter verify` checks one offline."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import NotFound
from cutter.evidence import audit
from cutter.settings import Settings, load
from cutter.storage import private
from cutter.storage import runs as run_rows
from cutter.storage.pools import session
from cutter.storage.records import records
from starter.commands.options import OUT
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, output, show, table

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
