"""Pure: the words of a request document, for people and for Markdown readers that do not sanitise HTML.

The document uses only headings, lists, tables and code. Every text from others (a title, a finding, a path) is escaped.
So such a text cannot become a heading, a link or a tag, and cannot hide or reorder the text around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutter.approvals import manual_instructions, schema
from cutter.catalogue import Sovereign
from cutter.domain.markdown import code, escape
from cutter.domain.timestamps import render_instant

if TYPE_CHECKING:
    from cutter.approvals.request import RequestDocument

_ASKS = {
    (Sovereign.CUT, False): (
        "Request to cut (SG_1)", "Your signature lets this run write the units below as drafts, once."
    ),
    (Sovereign.LIFECYCLE, False): (
        "Request to make effective (SG_2)",
        "Your signature makes the units below effective, once. They cannot be changed afterwards.",
    ),
    (Sovereign.CUT, True): (
        "Request to repeal (SG_1)", "Your signature lets this run prepare the end of the whole law below, once."
    ),
    (Sovereign.LIFECYCLE, True): (
        "Request to make the repeal effective (SG_2)", "Your signature ends the whole law below, once."
    ),
}  # fmt: skip
"""Heading and first sentence of a request, by its gate and by whether it repeals the law."""
_WITH_THE_TOOL = (
    "## To approve with the tool",
    "",
    "It builds what is shown above again from the snapshot on your machine, compares every digest, asks, signs",
    "with your key, puts both files into the knowledge base and hands them over:",
    "",
    "```sh",
)
LIVE = "live"


def title_of(document: RequestDocument) -> str:
    """What the request asks for, in a few words."""
    return _asks(document)[0]


def _asks(document: RequestDocument) -> tuple[str, str]:
    return _ASKS[Sovereign(document.request.gate), document.repeals]


def head(document: RequestDocument) -> str:
    """The lines above the parts of the law."""
    asks, effect = _asks(document)
    needed = document.approvers_needed
    people = "one approver" if needed == 1 else f"{needed} distinct approvers, each with a document of their own"
    lines = [
        f"# {asks}: {document.request.document_id}",
        "",
        effect,
        "",
        f"Tier {document.tier}: {people}. Open until **{render_instant(document.expires_utc)}**.",
        "",
    ]
    if document.effect_policy:
        lines += [f"The effect policy decides by the time of the write: {code(document.effect_policy)}.", ""]
    lines += [
        "For the same content as a page, with each unit at its place in the text:",
        "",
        "```sh",
        f"cutter request {document.request.run_id} --open",
        "```",
        "",
    ]
    return "".join(f"{line}\n" for line in lines)


def tail(document: RequestDocument) -> str:
    """The lines below the parts of the law: changes, the ways to answer, and the digests."""
    lines = [*_changes(document)]
    if document.mode == LIVE:
        lines += [
            *_WITH_THE_TOOL,
            f"cutter approve {document.request.run_id}",
            "```",
            "",
            *_by_hand(document),
            "## To refuse",
            "",
            "```sh",
            f'cutter reject {document.request.run_id} --reason "say why"',
            "```",
            "",
            "By hand: the same five steps with `decision: reject`. A refusal ends the run; a corrected version is a "
            "new\nrun. To halt it without deciding, which needs no signature:",
            "",
            "```sh",
            f"temporal workflow signal --workflow-id {document.workflow_id} --name stop \\",
            '  --input \'{"reason": "why"}\'',
            "```",
            "",
        ]
    elif document.batch_id is None:
        lines += [
            "## This was a dry run",
            "",
            "Nothing waits for an answer, and nothing was written. A live run makes its own request.",
            "",
        ]
    else:
        lines += [
            "## This was a dry run",
            "",
            f"An answer approves this document beforehand in the live batch {code(document.batch_id)}. For all:",
            "",
            "```sh",
            f"cutter approve --batch {document.batch_id}",
            "```",
            "",
            *_by_hand(document),
        ]
    return "\n".join([*lines, *_facts(document)]) + "\n" + _MACHINE


_MACHINE = (
    "\n## Machine-readable\n\nThe same request for tools. Do not edit this document: an approval binds its bytes.\n"
)


def _facts(document: RequestDocument) -> Iterator[str]:
    request = document.request
    rows: list[tuple[str, str | None]] = [
        ("doc_id", request.document_id),
        ("run_id", request.run_id),
        ("mode", document.mode),
        ("source_version_id", request.source_version_id),
        ("writer_digest", request.writer_digest),
        ("manifest_digest", request.manifest_digest),
        ("region_sha", request.region_sha),
        ("candidate_count", str(request.candidate_count)),
        ("findings_digest", request.findings_digest),
        ("accepted_findings", request.accepted_findings),
        ("view_digest", document.view_digest),
        ("change_set_id", request.change_set_id),
        ("review_decision_id", request.review_decision_id),
        ("grants_probe_snapshot", request.grants_sha256),
        ("backup_sha", document.backup_sha),
        ("restore_point", document.restore_point),
        ("sidecar_path", document.sidecar_path),
        ("challenge", request.challenge),
        ("nonce", request.nonce),
        ("deployment_id", request.deployment_id),
        ("batch_id", document.batch_id),
        ("amends_run_id", document.amends_run_id),
        ("starter", document.starter),
        ("requested_utc", render_instant(document.created_utc)),
        ("expires_utc", render_instant(document.expires_utc)),
        ("snapshot", document.snapshot_kb_id),
        ("snapshot_sha256", document.snapshot_sha256),
        ("profile", document.profile_id),
        ("profile_sha256", document.profile_sha256),
    ]
    yield "## Signed digests"
    yield ""
    yield "| field | value |"
    yield "|---|---|"
    yield from (f"| {name} | {code(value)} |" for name, value in rows if value)
    yield ""
    yield "backup_sha is shown and not bound: a stale backup is taken again after your signature."
    yield ""


def _changes(document: RequestDocument) -> Iterator[str]:
    changes = document.changes
    yield "## What changes since the last enacted version"
    yield ""
    counts = f"{changes.added_count} added, {changes.changed_count} changed, {changes.removed_count} removed"
    yield f"{counts}; {document.request.candidate_count} units in all."
    yield ""
    for title, count, units in (
        ("Added", changes.added_count, changes.added),
        ("Changed", changes.changed_count, changes.changed),
        ("Removed", changes.removed_count, changes.removed),
    ):
        if count:
            yield f"### {title}"
            yield ""
            for unit in units:
                yield f"- {code(unit.address)}" + (f" {escape(unit.title)}" if unit.title else "")
            if count > len(units):
                yield f"- and {count - len(units)} more; `cutter approve` recomputes and shows them all"
            yield ""


def _by_hand(document: RequestDocument) -> Iterator[str]:
    name = document.approval_kb_id.rpartition("/")[2]
    yield "## To approve by hand"
    yield ""
    yield f"1. Save this document, unchanged, as `request.md`, and the text below as `{name}`:"
    yield ""
    yield "```yaml"
    yield from template(document, schema.APPROVE)
    yield "```"
    yield ""
    yield "2. Replace the four FILL_IN words. `approver` is your name in approvers.yaml; set it first:"
    yield ""
    hashed = (manual_instructions.FILL_REQUEST, "$(sha256sum request.md | cut -c1-64)")
    yield from manual_instructions.fill_in(name, document.ttl_seconds, hashed)
    yield from manual_instructions.sign_and_put(document.approval_kb_id, beside="this request")
    if document.mode == LIVE:
        yield from manual_instructions.tell(
            document.request.document_id, document.request.run_id, "submit_approval", document.approval_kb_id
        )
    else:
        yield "The batch finds it there when it starts; nothing else needs to be sent."
        yield ""
    if document.approvers_needed > 1:
        yield "Each further approver does the same under a file name of their own, and names that in step 5."
        yield ""


def template(document: RequestDocument, decision: str) -> Iterator[str]:
    """The lines of a statement that answers this request, with a FILL_IN word for what only a person knows."""
    request = document.request
    known: dict[str, object] = {name: getattr(request, name) for name in type(request).__slots__}
    known |= {
        "batch_id": document.batch_id,
        "challenge": request.challenge,
        "request_sha256": manual_instructions.FILL_REQUEST,
    }
    yield from manual_instructions.front_matter(decision, document.binding, request.gate, known)
