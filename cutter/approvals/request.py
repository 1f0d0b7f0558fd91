"""Pure: the request that approvers answer (seed 000 §3, spec 03 "The request").

A run freezes a `RequestTuple`, and an approval binds the challenge of that tuple. `RequestDocument` is the
knowledge-base document around the tuple. `render_request` writes the document for people, with a machine-readable block
at its end. `parse_request` accepts only bytes that `render_request` would write, so people and tools cannot read
different things. Only the text shows parts of the law; the block names the length and digest of that text.

The document uses only headings, lists, tables and code, for Markdown readers that do not sanitise HTML. Every text from
others (a title, a finding, a path) is escaped. So such a text cannot become a heading, a link or a tag, and cannot hide
or reorder the text around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from cutter import limits
from cutter.approvals import schema, statement
from cutter.catalogue import Sovereign
from cutter.domain import ids
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.domain.markdown import code, escape
from cutter.domain.timestamps import render_instant
from cutter.errors import InvalidInput
from cutter.types import Refusal

SCHEMA = "cutter-request/1"
_LATER = ("restore_point", "operation", "effect_policy")
"""Fields that the first requests did not have."""
_BLOCK = re.compile(r"\n```json\n(?P<json>\{[^\n]*\})\n```\n\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTuple:
    """The values that a run freezes at a sovereign gate. `nonce` is 32 hex characters of randomness."""

    deployment_id: str
    gate: str
    run_id: str
    document_id: str
    source_version_id: str
    writer_digest: str
    manifest_digest: str
    region_sha: str
    candidate_count: int
    findings_digest: str
    accepted_findings: str
    change_set_id: str
    grants_sha256: str
    review_decision_id: str | None
    nonce: str

    def __post_init__(self) -> None:
        _require_forms({name: value for name, value in asdict(self).items() if name != "review_decision_id"})
        _require_forms({"review_decision_id": self.review_decision_id} if self.review_decision_id else {})
        if not isinstance(self.candidate_count, int):
            raise InvalidInput("candidate_count is a whole number")
        if (self.review_decision_id is None) == (self.gate == Sovereign.LIFECYCLE):
            raise InvalidInput("review_decision_id belongs to SG_lifecycle_authz, and to it alone")

    @property
    def challenge(self) -> str:
        """The sha256 of the canonical JSON of all fields, with None as null. The database computes the same value."""
        return canonical_digest(asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitLine:
    """One unit in a list of changes: its address, and its title, which is escaped when shown."""

    address: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The difference to the last enacted version. The counts are complete, but each list ends at CHANGES_SHOWN_MAX."""

    added_count: int
    changed_count: int
    removed_count: int
    added: tuple[UnitLine, ...] = ()
    changed: tuple[UnitLine, ...] = ()
    removed: tuple[UnitLine, ...] = ()

    @classmethod
    def of(cls, *, added: Iterable[UnitLine], changed: Iterable[UnitLine], removed: Iterable[UnitLine]) -> Changes:
        """Count all changes, but keep only the first ones of each kind."""
        kinds = [tuple(kind) for kind in (added, changed, removed)]
        shown = [kind[: limits.CHANGES_SHOWN_MAX] for kind in kinds]
        return cls(
            added_count=len(kinds[0]),
            changed_count=len(kinds[1]),
            removed_count=len(kinds[2]),
            added=shown[0],
            changed=shown[1],
            removed=shown[2],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestDocument:
    """A request in the form that people get.

    `kb_id` is the id of this document. `approval_kb_id` is the expected id of the answer, and `snapshot_kb_id` names
    the copy of the pinned text. `ttl_seconds` limits the life of an approval after its signature. `shown` is the
    Markdown of the request's view, and every form of that view names `view_digest` (cutter/request_view). In a dry run,
    `batch_id` is the batch that a pre-batched approval binds. `operation` says how the run
    changes a law in force, such as `repeal`. `effect_policy` says at which times of the day the effect policy denies a
    side effect, or asks for more people.
    """

    request: RequestTuple
    mode: str
    created_utc: datetime
    expires_utc: datetime
    ttl_seconds: int
    kb_id: str
    approval_kb_id: str
    snapshot_kb_id: str
    snapshot_sha256: str
    profile_id: str
    profile_sha256: str
    backup_sha: str | None
    sidecar_path: str
    starter: str
    tier: str
    approvers_needed: int
    changes: Changes
    view_digest: str
    shown: str = ""
    findings_count: int = 0
    batch_id: str | None = None
    amends_run_id: str | None = None
    restore_point: str | None = None
    operation: str | None = None
    effect_policy: str | None = None

    def __post_init__(self) -> None:
        # These values appear in commands that people paste into a shell.
        for name in (self.kb_id, self.approval_kb_id, self.snapshot_kb_id):
            ids.kb_id(name)
        optional = {"batch_id": self.batch_id, "run_id": self.amends_run_id}
        _require_forms({name: value for name, value in optional.items() if value is not None})
        if self.mode not in ("live", "dryrun") or not isinstance(self.ttl_seconds, int):
            raise InvalidInput("mode is `live` or `dryrun`, ttl_seconds a whole number")

    @property
    def workflow_id(self) -> str:
        """The workflow that waits for the answer (spec 01 "Identity")."""
        return f"document/{self.request.document_id}"

    @property
    def repeals(self) -> bool:
        return self.operation == "repeal"

    @property
    def binding(self) -> str:
        """The binding of an answer: `run` for the request of a live run, or `tuple` for the request of a dry run."""
        return schema.RUN if self.mode == LIVE else schema.TUPLE


_DOCUMENT: Final = TypeAdapter(RequestDocument)


def render_request(document: RequestDocument) -> bytes:
    """The knowledge-base document in UTF-8 with LF line ends. Every call gives the same bytes."""
    record = {"schema": SCHEMA, "challenge": document.request.challenge, **asdict(document)}
    record["created_utc"] = render_instant(document.created_utc)
    record["expires_utc"] = render_instant(document.expires_utc)
    record["shown"] = {"bytes": len(document.shown.encode()), "sha256": sha256_hex(document.shown)}
    for name in _LATER:
        # A request without such a value has the bytes that it had before there were any.
        if record[name] is None:
            del record[name]
    # The JSON is ASCII, so that a hidden character of a title appears as \\uXXXX here too.
    block = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    text = f"{head(document)}{document.shown}{tail(document)}"
    return f"{text}\n```json\n{block}\n```\n".encode()


def parse_request(data: bytes) -> RequestDocument | Refusal:
    """Read a request back. The answer is a Refusal if a single byte differs from the output of `render_request`."""
    if len(data) > limits.KB_OBJECT_BYTES_MAX:
        return Refusal("request_too_large", f"a request has at most {limits.KB_OBJECT_BYTES_MAX} bytes")
    try:
        match = _BLOCK.search(data.decode("utf-8"))
        record = json.loads(match["json"]) if match else None
    except ValueError:
        record = None
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        return Refusal("request_malformed", f"this is not a request of schema {SCHEMA}")
    try:
        document = _DOCUMENT.validate_python({**dict.fromkeys(_LATER), **record, "shown": ""})
        # The text shows the parts of the law. Rendering the whole again checks their digest.
        begin = len(head(document).encode())
        shown = data[begin : begin + record["shown"]["bytes"]].decode("utf-8")
        document = replace(document, shown=shown)
        again = render_request(document)
    except (KeyError, TypeError, ValueError, AttributeError, InvalidInput):
        return Refusal("request_malformed", "the request's machine-readable block misses a field or has a wrong one")
    if again != data:
        return Refusal("request_altered", "the request's text does not say what its machine-readable block says")
    return document


def request_sha256(data: bytes) -> str:
    """The sha256 of the document's bytes, which an approval binds in addition to the challenge."""
    return sha256_hex(data)


def _require_forms(values: Mapping[str, object]) -> None:
    for name, value in values.items():
        pattern, words = schema.FORMS[name]
        if not pattern.fullmatch(str(value)):
            raise InvalidInput(f"{name} must be {words}, not {value!r}")


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
    lines += [
        "## Signed digests",
        "",
        "| field | value |",
        "|---|---|",
        *(f"| {name} | {code(value)} |" for name, value in digest_rows(document)),
        "",
        "backup_sha is shown and not bound: a stale backup is taken again after your signature.",
        "",
    ]
    return "\n".join(lines) + "\n" + _MACHINE


_MACHINE = (
    "\n## Machine-readable\n\nThe same request for tools. Do not edit this document: an approval binds its bytes.\n"
)


def digest_rows(document: RequestDocument) -> list[tuple[str, str]]:
    """Every id, digest and time of a request with its name, as each form of the request shows them."""
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
    return [(name, value) for name, value in rows if value]


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
    hashed = (statement.FILL_REQUEST, "$(sha256sum request.md | cut -c1-64)")
    yield from statement.fill_in(name, document.ttl_seconds, hashed)
    yield from statement.sign_and_put(document.approval_kb_id, beside="this request")
    if document.mode == LIVE:
        yield from statement.tell(
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
        "request_sha256": statement.FILL_REQUEST,
    }
    yield from statement.front_matter(decision, document.binding, request.gate, known)
