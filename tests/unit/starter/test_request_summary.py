"""What the short page of `cutter approve` shows before a person signs."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from cutter import limits
from cutter.marking import Options
from cutter.projections import request_page
from cutter.request_view.forms import request_record
from cutter.request_view.view import RequestView
from starter.approver import request_summary
from starter.console.terminal import SafeConsole
from tests.cases.request_views import RED, document_of, hostile_view, view, written_view
from tests.support.hostile import STRINGS, leaks
from tests.unit.gates.passing import REVISION


def printed(shown: RequestView) -> list[str]:
    """The lines of the page, and of one unit at its place."""
    out = io.StringIO()
    unit = request_summary.unit_at_its_place(shown, shown.units[0])
    SafeConsole(out, width=200).print(
        request_summary.summary(document_of(shown), shown), *unit, sep="\n", soft_wrap=True
    )  # fmt: skip
    return out.getvalue().split("\n")


def test_the_title_comes_first_then_the_findings_then_the_tree_then_the_digests() -> None:
    shown = view()
    lines = printed(shown)
    assert (lines[0], lines[1].split(", open until ")[0]) == (shown.title, "SG_cut_authz of ICX-LAW-2026-001")
    assert lines[2] == "3 findings (1 red, 1 amber, 1 info)"
    assert lines[3].startswith(f"  red line 20, {RED}: ")
    assert lines[3].endswith(". Accepted when the text was registered: printed twice in the gazette")
    tree = next(number for number, line in enumerate(lines) if line.startswith("6 units: "))
    assert "    Article 1. Scope (article, line 10, 11 words)" in lines[tree:]
    assert lines[tree + 7] == "digests, recomputed here"
    assert [line.split()[0] for line in lines[tree + 8 : tree + 10]] == ["writer_digest", "view_digest"]


def test_the_page_of_a_law_of_many_units_fits_a_small_terminal() -> None:
    articles = "".join(f"## Article {number}. Duty\n\nText.\n\n" for number in range(1, 200))
    shown = view(f"# An Act\n\n{articles}", Options())
    out = io.StringIO()
    SafeConsole(out, width=80).print(request_summary.summary(document_of(shown), shown))
    assert len(out.getvalue().splitlines()) < 24


def test_the_change_comes_before_the_findings() -> None:
    lines = printed(replace(view(), revision=REVISION, effective_from="2026-12-01", reason="by Act 7"))
    place = next(number for number, line in enumerate(lines) if line.endswith("the law in force on 2026-12-01"))
    assert lines[place + 1] == "reason: by Act 7"
    assert place < lines.index("3 findings (1 red, 1 amber, 1 info)")


def test_what_the_effect_policy_decides_by_the_time_comes_before_the_findings() -> None:
    shown, out = view(), io.StringIO()
    document = replace(document_of(shown), effect_policy="05:00-22:00 UTC: policy.yaml line 4: rule by-day says deny")
    SafeConsole(out, width=200).print(request_summary.summary(document, shown), soft_wrap=True)
    assert out.getvalue().split("\n")[2] == f"effect policy, by the time of the write: {document.effect_policy}"
    assert request_record(document, shown)["effect_policy"] == document.effect_policy
    assert document.effect_policy.encode() in request_page.render(document, shown)


def test_a_unit_is_shown_with_the_numbers_of_its_lines() -> None:
    assert "     6  Preamble of the Act." in printed(view())


def test_long_lists_are_counted_and_name_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_summary, "UNITS_IN_PAGE", 2)
    monkeypatch.setattr(request_summary, "FINDINGS_IN_PAGE", 1)
    lines = printed(view())
    assert any("… and 4 units more: see `cutter request ICX-LAW-2026-001 --open" in line for line in lines)
    assert any("… and 2 findings more" in line for line in lines)
    assert limits.LINES_OF_A_UNIT > 1


def test_the_request_to_enact_says_that_the_drafts_are_as_planned() -> None:
    assert any("6 drafts stored as planned" in line for line in printed(written_view()))


def test_the_request_to_enact_a_revision_counts_no_kept_unit() -> None:
    assert REVISION.counts == {"keep": 0, "revise": 0, "create": 3, "repeal": 0}
    assert any("3 drafts stored as planned" in line for line in printed(replace(written_view(), revision=REVISION)))


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_no_text_of_others_adds_a_line_or_hides(text: str) -> None:
    lines = printed(hostile_view(text))
    assert leaks("\n".join(lines)) == []
    harmless_view = replace(hostile_view("harmless"), data=hostile_view(text).data)
    assert len(lines) == len(printed(harmless_view))
