"""IO: the pages of `cutter desk` about work: the inbox, requests, runs, batches and queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import RedirectResponse

from cutter import limits
from cutter.approvals.policy_file import parse_policy
from cutter.catalogue import GATES, Role
from cutter.domain import ids
from cutter.errors import NotFound
from cutter.projections import batch_report, desk_pages, report, request_page
from cutter.projections.batch_view import batch_view
from cutter.projections.desk_pages import Part, address, bar, part_of
from cutter.request_view.forms import request_record
from cutter.storage import batch_views
from cutter.storage import runs as run_rows
from cutter.storage.policies import EPOCH
from starter.approver import signing_desk
from starter.desk.answers import answer, forms, place_of, reader_of
from starter.operator import inbox_entries, request_state, run_status
from starter.operator.batch_status import newest_batches
from starter.operator.inbox_entries import HostRepair, InboxEntry
from starter.operator.pinned_law import read_pinned_law

router = APIRouter(tags=["work"])

View = dict[str, Any]
PartNumber = Annotated[int, Query(ge=1, description="Part of a long page")]

WAITING = "Requests to sign and stopped runs, the longest waiting first. Type the command on your own machine."
ASKING = "Requests that wait for signatures, the oldest first. Read one, then type its command on your own machine."


@router.get("/", include_in_schema=False)
def first(request: Request) -> Response:
    """The inbox."""
    return RedirectResponse("/inbox.json" if request.state.json else "/inbox")


@router.get("/inbox", responses=forms())
def inbox(request: Request, part: PartNumber = 1) -> Response:
    """The requests and stopped runs that wait for people."""
    with reader_of(request).moment() as connection:
        blocked = inbox_entries.blocked(connection)
    return _waiting(request, part, "Inbox", WAITING, _inbox(request), blocked=blocked)


@router.get("/requests", responses=forms())
def requests(request: Request, part: PartNumber = 1) -> Response:
    """The open requests."""
    return _waiting(request, part, "Requests", ASKING, [row for row in _inbox(request) if row.gate])


@router.get("/requests/{run}", responses=forms())
def one_request(request: Request, run: str) -> Response:
    """A run's open request, else its newest one, built again from the pinned text: `cutter request` shows the same."""
    reader = reader_of(request)
    with reader.moment() as connection:
        run_id = run_rows.run_meant(connection, run)
    document, _, view = signing_desk.read_view(reader.settings, run_id, role=Role.DESK)
    over = request_state.over(reader.settings, run_id, role=Role.DESK)
    return answer(request, lambda: request_record(document, view), lambda: request_page.render(
        document, view, over=over, bar=bar(place_of(request))))  # fmt: skip


@router.get("/runs", responses=forms())
def runs(request: Request, part: PartNumber = 1) -> Response:
    """The run that stands for each document, the newest first."""
    with reader_of(request).moment() as connection:
        rows = run_status.newest_runs(connection)
    return _listed(request, "runs", "Runs", {"runs": [row.as_json() for row in rows]}, rows, part, gates=len(GATES))


@router.get("/runs/{run}", responses=forms())
def one_run(request: Request, run: str) -> Response:
    """A run with its signatures, findings, units and record: `cutter report` shows the same."""
    reader = reader_of(request)
    with reader.moment() as connection:
        run_id = run_rows.run_meant(connection, run)
        view = run_status.view_of(reader.settings, connection, run_id)
        law = None if request.state.json else read_pinned_law(connection, run_id)
    return answer(request, view.as_json, lambda: report.render(view, law or report.NO_LAW, bar=bar(place_of(request))))


@router.get("/batches", responses=forms())
def batches(request: Request, part: PartNumber = 1) -> Response:
    """All batches, the newest first."""
    with reader_of(request).moment() as connection:
        rows = newest_batches(connection, ended=True)
    return _listed(request, "batches", "Batches", {"batches": [asdict(row) for row in rows]}, rows, part)


@router.get("/batches/{batch}", responses=forms())
def one_batch(request: Request, batch: str) -> Response:
    """A batch with its timeline, documents, queues and signatures: `cutter report` shows the same."""
    with reader_of(request).moment() as connection:
        view = batch_view(batch_views.shown_facts(connection, ids.batch_id(batch)))
    return answer(request, view.as_json, lambda: batch_report.render(view, bar=bar(place_of(request))))


@router.get("/queues", responses=forms())
def queues(request: Request, part: PartNumber = 1) -> Response:
    """The documents in the error, quarantine and human review queues, the longest waiting first."""
    with reader_of(request).moment() as connection:
        rows = inbox_entries.queue_entries(reader_of(request).settings, connection)
    return _listed(request, "queues", "Queues", {"waiting": [asdict(row) for row in rows]}, rows, part)


@router.get("/queues/{run}", responses=forms())
def one_entry(request: Request, run: str) -> Response:
    """The document about one run in a queue, and the commands that continue the run."""
    with reader_of(request).moment() as connection:
        run_id = run_rows.run_meant(connection, run)
        entries = inbox_entries.queue_entries(reader_of(request).settings, connection, run_id=run_id)
        if not entries:
            raise NotFound(f"{run_id} is in no queue: see", then=f"cutter status {run_id}", code="NOT_QUEUED")
        entry = {**asdict(entries[-1]), "document": inbox_entries.queue_document(connection, entries[-1].kb_id)}
    return answer(request, lambda: entry, lambda: desk_pages.page(
        "queue_entry", place_of(request), title=f"{entry['document_id']} in a queue", entry=entry))  # fmt: skip


def _inbox(request: Request) -> list[InboxEntry]:
    """The entries, as the approver of the user's name sees them if the policy in force has one."""
    user, person = request.state.user, None
    with reader_of(request).moment() as connection:
        epoch = EPOCH.first(connection) if user else None
        if epoch is not None:
            policy = parse_policy(epoch.body.encode())
            approver = next((approver for approver in policy.approvers if approver.name == user), None)
            person = (policy, approver) if approver else None
        return inbox_entries.entries(connection, person)


def _waiting(
    request: Request, part: int, title: str, intro: str, rows: list[InboxEntry], blocked: list[HostRepair] | None = None
) -> Response:
    """Entries of the inbox as a list. A list of requests alone has no `blocked`."""
    more = {} if blocked is None else {"blocked": [asdict(repair) for repair in blocked]}
    value = {"waiting": [asdict(row) for row in rows], **more}
    return _listed(request, "inbox", title, value, rows, part, intro=intro, **more)


def _listed(
    request: Request, name: str, title: str, value: View, rows: Sequence[Any], number: int, **more: Any
) -> Response:
    """A list as a page of at most DESK_ROWS rows; as JSON it is whole."""
    part: Part = part_of(
        [1] * len(rows), number, limits.DESK_ROWS, lambda n: address(*place_of(request).section.split("/")[1:], part=n)
    )
    return answer(request, lambda: value, lambda: desk_pages.page(
        name, place_of(request), title=title, rows=part.of(rows), part=part, **more))  # fmt: skip
