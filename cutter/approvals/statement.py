"""Pure: the signed statement (spec 03 "The statement"): Markdown with a front matter of plain `field: value` lines.

The front matter is read line by line and not by a YAML library. If a line is not a field with a plain scalar, the
statement is refused. So a statement has no anchors, aliases, tags, merge keys, second documents or implicit types, and
every YAML reader sees the same values.

Request documents and stop-route reports show a statement to fill in, and the commands that make and send it with only a
shell, gpg and temporal. A test follows them literally.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
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


FILL_REQUEST = "FILL_IN_SHA256_OF_THE_REQUEST"
FILL_SIGNED = "FILL_IN_TIME_NOW"
FILL_UNTIL = "FILL_IN_TIME_UNTIL"
FILL_APPROVER = "FILL_IN_YOUR_NAME"
FILL_REASON = "FILL_IN_WHY"

_MOMENT = "+%Y-%m-%dT%H:%M:%SZ"


def front_matter(decision: str, binding: str, gate: str, known: Mapping[str, object]) -> Iterator[str]:
    """Exactly the fields of that kind of statement. A FILL_IN word replaces each value that only a person knows."""
    values: dict[str, object] = {
        **known,
        "schema": schema.SCHEMA,
        "gate": gate,
        "decision": decision,
        "allowance": "explicit",
        "binding": binding,
        "signed_utc": FILL_SIGNED,
        "not_after": FILL_UNTIL,
        "approver": FILL_APPROVER,
    }
    yield "---"
    for name in schema.fields_of(decision, binding, gate) or ():
        yield f"{name}: {values[name]}"
    yield "---"


def fill_in(name: str, life_seconds: int, more: tuple[str, str], *, given: str = "") -> Iterator[str]:
    """The shell commands that fill the file in. `more` is one more word with its value, which `given` sets."""
    word, value = more
    yield "```sh"
    yield "APPROVER=your-name"
    if given:
        yield given
    # Both times come from one reading of the clock. Otherwise a second could pass between them, and the life would be a
    # second too long.
    yield "NOW=$(date +%s)"
    yield f'sed -i -e "s/{word}/{value}/" \\'
    yield f'  -e "s/{FILL_SIGNED}/$(date -u -d @$NOW {_MOMENT})/" \\'
    yield f'  -e "s/{FILL_UNTIL}/$(date -u -d @$((NOW + {life_seconds})) {_MOMENT})/" \\'
    yield f'  -e "s/{FILL_APPROVER}/$APPROVER/" {name}'
    yield "```"
    yield ""


def sign_and_put(kb_id: str, *, beside: str) -> Iterator[str]:
    """The gpg command, and the place of both files."""
    name = kb_id.rpartition("/")[2]
    yield f"3. Sign it with your key; this makes `{name}.asc`:"
    yield ""
    yield "```sh"
    yield f"gpg --detach-sign --armor {name}"
    yield "```"
    yield ""
    yield f"4. Put both files into the knowledge base, in the folder of {beside} (locally the state folder's `kb`):"
    yield ""
    yield f"   - `{kb_id}`"
    yield f"   - `{kb_id}.asc`"
    yield ""


def tell(document_id: str, run_id: str, signal: str, kb_id: str) -> Iterator[str]:
    """The temporal signal that names the document to the run, and the same with `cutter`."""
    yield "5. Tell the run, with either command (`temporal` finds its server by `TEMPORAL_ADDRESS`, see `cutter up`):"
    yield ""
    yield "```sh"
    yield f"temporal workflow signal --workflow-id document/{document_id} --name {signal} \\"
    yield f"  --input '\"{kb_id}\"'"
    yield f"cutter orchestrate resume --run-id {run_id} --approval-kb-id {kb_id}"
    yield "```"
    yield ""
