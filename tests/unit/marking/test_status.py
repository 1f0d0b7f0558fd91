"""The constitution profile: what is in force is cut, the rest is itemised with its reason and status basis."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.marking.texts import addresses, body, codes, cut, refused, titles

CONSTITUTION = "incomex-constitution"
MODEL = Path(__file__).resolve().parents[3] / "examples" / "laws" / "hien-phap-mau.vi.md"


def test_principles_sections_and_articles_stand_side_by_side() -> None:
    marking = cut("# A ✅\n## NT-1: x\na\n## KT-A y\nb\n## Điều 0-B: z\nc\n", CONSTITUTION)
    assert addresses(marking) == ["NT-1", "KT-A", "DIEU-0-B"]
    assert [unit.section_type for unit in marking.candidates] == ["principle", "section", "article"]
    assert {unit.parent_address for unit in marking.candidates} == {None}
    assert {(unit.unit_kind, unit.publication_type, unit.owner) for unit in marking.candidates} == {
        ("law_unit", "law", "incomex_council")
    }


def test_article_44_stands_deferred_in_an_enacted_section_and_is_not_cut() -> None:
    text = "# Phần I ✅\n## Điều 43\na\n## Điều 44 📋\nb\n## Điều 45\nc\n"
    marking = cut(text, CONSTITUTION, forbidden_ids=("DIEU-44",))
    assert addresses(marking) == ["DIEU-43", "DIEU-45"]
    excluded = marking.exclusions[0]
    assert (excluded.line, excluded.reason, excluded.status_basis) == (
        4,
        "controlled_draft_deferred",
        "tier_2_row_marker",
    )
    assert text.encode()[excluded.start : excluded.end].decode() == "## Điều 44 📋\nb"


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("📋", "controlled_draft_deferred"),
        ("📝", "draft_excluded_by_enacted_only"),
        ("⛔", "obsolete_excluded"),
    ],
)
def test_a_group_header_gives_its_status_to_its_rows(marker: str, reason: str) -> None:
    marking = cut(f"# A ✅\n## Điều 1\na\n# B {marker}\n## Điều 2\nb\n", CONSTITUTION)
    assert addresses(marking) == ["DIEU-1"]
    assert [(piece.line, piece.reason, piece.status_basis) for piece in marking.exclusions] == [
        (5, reason, "tier_1_group_header")
    ]


def test_an_enacted_row_in_a_deferred_group_is_not_cut_and_is_a_finding() -> None:
    marking = cut("# A ✅\n## Điều 1\na\n# B 📋\n## Điều 2 ✅\nb\n", CONSTITUTION)
    assert addresses(marking) == ["DIEU-1"]
    assert codes(marking) == [("status_conflict", 5)]


def test_a_row_without_any_marker_has_the_profiles_default_and_is_not_cut() -> None:
    assert refused("# A\n## Điều 1\na\n", CONSTITUTION).code == "no_candidates"
    marking = cut("# A\n## Điều 1\na\n## Điều 2 ✅\nb\n", CONSTITUTION)
    assert addresses(marking) == ["DIEU-2"]
    assert marking.exclusions[0].status_basis == "tier_3_default"


def test_a_nested_header_inherits_and_a_sibling_does_not() -> None:
    text = "# A ⛔\n## B ✅\n### Điều 1\na\n# C ✅\n## D\n### Điều 2\nb\n"
    assert addresses(cut(text, CONSTITUTION)) == ["DIEU-2"]


def test_scope_all_cuts_every_row() -> None:
    text = "# A ✅\n## Điều 1 📋\na\n## Điều 2 ⛔\nb\n"
    assert addresses(cut(text, CONSTITUTION, scope="all")) == ["DIEU-1", "DIEU-2"]


def test_status_is_neither_in_the_address_nor_in_the_title() -> None:
    marking = cut("# A\n## ✅ Điều 1: Tên\na\n## Điều 2: Hai ✅\ufe0f\nb\n", CONSTITUTION)
    assert titles(marking) == ["Điều 1: Tên", "Điều 2: Hai"]
    assert addresses(marking) == ["DIEU-1", "DIEU-2"]


def test_a_heading_inside_a_row_is_its_text_and_one_beside_it_closes_it() -> None:
    text = "# A ✅\n## Điều 1\na\n### Cách làm\nb\n## Nhóm\nlời dẫn\n## Điều 2\nc\n"
    marking = cut(text, CONSTITUTION)
    assert body(text, marking, 0) == "## Điều 1\na\n### Cách làm\nb"
    assert [(piece.line, piece.reason) for piece in marking.exclusions] == [(7, "outside_units")]
    assert [gap.line for gap in marking.non_content if gap.kind == "group_header"] == [1, 6]


def test_the_model_constitution_keeps_article_44_out() -> None:
    marking = cut(MODEL.read_bytes(), CONSTITUTION, forbidden_ids=("DIEU-44",))
    assert "DIEU-44" not in addresses(marking)
    assert "DIEU-4" in addresses(marking)
