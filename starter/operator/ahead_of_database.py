"""IO: finds what the stores and Temporal have and the database does not, as after a failover that lost transactions.

A run whose row is lost has objects that nobody needs. A run that waits has the objects of steps that it will repeat.
Both would tell a reader of more than happened. They are set aside under names that no rule for ids accepts, and nothing
is deleted. Runs that move are left alone, because an object is stored before the database records it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from temporalio.client import Client

from cutter.backup.artifacts import open_store
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.run_state import RunState
from cutter.errors import NotFound
from cutter.kb import write_once
from cutter.kb.folder import ROOT
from cutter.kb.ids import SIGNATURE_SUFFIX, signature_of
from cutter.kb.store import Store
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.records import records
from temporal import foreign_workflows as foreign
from temporal.executions import every_open

UNKNOWN, OTHER_BYTES = "unknown", "other bytes"
KB, ARTIFACTS = "kb", "artifacts"
COMMAND = "cutter reconcile --set-aside"

_RUN_ID = re.compile(r"ictr-\d{8}T\d{6}Z-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RUN_FOLDER = re.compile(
    rf"{ROOT}/(?P<slug>[^/]+)/v[0-9a-f]{{16}}-automation-cut-\d{{8}}-(?P<mark>\d{{4}}-[0-9a-f]{{12}})/"
)
_PLACES = (f"{ROOT}/", "knowledge/dev/runs/", "knowledge/dev/runs-index/")
_BUNDLE = (".tar", f".tar{SIGNATURE_SUFFIX}")
"""How bundles end. A backup of a known run is left alone: it exists before its gate records it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """A run in the database. `execution_id` is its first execution in Temporal."""

    run_id: str
    document_id: str
    state: str
    execution_id: str | None
    ended: bool

    @property
    def rests(self) -> bool:
        """True if the run waits for people, so that no worker stores an object of it."""
        return not self.ended and (RunState(self.state).stopped or self.state.startswith("awaiting_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedObject:
    """An object that the database has recorded. The digest is None if the object was not yet recorded as put."""

    run_id: str
    name: str
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """An object that the database does not know, or knows with another digest."""

    store: str
    name: str
    why: str


@dataclass(slots=True, kw_only=True)
class RunAhead:
    """The objects of one run. `state` is empty if the database does not know the run."""

    run_id: str
    document: str
    state: str
    objects: list[Ahead] = field(default_factory=list)

    @property
    def command(self) -> str:
        return f"{COMMAND} {self.run_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowAhead:
    """An open workflow whose run the database does not know, with the command that ends it."""

    workflow_id: str
    run_id: str | None
    command: str


RUNS = records("runs_in_the_database", KnownRun)
RECORDED = records("recorded_objects", RecordedObject)


def known_runs(settings: Settings) -> list[KnownRun]:
    """Every run of the database."""
    with session(settings, Role.READ) as connection:
        return RUNS.all(connection)


def runs_ahead(settings: Settings) -> list[RunAhead]:
    """The runs with objects ahead of the database, each with its objects. Raises Unavailable."""
    known = {run.run_id: run for run in known_runs(settings)}
    # For each run that waits, the recorded objects with their digests.
    recorded: dict[str, dict[str, str | None]] = defaultdict(dict)
    with session(settings, Role.READ) as connection:
        for row in RECORDED.all(connection, {"run_ids": [run.run_id for run in known.values() if run.rests]}):
            recorded[row.run_id][row.name] = row.sha256
    stores = _stores(settings)
    by_run: dict[str, RunAhead] = {}
    for store, run_id, document, names in _by_run(stores, known):
        run = known.get(run_id)
        if run is not None and not run.rests:
            continue
        ahead = [Ahead(store=store, name=name, why=UNKNOWN) for name in names]
        if run is not None:
            ahead = _of_known(stores, store, names, recorded[run_id])
        if ahead:
            title = run.document_id if run else document
            run_ahead = by_run.setdefault(
                run_id, RunAhead(run_id=run_id, document=title, state=run.state if run else "")
            )
            run_ahead.document = run_ahead.document or title
            run_ahead.objects += ahead
    return [by_run[name] for name in sorted(by_run)]


async def workflows_ahead(client: Client, known: Sequence[KnownRun]) -> list[WorkflowAhead]:
    """The open workflows whose run the database does not know. Raises Unavailable."""
    run_ids, executions = {run.run_id for run in known}, {run.execution_id for run in known}
    return [
        WorkflowAhead(
            workflow_id=execution.workflow_id, run_id=execution.run_id,
            command=foreign.terminate(client, execution.workflow_id, execution.execution_id, "its run is lost"),
        )
        for execution in await every_open(client)
        if execution.run_id not in run_ids and execution.first_execution_id not in executions
    ]  # fmt: skip


def set_aside(settings: Settings, run_id: str) -> tuple[RunAhead, list[str]]:
    """Move the run's objects that are ahead. Returns them, and their new names. Raises NotFound if there are none."""
    run_ahead = next((run for run in runs_ahead(settings) if run.run_id == run_id), None)
    if run_ahead is None:
        raise NotFound(
            f"no object of {run_id} is ahead of the database:", then="cutter reconcile --stores", rest=" lists them"
        )
    stores = _stores(settings)
    return run_ahead, [write_once.set_aside(stores[each.store], each.name) for each in run_ahead.objects]


def _stores(settings: Settings) -> Mapping[str, Store]:
    return {KB: Store(settings.kb), ARTIFACTS: open_store(settings.artifacts)}


def _by_run(stores: Mapping[str, Store], known: Iterable[str]) -> Iterator[tuple[str, str, str, list[str]]]:
    """(Store, run id, slug of the document, names) of the objects of each run."""
    artifacts: dict[str, list[str]] = defaultdict(list)
    for name in stores[ARTIFACTS].list(""):
        artifacts[name.partition("/")[0]].append(name)
    of_runs = {run_id: names for run_id, names in artifacts.items() if ids.is_run_id(run_id)}
    marks = {_mark(run_id): run_id for run_id in (*of_runs, *known)}
    documents: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in (name for place in _PLACES for name in stores[KB].list(place)):
        documents[_owner(stores[KB], name, marks)].append(name)
    for (run_id, slug), names in documents.items():
        if run_id:
            yield KB, run_id, slug, names
    for run_id, names in of_runs.items():
        yield ARTIFACTS, run_id, "", names


def _owner(kb: Store, name: str, marks: dict[str, str]) -> tuple[str, str]:
    """(Run id, slug) of a document. The first document of a folder that nobody knows gives the run id by its text."""
    folder = _RUN_FOLDER.match(name)
    if folder is None:
        named = _RUN_ID.search(name)
        return (named[0] if named else "", "")
    mark = folder["mark"]
    if mark not in marks:
        run_ids = [
            run_id for run_id in _RUN_ID.findall(kb.get(name).decode("utf-8", "replace")) if _mark(run_id) == mark
        ]
        if not run_ids:
            return "", folder["slug"]
        marks[mark] = run_ids[0]
    return marks[mark], folder["slug"]


def _mark(run_id: str) -> str:
    """What the name of a run's folder has of the run id."""
    return f"{run_id.split('-')[1][9:13]}-{run_id[-12:]}"


def _of_known(
    stores: Mapping[str, Store], store: str, names: list[str], recorded: Mapping[str, str | None]
) -> list[Ahead]:
    """The objects of a run that waits, except the statements of people, which may still be judged."""
    there = set(names)
    if store == KB:
        mine = [name for name in names if not name.endswith(SIGNATURE_SUFFIX) and signature_of(name) not in there]
    else:
        mine = [name for name in names if name.endswith(_BUNDLE)]
    objects = []
    for name in mine:
        base = name.removesuffix(SIGNATURE_SUFFIX)
        if base not in recorded:
            objects.append(Ahead(store=store, name=name, why=UNKNOWN))
        elif base == name and recorded[name] not in (None, write_once.digest(stores[store], name)):
            objects.append(Ahead(store=store, name=name, why=OTHER_BYTES))
    return objects
