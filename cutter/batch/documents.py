"""Pure: the documents that a batch puts into the knowledge base: overviews, queues, the report (seed 001 §4, §10, §11).

Each document is Markdown for people that a program can parse too: fields are `name: value`, evidence is JSON. None
holds law text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cutter.approvals.request import RequestDocument
from cutter.batch import triage, ways
from cutter.batch.batch_step import Summary
from cutter.batch.triage import Triage
from cutter.batch.view import BatchView
from cutter.domain import ids
from cutter.domain.markdown import cell, fenced, prose
from cutter.domain.markdown import code as span
from cutter.domain.timestamps import readable
from cutter.domain.visible import json_visible
from cutter.types import Json

ROOT = "knowledge/dev/batches"
GATE_STEMS = {"SG_cut_authz": "SG1", "SG_lifecycle_authz": "SG2"}
PRE_BATCHED = {gate: f"{stem}-pre-batched-approvals" for gate, stem in GATE_STEMS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLine:
    """An open entry of a queue. `kb_id` names the document about the entry."""

    document_id: str
    queue: str
    state: str
    code: str
    kb_id: str


def folder(batch_id: str) -> str:
    """Folder of a batch in the knowledge base, no slash at its end."""
    return f"{ROOT}/{ids.batch_id(batch_id)}"


def pre_batched(batch_id: str, gate: str, document_id: str) -> str:
    """KB id of the approval that was signed for an item before the batch began."""
    return ids.kb_id(f"{folder(batch_id)}/{PRE_BATCHED[gate]}/{ids.document_id(document_id)}.md")


def overview_id(batch_id: str, gate: str, number: int) -> str:
    """KB id of the n-th overview of a gate, so that cutter never overwrites one that people have read."""
    return ids.kb_id(f"{folder(batch_id)}/{GATE_STEMS[gate]}-batch-overview{_again(number)}.md")


def summary_id(batch_id: str, queue: str, number: int) -> str:
    """KB id of the n-th summary of a queue."""
    return ids.kb_id(f"{folder(batch_id)}/{queue}-summary{_again(number)}.md")


def entry_id(batch_id: str, queue: str, name: str, number: int) -> str:
    """KB id of the n-th document about one run in a queue, or about one law that has no run."""
    return ids.kb_id(f"{folder(batch_id)}/{queue}/{name}{_again(number)}.md")


def report_id(batch_id: str, number: int) -> str:
    """KB id of the n-th report. A batch that is resumed gets another report."""
    return ids.kb_id(f"{folder(batch_id)}/batch_report{_again(number)}.md")


def _again(number: int) -> str:
    return "" if number == 1 else f"-r{number}"


def queue_id(batch_id: str) -> str:
    """KB id of the exact copy of the batch's queue.yaml."""
    return ids.kb_id(f"{folder(batch_id)}/queue.md")


def overview(
    batch_id: str, gate: str, waiting: Sequence[RequestDocument], others: Mapping[str, int], asked: Mapping[str, int]
) -> str:
    """The one document that links all requests of a gate, with the totals and the changes since the last enacted
    version. `asked` counts the requests for each person whom the queue names. The approver policy alone says who may
    sign.
    """
    units = sum(document.request.candidate_count for document in waiting)
    added, changed, removed = (
        sum(getattr(document.changes, f"{name}_count") for document in waiting)
        for name in ("added", "changed", "removed")
    )
    lines = [
        f"# Batch {batch_id} · {gate}",
        "",
        f"{len(waiting)} documents wait for a signed approval each: "
        f"{units} units, {added} added, {changed} changed, {removed} removed.",
        "",
    ]
    for title, counts in (("Others: ", [f"{name} {count}" for name, count in sorted(others.items())]),
                          ("Asked: ", [f"{name} ({count})" for name, count in sorted(asked.items())])):  # fmt: skip
        lines += [f"{title}{', '.join(counts)}.", ""] if counts else []
    lines += [
        "| document | units | added | changed | removed | findings | writer_digest | expires |",
        "|---|---:|---:|---:|---:|---:|---|---|",
    ]
    for document in waiting:
        request, changes = document.request, document.changes
        lines.append(
            f"| {request.document_id} | {request.candidate_count} | {changes.added_count} | {changes.changed_count} "
            f"| {changes.removed_count} | {document.findings_count} | `{request.writer_digest[:16]}` "
            f"| {readable(document.expires_utc)} |"
        )
    lines += ["", "## Requests", ""]
    lines += [f"- {document.request.document_id}: {span(document.kb_id)}" for document in waiting]
    lines += [
        "",
        "## How to answer",
        "",
        "In one signing session, with your own key (you may leave documents out; they stay paused):",
        "",
        "```",
        f"cutter approve --batch {batch_id}",
        "```",
        "",
        "By hand: read each request, fill in the statement that it shows, sign it with `gpg --detach-sign --armor`,",
        "and put both into one folder of the knowledge base, as `<document id>.md` and `<document id>.md.asc`. Then",
        "hand the folder over:",
        "",
        "```",
        f"temporal workflow update execute --workflow-id batch/{batch_id} --name submit_approval_set "
        f'--input \'{{"folder": "{folder(batch_id)}/{GATE_STEMS[gate]}-approvals"}}\'',
        "```",
        "",
    ]
    return "\n".join(lines)


def error_entry(case: Triage) -> str:
    """One failed or stopped run, with every field of seed 001 §10."""
    return f"# {case.document_id} · {case.state}\n\n{triage.sections(case)}"


def review_entry(
    *, batch_id: str, run_id: str, document_id: str, state: str, gate: str, reason: str, payload: Json,
    request_kb_id: str, approval_kb_id: str,
) -> str:  # fmt: skip
    """One run whose approval was missing when its gate needed it, with every field of seed 001 §11."""
    return "\n".join(
        [
            f"# {document_id} · STOP_NEEDS_LATE_APPROVAL",
            "",
            f"run_id: {run_id}  ",
            f"document_id: {document_id}  ",
            f"batch_id: {batch_id}  ",
            f"state_at_pause: {state} ({gate})  ",
            f"reason_pre_batched_approval_missing: {cell(reason)}",
            "",
            "## request_payload",
            "",
            f"The request: {span(request_kb_id)}",
            "",
            *fenced(json_visible(json.dumps(payload, indent=2, sort_keys=True, ensure_ascii=True)).split("\n"), "json"),
            "## one_line_resume_command",
            "",
            "Sign it:",
            "",
            *_code(f"cutter approve {run_id}"),
            "Or sign by hand as the request says, and hand it over:",
            "",
            *_code(f"cutter orchestrate resume --run-id {run_id} --approval-kb-id {approval_kb_id}"),
        ]
    )


def queue_summary(view: BatchView, queue: str, entries: Sequence[QueueLine]) -> str:
    """The summary of one queue: one line for each waiting document, with the command that continues its run."""
    lines = [f"# Batch {view.batch_id} · {queue}", "", f"{len(entries)} documents.", ""]
    if entries:
        lines += ["| document | state | code | document about it | next |", "|---|---|---|---|---|"]
    for entry in entries:
        command = ways.command_of(view.batch_id, view.by_document[entry.document_id])
        cells = f"{cell(entry.code)} | {span(entry.kb_id)} | {span(command)}"
        lines.append(f"| {entry.document_id} | {entry.state} | {cells} |")
    return "\n".join([*lines, ""])


def batch_report(view: BatchView, summary: Summary) -> str:
    """The report of a batch that ended, or the partial report of a stopped one: each document with its next command."""
    batch = view.batch
    lines = [
        f"# Batch {batch.batch_id} · {batch.state}",
        "",
        f"mode: {batch.mode}  ",
        f"policy: {batch.policy}  ",
        f"queue_sha256: {batch.queue_sha256}  ",
        f"created_by: {cell(batch.created_by)}  ",
        f"created: {batch.created_at}",
        "",
        *([prose(batch.halted_reason), ""] if batch.halted_reason else []),
        " · ".join(f"{name} {count}" for name, count in summary.totals.items() if count) or "nothing happened",
        "",
        "| # | document | outcome | state | run | next |",
        "|---:|---|---|---|---|---|",
    ]
    for item in view.items:
        reason = f" ({cell(item.reason)})" if item.decided and item.reason else ""
        command = ways.command_of(batch.batch_id, item)
        lines.append(
            f"| {item.position} | {item.document_id} | {item.item.shown}{reason} | {item.state or ''} "
            f"| {item.run_id or ''} | {span(command) if command else ''} |"
        )
    return "\n".join([*lines, "", "Next:", "", *_code(ways.next_command(view, summary))])


def _code(command: str) -> list[str]:
    return list(fenced([command]))
