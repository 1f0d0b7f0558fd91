"""Pure: the request that approvers answer (seed 000 §3, spec 03 "The request").

A run freezes a `RequestTuple`, and an approval binds the challenge of that tuple. `RequestDocument` is the
knowledge-base document around the tuple. `render_request` writes the document for people, with a machine-readable block
at its end. `parse_request` accepts only bytes that `render_request` would write, so people and tools cannot read
different things. Only the text shows parts of the law; the block names the length and digest of that text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from cutter import limits
from cutter.approvals import request_text, schema
from cutter.catalogue import Sovereign
from cutter.domain import ids
from cutter.domain.digests import canonical_digest, sha256_hex
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
        return schema.RUN if self.mode == request_text.LIVE else schema.TUPLE


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
    text = f"{request_text.head(document)}{document.shown}{request_text.tail(document)}"
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
        begin = len(request_text.head(document).encode())
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
