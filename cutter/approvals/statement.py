"""Pure: the signed statement (spec 03 "The statement"): Markdown with a front matter of plain `field: value` lines.

The front matter is read line by line and not by a YAML library. If a line is not a field with a plain scalar, the
statement is refused. So a statement has no anchors, aliases, tags, merge keys, second documents or implicit types, and
every YAML reader sees the same values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cutter import limits
from cutter.approvals import schema
from cutter.domain.timestamps import parse_instant, render_instant
from cutter.domain.visible import is_hidden
from cutter.errors import InvalidInput, ProgrammingError
from cutter.types import Refusal

_FENCE = "---"
_LINE = re.compile(r"([a-z][a-z0-9_]*): (.+)")
_EMPTY_LINE = re.compile(r"([a-z][a-z0-9_]*):[ \t]*")
_NULLS = frozenset({"null", "Null", "NULL", "~"})
_YAML_START = re.compile(r"[&*!|>\[\]{}\"'#@%`,]|[-?:]( |$)|<<")
_YAML_INSIDE = re.compile(r" #|: |:$|\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A parsed statement. A field that its kind does not have is None. `text` is below the front matter."""

    deployment_id: str
    gate: str
    decision: str
    binding: str
    signed_utc: datetime
    not_after: datetime
    approver: str
    document_id: str
    run_id: str | None = None
    batch_id: str | None = None
    source_version_id: str | None = None
    writer_digest: str | None = None
    manifest_digest: str | None = None
    region_sha: str | None = None
    candidate_count: int | None = None
    findings_digest: str | None = None
    accepted_findings: str | None = None
    change_set_id: str | None = None
    grants_sha256: str | None = None
    review_decision_id: str | None = None
    nonce: str | None = None
    challenge: str | None = None
    request_sha256: str | None = None
    stopped_state: str | None = None
    fingerprint: str | None = None
    approval_sha256: str | None = None
    reason: str | None = None
    schema: str = schema.SCHEMA
    allowance: str = "explicit"
    text: str = ""


def parse(body: bytes) -> Statement | Refusal:
    """Read a statement strictly. A Refusal names the field and the line."""
    if len(body) > limits.STATEMENT_BYTES_MAX:
        return Refusal("statement_too_large", f"the statement has more than {limits.STATEMENT_BYTES_MAX} bytes")
    if body.startswith(b"\xef\xbb\xbf"):
        return Refusal(
            "statement_byte_order_mark", "the statement begins with a byte order mark; save it as UTF-8 without"
        )
    if body.lstrip().startswith(b"-----BEGIN PGP"):
        return Refusal(
            "statement_inline_signature", "the statement is signed inline; use gpg --detach-sign --armor instead"
        )
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as problem:
        return Refusal("statement_not_utf8", f"byte {problem.start} is not UTF-8")
    refusal = _check_characters(text)
    if refusal:
        return refusal
    first, *lines = text.split("\n")
    if first != _FENCE:
        return Refusal("statement_no_front_matter", "line 1 is not `---`")
    if _FENCE not in lines:
        return Refusal("statement_front_matter_open", "the front matter has no closing `---` line")
    end = lines.index(_FENCE)
    fields = _fields(lines[:end])
    if isinstance(fields, Refusal):
        return fields
    refusal = _check_closed(fields)
    if refusal:
        return refusal
    values: dict[str, Any] = dict(fields)
    for name in ("signed_utc", "not_after"):
        values[name] = parse_instant(fields[name])
    if "candidate_count" in fields:
        values["candidate_count"] = int(fields["candidate_count"])
    return Statement(**values, text="\n".join(lines[end + 1 :]))


def render(statement: Statement) -> bytes:
    """The bytes of a statement. Parsing these bytes gives an equal value.

    Raises InvalidInput if a value cannot be written (such as a reason with `: ` in it), else ProgrammingError.
    """
    names = schema.fields_of(statement.decision, statement.binding, statement.gate)
    if names is None:
        raise ProgrammingError(f"no statement has decision {statement.decision} with binding {statement.binding}")
    lines = [f"{name}: {value}" for name, value in statement_record(statement).items()]
    body = "\n".join([_FENCE, *lines, _FENCE, statement.text]).encode()
    again = parse(body)
    if isinstance(again, Refusal):
        raise InvalidInput(f"this cannot be signed: {again.reason}")
    if again != statement:
        raise ProgrammingError("this statement has a field that its kind does not carry")
    return body


def statement_record(statement: Statement) -> dict[str, str]:
    """Maps exactly the fields of the statement's kind to their texts as they were signed."""
    names = schema.fields_of(statement.decision, statement.binding, statement.gate) or ()
    values = {name: getattr(statement, name) for name in names}
    return {
        name: render_instant(value) if isinstance(value, datetime) else str(value) for name, value in values.items()
    }


def _check_characters(text: str) -> Refusal | None:
    for number, line in enumerate(text.split("\n"), start=1):
        for character in line:
            if character == "\r":
                return Refusal("statement_carriage_return", f"line {number} ends in CR LF; lines end in LF alone")
            if character == "\t" or not is_hidden(character):
                continue
            if unicodedata.category(character) == "Cc":
                return Refusal("statement_control_character", f"line {number} has the control U+{ord(character):04X}")
            return Refusal("statement_hidden_character", f"line {number} has the hidden U+{ord(character):04X}")
    if not unicodedata.is_normalized("NFC", text):
        return Refusal("statement_not_nfc", "the statement is not in Unicode normal form C")
    return None


def _fields(lines: list[str]) -> dict[str, str] | Refusal:
    fields: dict[str, str] = {}
    for number, line in enumerate(lines, start=2):
        empty = _EMPTY_LINE.fullmatch(line)
        if empty:
            return Refusal("statement_field_null", f"line {number}: the field {empty.group(1)} has no value")
        match = _LINE.fullmatch(line)
        if match is None:
            return Refusal("statement_line_malformed", f"line {number} is not `field: value`")
        name, value = match.groups()
        if value in _NULLS:
            return Refusal("statement_field_null", f"line {number}: the field {name} is null")
        if _YAML_START.match(value) or _YAML_INSIDE.search(value) or value != value.strip():
            return Refusal(
                "statement_not_plain", f"line {number}: the value of {name} is not plain text (no quotes, `: ` or ` #`)"
            )
        if name in fields:
            return Refusal("statement_field_repeated", f"line {number} repeats the field {name}")
        if name not in schema.FORMS:
            return Refusal("statement_field_unknown", f"line {number}: there is no field {name}")
        pattern, words = schema.FORMS[name]
        if not pattern.fullmatch(value):
            if name == "schema":
                return Refusal("statement_schema_unknown", f"line {number}: the schema is {words}")
            return Refusal("statement_field_invalid", f"line {number}: {name} must be {words}")
        if name in ("signed_utc", "not_after") and parse_instant(value) is None:
            return Refusal("statement_field_invalid", f"line {number}: {name} is no time that exists")
        fields[name] = value
    return fields


def _check_closed(fields: Mapping[str, str]) -> Refusal | None:
    for name in ("schema", "decision", "binding", "gate"):
        if name not in fields:
            return Refusal("statement_field_missing", f"the field {name} is missing")
    decision, binding = fields["decision"], fields["binding"]
    names = schema.fields_of(decision, binding, fields["gate"])
    if names is None:
        return Refusal("statement_kind_unknown", f"a statement to {decision} cannot have the binding {binding}")
    for name in names:
        if name not in fields:
            return Refusal("statement_field_missing", f"the field {name} is missing")
    for name in fields:
        if name not in names:
            where = f"{fields['gate']}, {decision}, binding {binding}"
            return Refusal("statement_field_foreign", f"the field {name} does not belong to a statement for {where}")
    return None
