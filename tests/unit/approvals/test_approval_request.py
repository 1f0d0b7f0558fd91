"""The request document: what it binds, what it shows, and that it cannot say two things."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from cutter import limits
from cutter.approvals.request import (
    Changes,
    RequestDocument,
    UnitLine,
    escape,
    parse_request,
    render_request,
    request_sha256,
)
from cutter.catalogue import Sovereign
from cutter.errors import InvalidInput
from cutter.types import Refusal
from tests.cases.approval_cases import digest, request_document, request_tuple

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
CUT = request_document(request_tuple(), NOW)
LIFECYCLE = request_document(request_tuple(gate=Sovereign.LIFECYCLE), NOW)


OTHER_RUN = CUT.request.run_id[:-1] + "0"
SEED_FIELDS = (
    "doc_id", "source_version_id", "writer_digest", "manifest_digest", "region_sha", "candidate_count", "backup_sha",
    "grants_probe_snapshot", "run_id", "sidecar_path", "challenge", "review_decision_id",
)  # fmt: skip


def test_a_request_shows_its_restore_point_and_is_as_before_without_one() -> None:
    line = "cutter:0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b:01234567 at 0/3000060 on timeline 1, 2026-11-21T09:00:00Z"
    shown = replace(CUT, restore_point=line)
    assert f"| restore_point | `{line}` |" in text(shown)
    assert parse_request(render_request(shown)) == shown
    assert "restore_point" not in text(CUT)


def test_a_request_shows_at_which_times_the_effect_policy_denies_and_is_as_before_without_them() -> None:
    line = "05:00-22:00 UTC: policy.yaml line 4: rule by-day says deny to database create_units at IG_cut_leg_a_execute"
    shown = replace(CUT, effect_policy=line)
    assert "The effect policy decides by the time of the write: `05:00-22:00 UTC: policy" in text(shown)
    assert parse_request(render_request(shown)) == shown
    assert "effect_policy" not in text(CUT)
    assert "effect policy" not in text(CUT)


def text(document: RequestDocument) -> str:
    return render_request(document).decode()


def test_the_challenge_is_the_digest_of_the_whole_tuple_with_null_for_none() -> None:
    record = asdict(CUT.request)
    assert record["review_decision_id"] is None
    written = json.dumps(record, sort_keys=True, separators=(",", ":"))
    assert CUT.request.challenge == hashlib.sha256(written.encode()).hexdigest()


@pytest.mark.parametrize("field", sorted(asdict(LIFECYCLE.request)))
def test_the_challenge_depends_on_every_field(field: str) -> None:
    known = {
        "candidate_count": 61,
        "accepted_findings": "none",
        "nonce": "cd" * 16,
        "document_id": "ICX-LAW-2",
        "run_id": OTHER_RUN,
    }
    is_digest = len(str(getattr(LIFECYCLE.request, field))) == 64
    other = known.get(field, digest("x") if is_digest else "00000000-0000-0000-0000-0000000000ff")
    if field == "gate":
        changed = replace(LIFECYCLE.request, gate="SG_cut_authz", review_decision_id=None)
    else:
        changed = replace(LIFECYCLE.request, **{field: other})
    assert changed.challenge != LIFECYCLE.request.challenge


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "x"},
        {"writer_digest": None},
        {"candidate_count": "60"},
        {"findings_digest": None},
        {"accepted_findings": ""},
        {"accepted_findings": "everything"},
        {"review_decision_id": "00000000-0000-0000-0000-000000000009"},
        {"gate": "SG_lifecycle_authz"},
        {"gate": "SG_3"},
        {"document_id": "x; rm -rf"},
    ],
)
def test_an_illegal_tuple_cannot_be_built(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        replace(CUT.request, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes", [{"kb_id": "../x.md"}, {"approval_kb_id": "a';b.md"}, {"batch_id": "$(x)"}, {"mode": "x"}]
)
def test_nothing_that_a_shell_would_run_gets_into_the_commands(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        replace(CUT, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("document", [CUT, LIFECYCLE], ids=["SG_1", "SG_2"])
def test_a_request_reads_back_from_its_own_bytes(document: RequestDocument) -> None:
    data = render_request(document)
    assert parse_request(data) == document
    assert render_request(document) == data
    assert request_sha256(data) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    "old",
    [
        "60 units in all",
        "Scope",
        CUT.request.challenge[:20],
        "--name submit_approval",
        "Tier medium",
        "1 zero-width character",
        CUT.view_digest[:20],
    ],
)
def test_the_words_cannot_say_something_else_than_the_block(old: str) -> None:
    data = render_request(CUT)
    refusal = parse_request(data.replace(old.encode(), b"0" * len(old), 1))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "request_altered"


@pytest.mark.parametrize(
    "change",
    [
        lambda block: {**block, "schema": "x"},
        lambda block: {key: value for key, value in block.items() if key != "tier"},
        lambda block: {**block, "request": {}},
        lambda block: {**block, "request": None},
        lambda block: {**block, "created_utc": "now"},
        lambda block: {**block, "changes": []},
        lambda block: {**block, "request": {**block["request"], "nonce": None}},
    ],
)
def test_a_block_that_is_not_a_request_is_refused(change) -> None:  # type: ignore[no-untyped-def]
    head, _, rest = text(CUT).rpartition("```json\n")
    block = change(json.loads(rest.removesuffix("\n```\n")))
    refusal = parse_request(f"{head}```json\n{json.dumps(block)}\n```\n".encode())
    assert isinstance(refusal, Refusal)
    assert refusal.code == "request_malformed"


@pytest.mark.parametrize("data", [b"", b"\xff", b"# hello\n", b"\n```json\n{]}\n```\n"])
def test_other_bytes_are_refused(data: bytes) -> None:
    assert isinstance(parse_request(data), Refusal)


def test_too_large_a_request_is_not_read() -> None:
    refusal = parse_request(bytes(limits.KB_OBJECT_BYTES_MAX + 1))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "request_too_large"


@pytest.mark.parametrize("field", SEED_FIELDS)
def test_it_shows_what_the_seed_asks_for(field: str) -> None:
    """Seed 000 §3."""
    assert f"| {field} | `" in text(LIFECYCLE)


def test_it_says_until_when_it_waits() -> None:
    assert "2026-11-22T12:00:00Z" in text(LIFECYCLE)


def test_it_says_how_to_approve_and_to_refuse_with_exact_commands() -> None:
    shown = text(CUT)
    assert f"cutter approve {CUT.request.run_id}\n" in shown
    assert f'cutter reject {CUT.request.run_id} --reason "say why"\n' in shown
    assert "temporal workflow signal --workflow-id document/ICX-LAW-2026-001 --name submit_approval" in shown
    assert f"--input '\"{CUT.approval_kb_id}\"'" in shown
    assert "gpg --detach-sign --armor SG1-cut-authz-approval-alice-2026-11-21.md" in shown
    assert f"`{CUT.approval_kb_id}.asc`" in shown


def test_two_approvers_are_told_so() -> None:
    shown = text(replace(CUT, tier="high", approvers_needed=2))
    assert "2 distinct approvers" in shown
    assert "Each further approver" in shown


def test_a_dry_run_of_a_batch_offers_the_tuple_s_template_and_no_signal() -> None:
    shown = text(replace(CUT, mode="dryrun", batch_id="nightly-1"))
    assert "binding: tuple\nbatch_id: nightly-1\n" in shown
    assert "challenge: " not in shown.split("## To approve by hand")[1].split("## Machine")[0]
    assert "submit_approval" not in shown
    assert "cutter approve --batch nightly-1" in shown


def test_a_dry_run_alone_asks_for_nothing() -> None:
    shown = text(replace(CUT, mode="dryrun"))
    assert "gpg --detach-sign" not in shown
    assert "Nothing waits for an answer" in shown


def test_long_lists_are_counted_and_cut() -> None:
    units = [UnitLine(address=f"ICX-LAW-1/ART-{number}") for number in range(limits.CHANGES_SHOWN_MAX + 7)]
    changes = Changes.of(added=units, changed=[], removed=[])
    shown = text(replace(CUT, changes=changes))
    assert f"{limits.CHANGES_SHOWN_MAX + 7} added" in shown
    assert "- and 7 more" in shown
    assert parse_request(render_request(replace(CUT, changes=changes))) == replace(CUT, changes=changes)


def test_what_is_shown_of_the_law_comes_first_and_the_digests_last() -> None:
    titles = [line for line in text(CUT).split("\n") if line.startswith("## ")]
    assert titles == [
        "## Findings", "## What changes since the last enacted version", "## To approve with the tool",
        "## To approve by hand", "## To refuse", "## Signed digests", "## Machine-readable",
    ]  # fmt: skip


@pytest.mark.parametrize("change", [{"bytes": 3}, {"bytes": -1}, {"bytes": "x"}, {"sha256": digest("other")}, {}])
def test_the_block_names_exactly_what_the_text_shows(change: dict[str, object]) -> None:
    head, _, rest = text(CUT).rpartition("```json\n")
    block = json.loads(rest.removesuffix("\n```\n"))
    block["shown"] = {**block["shown"], **change} if change else None
    written = json.dumps(block, sort_keys=True, separators=(",", ":"))
    assert isinstance(parse_request(f"{head}```json\n{written}\n```\n".encode()), Refusal)


HOSTILE = [
    "<script>alert(1)</script>",
    "[click](http://evil.example)",
    "![x](http://evil.example/x.png)",
    "# heading",
    "1. item",
    "- item",
    "=====",
    "`code`",
    "**bold** _it_ ~~no~~",
    "http://evil.example www.evil.example a@evil.example",
    "&lt;b&gt; &#60;",
    "a | b",
    "line\nbreak",
    "back\\slash",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_of_a_law_becomes_markup(hostile: str) -> None:
    shown = text(replace(CUT, changes=Changes.of(
        added=[UnitLine(address="ICX-LAW-1/ART-1", title=hostile)], changed=[], removed=[])))  # fmt: skip
    reader = MarkdownIt("gfm-like", {"html": True, "linkify": False}).disable("linkify")
    plain = text(replace(CUT, changes=Changes.of(
        added=[UnitLine(address="ICX-LAW-1/ART-1", title="harmless")], changed=[], removed=[])))  # fmt: skip

    def kinds(source: str) -> list[str]:
        return [
            child.type
            for token in reader.parse(source)
            for child in (token, *(token.children or ()))
            if child.type not in ("text", "text_special")
        ]

    assert kinds(shown) == kinds(plain)


def test_hidden_characters_are_shown_by_their_number() -> None:
    assert escape("a\u202eb\u200bc") == "a⟨U+202E⟩b⟨U+200B⟩c"
    hidden = replace(
        CUT, changes=Changes.of(added=[UnitLine(address="A/\u202e", title="\u202e")], changed=[], removed=[])
    )
    assert "\u202e" not in text(hidden)
