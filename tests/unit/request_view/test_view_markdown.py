"""What a request document shows of the law: findings first, every unit, acceptances, and nothing active."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter import limits
from cutter.approvals.request import parse_request, render_request
from cutter.catalogue import Sovereign
from cutter.domain.markdown import escape
from cutter.marking import Options
from cutter.request_view.forms import markdown
from tests.cases.request_views import document_of, hostile_view, view, written_view
from tests.support.hostile import STRINGS, bare_addresses, leaks, live, shape


def sections(text: str) -> list[str]:
    return [line.removeprefix("## ") for line in text.split("\n") if line.startswith("## ")]


def test_findings_come_first_and_the_red_ones_first_of_them() -> None:
    shown = markdown(view())
    assert sections(shown) == ["Findings", "Units", "Text that becomes no unit", "Accepted findings"]
    assert shown.index("### Red") < shown.index("### Amber") < shown.index("### Info") < shown.index("## Units")


def test_each_unit_has_title_number_address_kind_place_size_and_excerpt() -> None:
    line = next(line for line in markdown(view()).split("\n") if "Scope" in line)
    assert line == (
        "  - **Article 1. Scope** · number `1` · `ACT-1/CHAPTER-I/ARTICLE-1` · article · lines 10 to 12 · 64 bytes · "
        "11 words: This Act is about bridges and their lamps."
    )


def test_accepted_findings_have_their_reasons() -> None:
    shown = markdown(view())
    assert shown.count("printed twice in the gazette") == 2
    when = "Accepted when the text was registered"
    assert (
        f"## Accepted findings\n\n{when}:\n\n- `number_repeated:ACT-1/CHAPTER-II/ARTICLE-2~2`: printed twice" in shown
    )
    named = replace(view(), registered="by anna on 2026-11-23")
    assert f"{escape(f'{when}, by anna on 2026-11-23')}: printed twice in the gazette" in markdown(named)
    assert "## Accepted findings\n\nNone.\n" in markdown(view("# Act\n\nText.\n", Options()))


def test_the_request_to_enact_shows_what_was_written_and_verified() -> None:
    shown = markdown(written_view())
    assert sections(shown)[-1] == "Written and verified"
    assert "| IG_write_verify | bodies_match_plan | 6 | 6 |" in shown
    assert "PostgreSQL holds 6 of these 6 units as drafts." in shown
    assert "different for 6 units" in markdown(written_view(()))


@pytest.mark.parametrize("gate", Sovereign)
def test_the_whole_document_reads_back(gate: Sovereign) -> None:
    document = document_of(written_view() if gate is Sovereign.LIFECYCLE else view(), gate)
    assert parse_request(render_request(document)) == document


def test_a_list_that_is_too_long_is_counted_and_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REQUEST_TREE_BYTES_MAX", 400)
    monkeypatch.setattr(limits, "FINDINGS_IN_REQUEST_MAX", 0)
    shown = markdown(view())
    assert "- and 3 more; `cutter request` shows them all\n" in shown
    assert "### Amber\n\n- and 1 more; `cutter request` shows them all\n" in shown
    assert "number_repeated" in shown.split("## Units")[0], "no red finding is left out"


def test_the_longest_titles_fit_into_the_knowledge_base() -> None:
    shown = view()
    unit = replace(shown.units[0], title="\u202e" * limits.TITLE_CHARACTERS_MAX, excerpt="\u202e" * 141)
    text = markdown(replace(shown, units=(unit,) * limits.CANDIDATES_MAX))
    assert len(text.encode()) < limits.REQUEST_TREE_BYTES_MAX + 10_000 < limits.KB_OBJECT_BYTES_MAX


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_no_text_of_others_is_active_or_hidden(text: str) -> None:
    shown = markdown(hostile_view(text))
    assert leaks(shown) == []
    assert live(shown) == []
    assert bare_addresses(shown.split("\n")) == []
    harmless = [kind for kind in shape(markdown(hostile_view("harmless"))) if kind != "code_inline"]
    assert [kind for kind in shape(shown) if kind != "code_inline"] == harmless
