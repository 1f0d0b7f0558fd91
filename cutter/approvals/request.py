"""Pure: the request that a sovereign answers (seed 000 §3, spec 03 "The request").

`RequestTuple` is what a run froze; its challenge is what an approval binds. `RequestDocument` is the knowledge-base
document around it: `render_request` writes it for people with a machine-readable block at its end, and `parse_request`
takes only bytes that it would write itself, so what people read cannot differ from what the tool reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from cutter import limits
from cutter.approvals import request_text, schema
from cutter.catalogue import Sovereign
from cutter.domain import ids
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.domain.timestamps import parse_instant, render_instant
from cutter.errors import InvalidInput
from cutter.types import Refusal

SCHEMA = "cutter-request/1"
_BLOCK = re.compile(r"\n```json\n(?P<json>\{[^\n]*\})\n```\n\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTuple:
    """What is frozen when a run reaches a sovereign gate. `nonce` is 32 hex characters of the database's randomness."""

    deployment_id: str
    gate: str
    run_id: str
    document_id: str
    source_version_id: str
    writer_digest: str
    manifest_digest: str
    region_sha: str
    candidate_count: int
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
        """sha256 of the canonical JSON of all fields, None as null; the database computes the same."""
        return canonical_digest(asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitLine:
    """One unit in a list of changes: its address, and its title, which is escaped when shown."""

    address: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Difference to the last enacted version. The counts are whole; the lists end at CHANGES_SHOWN_MAX."""

    added_count: int
    changed_count: int
    removed_count: int
    added: tuple[UnitLine, ...] = ()
    changed: tuple[UnitLine, ...] = ()
    removed: tuple[UnitLine, ...] = ()

    @classmethod
    def of(cls, *, added: Iterable[UnitLine], changed: Iterable[UnitLine], removed: Iterable[UnitLine]) -> Changes:
        """Count all, keep the first of each kind."""
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
    """A request as people get it.

    `kb_id` is this document's id and `approval_kb_id` the id expected for its answer; `snapshot_kb_id` is the
    copy of the pinned text. `ttl_seconds` bounds an approval's life from its signature. `findings` are single
    lines without law text. A request of a dry run carries the `batch_id` that a pre-batched approval binds.
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
    findings: tuple[str, ...] = ()
    findings_count: int = 0
    batch_id: str | None = None
    amends_run_id: str | None = None

    def __post_init__(self) -> None:
        # These appear in commands that people paste into a shell.
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
    def binding(self) -> str:
        """What an answer binds: a live run's own request, or the tuple of a dry run for a batch to come."""
        return schema.RUN if self.mode == request_text.LIVE else schema.TUPLE


def render_request(document: RequestDocument) -> bytes:
    """The knowledge-base document: UTF-8, LF, the same bytes at every call."""
    # ASCII, so that a hidden character of a title shows as \\uXXXX here too.
    block = json.dumps(_record(document), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f"{request_text.body(document)}\n```json\n{block}\n```\n".encode()


def parse_request(data: bytes) -> RequestDocument | Refusal:
    """Read a request back; a Refusal when a single byte differs from what `render_request` writes."""
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
        document = _document(record)
        again = render_request(document)
    except (KeyError, TypeError, ValueError, AttributeError, InvalidInput):
        return Refusal("request_malformed", "the request's machine-readable block misses a field or has a wrong one")
    if again != data:
        return Refusal("request_altered", "the request's text does not say what its machine-readable block says")
    return document


def request_sha256(data: bytes) -> str:
    """What an approval binds in addition to the challenge: the sha256 of the document's bytes."""
    return sha256_hex(data)


def _record(document: RequestDocument) -> dict[str, Any]:
    record = asdict(document)
    record["created_utc"] = render_instant(document.created_utc)
    record["expires_utc"] = render_instant(document.expires_utc)
    record["findings"] = list(document.findings)
    return {"schema": SCHEMA, "challenge": document.request.challenge, **record}


def _document(record: Mapping[str, Any]) -> RequestDocument:
    values = {field.name: record[field.name] for field in fields(RequestDocument)}
    values["request"] = RequestTuple(**record["request"])
    values["created_utc"] = _instant(record["created_utc"])
    values["expires_utc"] = _instant(record["expires_utc"])
    values["findings"] = tuple(record["findings"])
    values["changes"] = _changes(record["changes"])
    return RequestDocument(**values)


def _changes(record: Mapping[str, Any]) -> Changes:
    values = dict(record)
    for kind in ("added", "changed", "removed"):
        values[kind] = tuple(UnitLine(**line) for line in record[kind])
    return Changes(**values)


def _require_forms(values: Mapping[str, object]) -> None:
    for name, value in values.items():
        pattern, words = schema.FORMS[name]
        if not pattern.fullmatch(str(value)):
            raise InvalidInput(f"{name} must be {words}, not {value!r}")


def _instant(text: str) -> datetime:
    moment = parse_instant(text)
    if moment is None:
        raise ValueError(text)
    return moment
