"""Orchestration: the later parts of `cutter demo`: a batch of laws, approved in one signing session a gate, and an
amended law that takes effect later.
"""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import uuid_utils
from rich.console import Console

from cutter import sources
from cutter.catalogue import Role
from cutter.domain.visible import visible_line
from cutter.errors import InvalidInput, NotFound, Refused
from cutter.law.law_text import LawText
from cutter.law.views import Comparison, compare
from cutter.messages import BatchResult
from cutter.projections import run_folder
from cutter.projections.batch_summary import ShownBatch
from cutter.settings import Settings
from cutter.storage import batches as batch_rows
from cutter.storage import enacted_law
from cutter.storage.batches import Options
from cutter.storage.pools import session
from cutter.storage.runs import caps_of
from cutter.types import Json
from starter.approver import signing_session
from starter.approver.signing_desk import Signing
from starter.approver.signing_session import Ask
from starter.commands import law
from starter.console.terminal import Listing, line, plain, progress, quoted, say
from starter.operator import batch_status
from starter.operator.batch_outcome import until_people_or_end
from temporal import batches, runs
from temporal.client import connect

OPTIONS = {"duplicates": "ordinal", "empty": "heading_only", "max_candidates": 1000}

PROFILES = (("vn-", "vietnamese-law"), ("us-code-", "us-code-style"), ("eu-", "eu-regulation"))
"""Profiles by the part of a file's name that gives its form. The model laws have their language before the suffix."""

DONE = ("enacted", "rehearsed", "skipped")


def profile_of(name: str) -> str:
    """The profile that fits a law, by the name of its file."""
    if name.endswith(".vi.md"):
        return "vietnamese-law"
    return next((profile for begin, profile in PROFILES if name.startswith(begin)), "generic-markdown")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoBatch:
    """The demo's batch after its end.

    `laws` maps each document to its law's file, and `not_registered` the file of a law to the reason why it was not
    registered. `report` is the path of the batch's report.
    """

    view: ShownBatch
    laws: Mapping[str, str]
    not_registered: Mapping[str, str]
    report: str

    def as_json(self) -> Json:
        """The batch for the answer of `cutter demo`."""
        shown = ("document_id", "shown", "state", "queue", "reason")
        documents = [
            {**{name: getattr(line, name) for name in shown}, "commands": list(line.commands),
             "law": self.laws[line.document_id]}
            for line in self.view.documents
        ]  # fmt: skip
        return {
            "batch_id": self.view.batch_id, "state": self.view.state, "totals": dict(self.view.totals),
            "documents": documents, "not_registered": dict(self.not_registered), "report": self.report,
            "next": self.view.next,
        }  # fmt: skip


def play(settings: Settings, signer: Signing, laws: Sequence[Path]) -> DemoBatch:
    """Register the laws, run them as a batch and sign its requests, until the batch has ended."""
    names, refused = _registered(settings, laws)
    # The queue is as a person would write it, and starts as `cutter orchestrate batch --quarantine` does.
    lines = [
        "schema_version: 1", f"batch_id: {uuid_utils.uuid7()}", "created_by: demo",
        f'created_utc: "{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"', "default_scope: enacted_only", "items:",
        *(f"- document_id: {name}" for name in names),
    ]  # fmt: skip
    data, options = ("\n".join(lines) + "\n").encode(), Options(policy="quarantine")
    with session(settings, Role.OPERATOR) as connection:
        admission = batch_rows.admit(connection, data, options)
        caps = asdict(caps_of(settings))
        batch_id, _ = batch_rows.register(connection, admission, options, run_caps=caps, starter=getpass.getuser())
    batches.keep_queue(settings, batch_id, data)
    asyncio.run(_start(settings, batch_id))
    say(f"batch {batch_id}: {len(names)} documents, set aside what fails (--quarantine)")
    _through(settings, batch_id, signer)
    return DemoBatch(
        view=batch_status.look(settings, batch_id), laws=names, not_registered=refused,
        report=str(run_folder.find_batch(settings.batches, batch_id) / "report.html"),
    )  # fmt: skip


def _registered(settings: Settings, laws: Sequence[Path]) -> tuple[dict[str, str], dict[str, str]]:
    """(Document id → file name, file name → why it was not registered)."""
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names, refused = {}, {}
    for number, file in enumerate(laws, start=1):
        document_id = f"ICX-DEMO-{stamp}-{number}"
        try:
            sources.register(settings, file.read_bytes(), document_id=document_id, docprefix=document_id,
                            profile=profile_of(file.name), options=OPTIONS)  # fmt: skip
            names[document_id] = file.name
        except InvalidInput as problem:
            refused[file.name] = str(problem)
    if not names:
        raise InvalidInput("none of the laws can be registered: " + "; ".join(refused.values()))
    return names, refused


async def _start(settings: Settings, batch_id: str) -> None:
    await batches.start(await connect(settings), batch_id, "demo")


def _through(settings: Settings, batch_id: str, signer: Signing) -> None:
    """Hold a signing session whenever the batch waits for people, until its workflow has ended."""
    while True:
        view = until_people_or_end(settings, batch_id)
        if view.over:
            break
        try:
            answer = signing_session.hold(settings, batch_id, signer, only=(), ask=Ask.NOBODY)
        except NotFound:
            continue  # the batch waited a moment ago and has continued
        if answer["status"] != signing_session.ACCEPTED:
            raise Refused(
                "the demo's batch refused what was signed: see", then=f"cutter status {batch_id}", code="refused"
            )
        say(f"one signing session: {answer['signed']} documents, one signature")

    async def ended() -> None:
        """The workflow ends only after its folder is written."""
        client = await connect(settings)
        await runs.result_of(client.get_workflow_handle(f"batch/{batch_id}"), BatchResult)

    with progress("writing the report") as _:
        asyncio.run(ended())


def show(batch: DemoBatch, console: Console) -> None:
    """Print one line for each document, with queue and reason if it failed, and the report."""
    view = batch.view
    rows = [(each.document_id, batch.laws[each.document_id], each.shown, each.queue or "") for each in view.documents]
    console.print(Listing(columns=("document", "law", "outcome", "queue"), rows=rows,
                          title=f"\nbatch {view.batch_id}"))  # fmt: skip
    for each in view.documents:
        if each.shown not in DONE:
            console.print(f"\n{each.document_id} {each.state}: {visible_line(str(each.reason))}", soft_wrap=True)
            for command in each.commands:
                console.print(f"  {command}", soft_wrap=True)
    for name, reason in batch.not_registered.items():
        console.print(f"\n{name} was not registered: {visible_line(str(reason))}", soft_wrap=True)
    counts = " · ".join(f"{name} {count}" for name, count in view.totals.items())
    console.print(f"\nbatch state: {view.state} · {counts}", soft_wrap=True)
    console.print(f"report: {batch.report}", soft_wrap=True)


DAYS_AHEAD = 30
"""So many days after the demo the amended law takes effect, so that both versions can be asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A law with its amended version, as people read both.

    `unit` is the address of the shortest revised unit. `versions` and `days` have two entries: the text in force on the
    day of the demo, and the text that follows.
    """

    document: str
    run_id: str
    unit: str
    comparison: Comparison
    versions: tuple[LawText, LawText]
    days: tuple[date, date]

    def as_json(self) -> Json:
        """The fields that are plain values, for the answer of `cutter demo`."""
        versions = [
            {"version": text.version.version, "effective_from": str(text.version.effective_from)}
            for text in self.versions
        ]
        return {
            "document": self.document, "run_id": self.run_id, "counts": self.comparison.counts, "versions": versions,
        }  # fmt: skip


def registered(settings: Settings, document_id: str, first: Path) -> date | None:
    """Register the next version of the law with the day of its effect; None if the folder has no amended text."""
    amended = first.parent / "amended" / first.name
    if not amended.is_file():
        return None
    day = datetime.now(UTC).date() + timedelta(days=DAYS_AHEAD)
    sources.register(
        settings, amended.read_bytes(), document_id=document_id, docprefix=document_id,
        profile=profile_of(amended.name), options=OPTIONS, effective=day,
    )  # fmt: skip
    say(f"registered {document_id}: amended/{amended.name}, as `cutter source add --effective {day}` does")
    return day


def looked_at(settings: Settings, document_id: str, run_id: str, day: date) -> Amendment:
    """Read both versions as the commands of `cutter law` do."""
    with session(settings, Role.OPERATOR) as connection:
        known = enacted_law.versions(connection, document_id)
        old, new = (enacted_law.text_of(connection, version) for version in known)
    comparison = compare(old.units, new.units)
    revised = [change.unit for change in comparison.different if change.change == "revised"]
    unit = min(revised, key=lambda unit: unit.words).address
    return Amendment(
        document=document_id, run_id=run_id, unit=unit, comparison=comparison, versions=(old, new),
        days=(datetime.now(UTC).date(), day),
    )  # fmt: skip


def show_amendment(amendment: Amendment, console: Console) -> None:
    """The word diff, and the law on both days; each below the command that shows it."""
    document, name = amendment.document, amendment.unit.partition("/")[2]
    old, new = amendment.versions
    console.print()
    console.print(line(f"amended law {document}", "bold"), soft_wrap=True)
    console.print(line(f"$ cutter law diff {document}", "dim"), soft_wrap=True)
    law.print_comparison(console, old.version, new.version, amendment.comparison)
    for day, text in zip(amendment.days, amendment.versions, strict=True):
        console.print()
        console.print(line(f"$ cutter law show {document} {name} --at {day}", "dim"), soft_wrap=True)
        revised = next(unit for unit in text.units if unit.address == amendment.unit)
        console.print(quoted(plain(revised.body.rstrip("\n"))))
        console.print(line(f"$ cutter law tree {document} --at {day}", "dim"), soft_wrap=True)
        top = ", ".join(unit.title for depth, unit in text.outline() if depth == 0)
        console.print(line(f"{len(text.units)} units: {top}"))
