"""IO: `cutter tenants`: shows and sets the caps and the weight of each tenant, and shows what it uses."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from psycopg.types.json import Jsonb
from rich.console import RenderableType

from cutter.catalogue import Role
from cutter.domain import tenants as words
from cutter.domain.tenants import Room, TenantRooms
from cutter.errors import InvalidInput
from cutter.settings import Settings, load
from cutter.storage.pools import session
from cutter.storage.records import Rows, records, values
from starter.console.terminal import AsJson, Listing, fields, show

View = dict[str, Any]

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant(TenantRooms):
    """A tenant with the number of its documents."""

    documents: int

    @classmethod
    def of_row(cls, tenant: str, documents: int, document: View, batch: View) -> Tenant:
        """A row of the query `tenants`."""
        return cls(tenant=tenant, documents=documents, document=Room.of(document), batch=Room.of(batch))


TENANTS = records("tenants", Tenant.of_row)
AT_WORK = records("tenants_at_work", TenantRooms.of)
SEVERAL: Rows[bool] = values("tenants_several")
SET: Rows[View] = values("tenant_set")

NONE = "none"
Cap = Annotated[str | None, typer.Option(help="A number; none removes the cap")]


@app.callback(invoke_without_command=True)
def tenants(context: typer.Context, as_json: AsJson = False) -> None:
    """List the tenants: weight, running runs, runs of the last minute and units in a run, each with its cap.

    Example: cutter tenants
    """
    if context.invoked_subcommand is not None:
        return
    entries = look(load())
    document = {"tenants": [asdict(tenant) for tenant in entries]}
    show(document, as_json=as_json, render=lambda out: out.print(listing(entries), soft_wrap=True))


@app.command("set")
def set_caps(
    name: Annotated[str, typer.Argument(help="The tenant")],
    weight: Cap = None,
    max_concurrency: Cap = None,
    max_runs_per_min: Cap = None,
    max_writes_per_run: Cap = None,
    workflow: Annotated[
        str, typer.Option(help="any, or only for single runs: document, or for runs in batches: batch")
    ] = "any",
    as_json: AsJson = False,
) -> None:
    """Set caps or the weight of a tenant; other values stay. By default a tenant has weight 1 and no cap.

    A run over max_concurrency or max_runs_per_min does not begin: in a batch it waits, and a single run is refused. A
    run over max_writes_per_run fails at IG_cutplan, before anybody is asked to sign. A new weight applies to batches
    that are registered from now on.

    Example: cutter tenants set north --max-concurrency 4 --max-runs-per-min 30 --weight 2
    """
    given = {
        "weight": weight, "max_concurrency": max_concurrency, "max_runs_per_min": max_runs_per_min,
        "max_writes_per_run": max_writes_per_run,
    }  # fmt: skip
    caps = {cap: _number(cap, text) for cap, text in given.items() if text is not None}
    if not words.NAME.fullmatch(name):
        raise InvalidInput(f"{name}: a tenant's name is 1 to 64 of A-Z a-z 0-9 . _ @ -")
    if workflow not in words.WORKFLOWS:
        raise InvalidInput(f"--workflow {workflow}: {', '.join(words.WORKFLOWS)}")
    if not caps:
        raise InvalidInput(f"nothing to set: name at least one of --{', --'.join(given).replace('_', '-')}")
    asked = {"tenant": name, "workflow": workflow, "caps": Jsonb(caps), "by": getpass.getuser()}
    with session(load(), Role.OPERATOR) as connection:
        made = SET.one(connection, asked)
    show(
        made, as_json=as_json, render=lambda out: out.print(fields({**made, "next": "cutter tenants"}), soft_wrap=True)
    )


def look(settings: Settings) -> list[Tenant]:
    """Every tenant that has caps or documents: its room for single runs (`document`) and for runs in batches."""
    with session(settings, Role.OPERATOR) as connection:
        return TENANTS.all(connection)


def apart(settings: Settings) -> list[TenantRooms]:
    """The tenants that `cutter status` shows, if any tenant has its own cap or weight."""
    with session(settings, Role.OPERATOR) as connection:
        if not SEVERAL.one(connection):
            return []
        # The list does not show how many documents a tenant has, and to count them would read all documents.
        return words.shown(AT_WORK.all(connection))


def listing(entries: Sequence[TenantRooms]) -> RenderableType:
    """Tenants as a table."""
    if not entries:
        return "no tenants yet: they come with `cutter source add`"
    return Listing(columns=words.COLUMNS, rows=[words.cells(tenant) for tenant in entries])


def _number(cap: str, text: str) -> int | None:
    if text == NONE:
        return None
    most = words.CAPS[cap]
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:8]) <= most or len(text) > 8:
        raise InvalidInput(f"--{cap.replace('_', '-')} {text}: a number from 1 to {most:,}, or {NONE}")
    return int(text)
