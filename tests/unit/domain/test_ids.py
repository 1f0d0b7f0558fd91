"""Ids at their edges: what a person types or a message carries is parsed once, and strictly."""

from __future__ import annotations

import uuid

import pytest

from cutter.domain import ids
from cutter.errors import InvalidInput

RUN = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"

LOOK_ALIKES = {
    "cyrillic А": "\u0410", "greek Ι": "\u0399", "full-width Ａ": "\uff21", "arabic digit ١": "\u0661",
    "non-breaking hyphen": "\u2011", "en dash": "\u2013", "minus": "\u2212", "soft hyphen": "\u00ad",
    "zero-width space": "\u200b", "combining accent": "A\u0301", "small x": "x", "space": " ", "line feed": "\n",
    "null": "\x00", "slash": "/", "backslash": "\\", "percent": "%", "underscore": "_", "dot": ".",
}  # fmt: skip


@pytest.mark.parametrize("text", ["ABC", "A" * 64, "ICX-LAW-2026-001", "---", "0-0"])
def test_a_document_id_of_the_rule_is_taken_as_it_is(text: str) -> None:
    assert ids.document_id(text) == text


@pytest.mark.parametrize("text", ["", "AB", "A" * 65, "ABC\n", "\nABC", " ABC", "ABC "])
def test_a_document_id_of_another_length_or_with_an_edge_is_refused(text: str) -> None:
    with pytest.raises(ids.InvalidId, match="3 to 64"):
        ids.document_id(text)


@pytest.mark.parametrize("inside", LOOK_ALIKES.values(), ids=LOOK_ALIKES.keys())
def test_look_alikes_are_refused_in_every_kind_of_id(inside: str) -> None:
    for parse, text in ((ids.document_id, f"ICX{inside}LAW"), (ids.docprefix, f"ICX{inside}LAW")):
        with pytest.raises(ids.InvalidId):
            parse(text)
    with pytest.raises(ids.InvalidId):
        ids.run_id(RUN.replace("7c3d", f"7c{inside}d"))
    assert not ids.is_run_id(RUN + inside)


@pytest.mark.parametrize("text", ["ABC", "A1B", "ICX-LAW-1", "A" * 32, "0-0", "XDIEU-4", "DIE-1", "ICX-CONST-2"])
def test_a_docprefix_of_the_rule_is_taken_as_it_is(text: str) -> None:
    assert ids.docprefix(text) == text


@pytest.mark.parametrize(
    "text", ["", "AB", "A" * 33, "-AB", "AB-", "---", "DIEU", "DIEU-4", "DIEUX", "ICX-CONST", "ABC\n", "icx-law"]
)
def test_a_docprefix_with_a_dash_at_an_end_of_another_length_or_reserved_is_refused(text: str) -> None:
    with pytest.raises(ids.InvalidId, match="docprefix"):
        ids.docprefix(text)


@pytest.mark.parametrize("text", ["DIEU-4", "ICX-CONST"])
def test_a_reserved_docprefix_is_called_reserved(text: str) -> None:
    with pytest.raises(ids.InvalidId, match="is reserved"):
        ids.docprefix(text)


def test_a_run_id_is_a_time_and_a_uuid7() -> None:
    """Seed 000 §5."""
    assert ids.run_id(RUN) == RUN
    assert ids.is_run_id(RUN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        RUN.upper(),
        RUN + "\n",
        RUN[:-1],
        RUN.replace("-7e4f-", "-4e4f-"),  # a uuid4
        RUN.replace("-8a9b-", "-ca9b-"),  # another variant
        RUN.replace("20261121", "20261321"),  # a month that does not exist
        RUN.replace("20261121", "20260230"),  # a day that does not exist
        RUN.replace("T090000Z", "T250000Z"),
        RUN.replace("Z-", "-"),
        "../" + RUN,
    ],
)
def test_anything_else_is_no_run_id(text: str) -> None:
    """Seed 000 §5."""
    assert not ids.is_run_id(text)
    with pytest.raises(ids.InvalidId, match="looks like ictr-"):
        ids.run_id(text)


@pytest.mark.parametrize(
    "text", ["a.md", "knowledge/dev/laws/icx-1/01-source-pin-2026-11-21.md", "a/..b/c.md", "...md"]
)
def test_a_kb_id_is_a_path_below_the_root(text: str) -> None:
    assert ids.kb_id(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "", ".md", "a", "a.MD", "a.md ", "a.md\n", "/a.md", "a//b.md", "../a.md", "a/../b.md", "a/..", "./a.md",
        "a/./b.md",
        "a\\b.md", "a b.md", "C:/a.md", "file:a.md", "a.md/", "a.md/..", "%2e%2e/a.md", "a\x00.md", "à.md", "a.md\x00",
        "a" * 513 + ".md", "~/a.md/", "a/\u2025/b.md",
    ],
)  # fmt: skip
def test_a_kb_id_that_leaves_the_root_or_is_no_plain_path_is_refused(text: str) -> None:
    with pytest.raises(ids.InvalidId, match="KB id"):
        ids.kb_id(text)


def test_a_refused_id_is_the_typist_s_to_correct() -> None:
    with pytest.raises(InvalidInput) as caught:
        ids.document_id("no")
    assert (caught.value.code, caught.value.exit_code) == ("STOP_REFUSED_INPUT", 2)


def test_derived_ids_are_the_same_at_every_try_and_differ_by_run_and_role() -> None:
    assert ids.derived(RUN, "change_set") == ids.derived(RUN, "change_set")
    other = RUN.replace("4a5b", "4a5c")
    made = {
        ids.derived(run, role) for run in (RUN, other) for role in ("change_set", "verify_result", "affected/LAW/A")
    }
    assert len(made) == 6
    assert all(identifier.version == 5 and identifier.variant == uuid.RFC_4122 for identifier in made)


def test_a_derived_id_is_what_it_was_in_runs_that_stand() -> None:
    """Changing the namespace would mint other ids for a run that is resumed."""
    assert str(ids.derived(RUN, "change_set")) == str(uuid.uuid5(ids.RUN_NAMESPACE, f"{RUN}\nchange_set"))
    assert str(ids.RUN_NAMESPACE) == "6f0d3c1e-5a55-5b0c-9d4e-6d1f3c2b7a10"


def test_a_slug_is_the_prefix_in_lower_case() -> None:
    assert ids.slug("ICX-LAW-1") == "icx-law-1"
