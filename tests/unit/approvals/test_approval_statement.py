"""The closed schema of a statement: what is read, and each way in which it refuses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutter import limits
from cutter.approvals import schema
from cutter.approvals.statement import Statement, parse, render, statement_record
from cutter.errors import InvalidInput, ProgrammingError
from cutter.types import Refusal
from tests.cases.approval_cases import RUN_ID, digest
from tests.support.hostile import TERMINAL, leaks

LINES = [
    "---",
    "schema: cutter-approval/1",
    "deployment_id: 3f2b1c00-0000-4000-8000-000000000001",
    "gate: SG_cut_authz",
    "decision: void",
    "allowance: explicit",
    "binding: run",
    f"run_id: {RUN_ID}",
    "document_id: ICX-LAW-2026-001",
    "reason: Điều 3 was scanned badly",
    "signed_utc: 2026-11-21T09:00:00Z",
    "not_after: 2026-11-21T15:00:00Z",
    "approver: alice",
    "---",
    "Seen and decided.",
    "",
]
GOOD = "\n".join(LINES).encode()


def parsed(body: bytes = GOOD) -> Statement:
    statement = parse(body)
    assert isinstance(statement, Statement), statement
    return statement


def refused(body: bytes) -> Refusal:
    refusal = parse(body)
    assert isinstance(refusal, Refusal), "this was accepted"
    return refusal


def without(field: str) -> bytes:
    return "\n".join(line for line in LINES if not line.startswith(f"{field}:")).encode()


def changed(field: str, line: str) -> bytes:
    return "\n".join(line if old.startswith(f"{field}:") else old for old in LINES).encode()


def test_a_statement_is_read_field_by_field() -> None:
    statement = parsed()
    assert (statement.decision, statement.binding, statement.run_id) == ("void", "run", RUN_ID)
    assert statement.signed_utc == datetime(2026, 11, 21, 9, tzinfo=UTC)
    assert statement.reason == "Điều 3 was scanned badly"
    assert statement.text == "Seen and decided.\n"
    assert statement.writer_digest is None


def test_rendering_gives_back_the_same_bytes() -> None:
    assert render(parsed()) == GOOD


def test_fields_may_stand_in_any_order() -> None:
    assert parsed("\n".join([LINES[0], *reversed(LINES[1:13]), *LINES[13:]]).encode()) == parsed()


@pytest.mark.parametrize("field", [line.split(":")[0] for line in LINES[1:13]])
def test_every_field_is_needed(field: str) -> None:
    refusal = refused(without(field))
    assert refusal.code == "statement_field_missing"
    assert field in refusal.reason


@pytest.mark.parametrize("field", [line.split(":")[0] for line in LINES[1:13]])
def test_no_field_may_repeat(field: str) -> None:
    line = next(line for line in LINES if line.startswith(f"{field}:"))
    refusal = refused("\n".join([*LINES[:13], line, *LINES[13:]]).encode())
    assert refusal.code == "statement_field_repeated"
    assert "line 14" in refusal.reason
    assert field in refusal.reason


@pytest.mark.parametrize("value", [":", ": ", ": null", ": ~", ": Null", ": NULL"])
def test_no_field_may_be_null(value: str) -> None:
    refusal = refused(changed("reason", f"reason{value}"))
    assert (refusal.code, "line 10" in refusal.reason) == ("statement_field_null", True)


def test_an_unknown_field_is_named_with_its_line() -> None:
    refusal = refused("\n".join([*LINES[:13], "colour: red", *LINES[13:]]).encode())
    assert refusal.code == "statement_field_unknown"
    assert "line 14" in refusal.reason
    assert "colour" in refusal.reason


@pytest.mark.parametrize("line", [f"writer_digest: {digest('x')}", "batch_id: nightly-1", f"nonce: {'ab' * 16}"])
def test_a_field_of_another_kind_of_statement_is_refused(line: str) -> None:
    assert refused("\n".join([*LINES[:13], line, *LINES[13:]]).encode()).code == "statement_field_foreign"


@pytest.mark.parametrize(
    "line",
    [
        "reason: &anchor x",
        "reason: *alias",
        "reason: !!str x",
        "reason: 'quoted'",
        'reason: "quoted"',
        "reason: | ",
        "reason: >",
        "reason: [a]",
        "reason: {a: b}",
        "reason: # comment",
        "reason: a # comment",
        "reason: a: b",
        "reason: ends:",
        "reason: - item",
        "reason: ? key",
        "reason: %TAG",
        "reason: @at",
        "reason: `tick",
        "reason: x\ty",
        "reason: x ",
        "reason:  x",
    ],
)
def test_only_plain_values_are_read(line: str) -> None:
    assert refused(changed("reason", line)).code == "statement_not_plain"


@pytest.mark.parametrize(
    "line",
    [
        "reason",
        "reason x",
        " reason: x",
        "Reason: x",
        "reason:x",
        "<<: *x",
        "- reason: x",
        "# reason: x",
        "...",
        "",
        "é: x",
    ],
)
def test_only_field_lines_stand_in_the_front_matter(line: str) -> None:
    assert refused(changed("reason", line)).code == "statement_line_malformed"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("deployment_id", "3F2B1C00-0000-4000-8000-000000000001"),
        ("deployment_id", "x"),
        ("gate", "SG_3"),
        ("decision", "approved"),
        ("decision", "Void"),
        ("allowance", "implicit"),
        ("binding", "both"),
        ("run_id", RUN_ID.upper()),
        ("run_id", RUN_ID + "0"),
        ("document_id", "ICX LAW"),
        ("document_id", "ICX-L\u0410W"),
        ("signed_utc", "2026-11-21 09:00:00"),
        ("signed_utc", "2026-11-21T09:00:00+00:00"),
        ("signed_utc", "2026-11-21T09:00:00.5Z"),
        ("not_after", "2026-02-30T09:00:00Z"),
        ("not_after", "2026-11-21T25:00:00Z"),
        ("not_after", "\u0662026-11-21T09:00:00Z"),
        ("approver", "Alice Smith"),
        ("approver", "\u0430lice"),
        ("reason", "x" * (limits.REASON_CHARACTERS_MAX + 1)),
    ],
)
def test_a_value_has_one_form(field: str, value: str) -> None:
    refusal = refused(changed(field, f"{field}: {value}"))
    assert refusal.code == "statement_field_invalid"
    assert field in refusal.reason
    assert "line " in refusal.reason


def test_another_schema_is_refused_by_its_own_code() -> None:
    assert refused(changed("schema", "schema: cutter-approval/2")).code == "statement_schema_unknown"


def test_a_void_cannot_be_pre_batched() -> None:
    assert refused(changed("binding", "binding: tuple")).code == "statement_kind_unknown"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "statement_no_front_matter"),
        (b"approve\n", "statement_no_front_matter"),
        (b"\n" + GOOD, "statement_no_front_matter"),
        (b" " + GOOD, "statement_no_front_matter"),
        (GOOD.replace(b"---\nSeen", b"----\nSeen"), "statement_front_matter_open"),
        (GOOD[: GOOD.index(b"\n---\nSeen")], "statement_front_matter_open"),
        (b"\xef\xbb\xbf" + GOOD, "statement_byte_order_mark"),
        (GOOD.replace(b"Seen", b"Se\xffen"), "statement_not_utf8"),
        (GOOD.decode().encode("utf-16"), "statement_not_utf8"),
        (GOOD.replace(b"\n", b"\r\n"), "statement_carriage_return"),
        (GOOD.replace(b"Seen", b"Se\x00en"), "statement_control_character"),
        (GOOD.replace(b"Seen", b"Se\x1ben"), "statement_control_character"),
        (GOOD.replace(b"Seen", "Se\u0085en".encode()), "statement_control_character"),
        (GOOD.replace(b"Seen", "Se\u202een".encode()), "statement_hidden_character"),
        (GOOD.replace(b"Seen", "Se\u200ben".encode()), "statement_hidden_character"),
        (GOOD.replace(b"Seen", "Se\u2028en".encode()), "statement_hidden_character"),
        (GOOD.replace("Điều".encode(), "Đie\u0302\u0300u".encode()), "statement_not_nfc"),
        (b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + GOOD, "statement_inline_signature"),
        (b"-----BEGIN PGP MESSAGE-----\n\nxx\n", "statement_inline_signature"),
        (GOOD + b"x" * limits.STATEMENT_BYTES_MAX, "statement_too_large"),
    ],
)
def test_bytes_that_are_no_statement_are_refused_each_by_its_code(body: bytes, code: str) -> None:
    assert refused(body).code == code


@pytest.mark.parametrize("text", [*TERMINAL.values(), "\U000e0041", "\u2061", "\ufe0f", "\u3164"])
def test_no_text_with_a_hidden_character_is_signed_or_read(text: str) -> None:
    hidden = [character for character in text if leaks(character)]
    assert hidden
    for character in hidden:
        body = GOOD.replace(b"Seen", f"Se{character}en".encode())
        assert refused(body).code in (
            "statement_hidden_character", "statement_control_character", "statement_carriage_return"
        )  # fmt: skip
        assert character not in refused(body).reason
        with pytest.raises(InvalidInput):
            render(replace(parsed(), reason=f"wrong{character} text"))


@pytest.mark.parametrize(
    "reason",
    [
        "Der Anhang fehlt – § 3 Abs. 2 „Übergang“ (siehe Änderung 12)",
        "Điều 4 khoản 2 bị thiếu, xem phụ lục Ấ",
        "L’article 4 manque\u00a0; voir «\u202fannexe\u202f» n° 2",
        "naïve coöperation, 3 €, ½, →, ✓, 法, закон",
    ],
)
def test_reasons_of_the_languages_of_laws_need_no_hidden_character(reason: str) -> None:
    assert parsed(render(replace(parsed(), reason=reason))).reason == reason


def test_the_front_matter_ends_at_its_first_fence() -> None:
    assert parsed(GOOD + b"---\ndecision: approve\n---\n").decision == "void"


@pytest.mark.parametrize(("decision", "binding"), schema.KINDS)
@pytest.mark.parametrize("gate", ["SG_cut_authz", "SG_lifecycle_authz"])
def test_each_kind_has_its_own_fields(decision: str, binding: str, gate: str) -> None:
    names = schema.fields_of(decision, binding, gate)
    assert names is not None
    assert len(set(names)) == len(names)
    assert set(names) <= set(schema.FORMS)
    assert ("review_decision_id" in names) == (gate == "SG_lifecycle_authz" and decision in ("approve", "reject"))
    assert {"deployment_id", "document_id", "approver", "signed_utc", "not_after"} <= set(names)


def test_what_cannot_be_read_back_is_not_written() -> None:
    with pytest.raises(ProgrammingError):
        render(_but(decision="void", binding="tuple"))
    for reason in ("two\nlines", "first: second", "see #4 or #5", "'quoted'", "", " x", "null"):
        with pytest.raises(InvalidInput):
            render(_but(reason=reason))
    with pytest.raises(InvalidInput):
        render(_but(approver="Alice Smith"))
    with pytest.raises(ProgrammingError):
        render(_but(writer_digest=digest("x")))


def test_the_record_of_a_statement_is_what_was_signed() -> None:
    assert [f"{name}: {value}" for name, value in statement_record(parsed()).items()] == LINES[1:13]


def test_the_document_of_approvals_shows_the_schema() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "statements.md").read_text(encoding="utf-8")
    for name in schema.FORMS:
        assert f"| `{name}` |" in page, name
    for decision, binding in schema.KINDS:
        assert f"| `{decision}` | `{binding}` |" in page, (decision, binding)


def _but(**changes: object) -> Statement:
    return replace(parsed(), **changes)  # type: ignore[arg-type]
