"""The page of a request: it needs nothing from elsewhere, links what belongs together, and shows the whole source."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import fields, replace
from html.parser import HTMLParser

import pytest

from cutter.approvals.request import Changes, UnitLine
from cutter.catalogue import Sovereign
from cutter.marking import Options, build_plan
from cutter.marking.revision import Base, UnitTextInForce
from cutter.projections import request_page
from cutter.request_view.builder import build_view
from cutter.request_view.record import view_digest
from cutter.request_view.view import RequestView
from tests.cases.request_views import LAW, document_of, hostile_view, view, written_view
from tests.support.hostile import STRINGS, leaks
from tests.unit.marking.texts import cut

VOID = frozenset(("meta", "link", "img", "input", "br", "hr"))


class Page(HTMLParser):
    """A page read back: its elements, ids, links and the text of each line of the source."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.open: list[str] = []
        self.line_depth = 0
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.lines: list[str] = []
        self.headings: list[str] = []
        self.text = ""
        self.feed(page.decode())
        self.close()
        assert self.open == [], "each element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if "line" in (dict(attrs).get("class") or "").split():
            self.lines.append("")
            self.line_depth = len(self.open) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if len(self.open) == self.line_depth:
            self.line_depth = 0
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)
        if self.line_depth:
            self.lines[-1] += data

    def values(self, name: str, tag: str = "") -> list[str]:
        return [str(attrs[name]) for element, attrs in self.tags if name in attrs and tag in ("", element)]


def page_of(shown: RequestView, gate: Sovereign = Sovereign.CUT) -> bytes:
    return request_page.render(document_of(shown, gate), shown)


def test_the_same_request_is_the_same_page() -> None:
    assert page_of(view()) == page_of(view())


def test_an_open_request_says_how_to_approve_and_how_to_refuse() -> None:
    text = Page(page_of(view())).text
    assert "To approve: cutter approve ictr-" in text
    assert "To refuse: cutter reject ictr-" in text


def test_the_sentence_after_a_command_does_not_begin_with_a_full_stop() -> None:
    """A command has a line of its own, so a full stop after it would be alone at the start of the next line."""
    after = re.findall(r'<code class="command">[^<]*</code>(..)', page_of(view()).decode())
    assert after == [" I", " T"]


def test_a_request_that_is_over_says_so_first_and_asks_for_nothing() -> None:
    over = "This request is over: rejected at SG_1 by <anna>: article 4 is missing. Nothing waits for an answer."
    shown = view()
    text = Page(request_page.render(document_of(shown), shown, over=over)).text
    assert text.index(over) < text.index("document")
    assert "cutter report ictr-" in text
    for gone in ("To approve", "To refuse", ", until"):
        assert gone not in text


def test_findings_come_before_the_text_and_digests_last() -> None:
    assert Page(page_of(view())).headings == [
        "An Act", "Findings", "Accepted findings", "Tree and text", "Digests",
    ]  # fmt: skip
    assert "Written and verified" in Page(page_of(written_view(), Sovereign.LIFECYCLE)).headings


def test_nothing_is_loaded_from_elsewhere_and_only_its_own_script_runs() -> None:
    page = page_of(view())
    read = Page(page)
    assert read.values("src") == []
    assert all(link.startswith("#") for link in read.values("href"))
    assert [tag for tag, _ in read.tags if tag in ("link", "img", "iframe", "object", "base")] == []
    assert re.findall(r"url\(|@import|https?:", re.sub(r"(?s)<body.*", "", page.decode())) == []
    script = re.findall(r"(?s)<script>(.*?)</script>", page.decode())
    named = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    policy = next(str(attrs["content"]) for _, attrs in read.tags if "http-equiv" in attrs)
    assert len(script) == 1
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{named}';" in policy


@pytest.mark.parametrize("shown", [view(), written_view()], ids=["SG_1", "SG_2"])
def test_every_link_leads_to_one_place_of_the_page(shown: RequestView) -> None:
    read = Page(page_of(shown, Sovereign.LIFECYCLE if shown.sealed else Sovereign.CUT))
    ids = read.values("id")
    assert len(ids) == len(set(ids))
    assert {link.removeprefix("#") for link in read.values("href")} <= set(ids)
    for finding, number in zip(shown.findings, range(1, 4), strict=True):
        assert f"#L{finding.line}" in read.values("href")
        assert read.values("href").count(f"#finding-{number}") >= 2, "from the unit and from its line"
    for unit in shown.units:
        assert read.values("href").count(f"#{unit.address}") >= 2, "from the tree and from itself"


def test_every_line_of_the_source_is_there_once_with_its_number() -> None:
    read = Page(page_of(view()))
    numbers = [identifier for identifier in read.values("id") if re.fullmatch(r"L\d+", identifier)]
    assert numbers == [f"L{number}" for number in range(1, LAW.count("\n") + 1)]
    shown = [line.replace("⟨U+200B⟩", "\u200b").lstrip("⚑") for line in read.lines]
    assert "\n".join(shown) + "\n" == LAW


def test_a_page_says_what_is_new_only_where_something_is_old() -> None:
    shown = view()
    document = document_of(shown)
    assert b"is-changed" not in request_page.render(document, shown).split(b"<body")[1]
    unit = UnitLine(address=shown.units[2].address, title="x")
    changes = Changes.of(added=[], changed=[unit], removed=[])
    page = request_page.render(replace(document, changes=changes), shown).decode()
    assert page.split("<body")[1].count("is-changed") == 2, "in the tree and in the text"


def test_a_unit_that_ends_is_shown_and_its_markup_has_no_effect() -> None:
    after = "# One\n\n## Kept\nstays\n"
    before = f"{after}\n## <i>gone</i>\n<b>ends</b>\n"
    plan = build_plan(before.encode(), cut(before), docprefix="LAW", source_version_id="v1")
    names = [field.name for field in fields(UnitTextInForce)]
    units = tuple(UnitTextInForce(**{name: getattr(row, name) for name in names}) for row in plan.rows)
    law = Base(operation_kind="revision", source_version_id="v1", receipt_hash="a" * 64, units=units)
    version = view().source_version_id
    shown = build_view(after.encode(), cut(after), docprefix="LAW", source_version_id=version, law=law)
    page = request_page.render(document_of(shown), shown).decode()
    assert "&lt;i&gt;gone&lt;/i&gt;" in page
    assert "&lt;b&gt;ends&lt;/b&gt;</del>" in page
    assert not [tag for tag, _ in Page(page.encode()).tags if tag in ("i", "b")]
    assert Page(page.encode()).headings[1:3] == ["What changes in the law", "The request"], "the words come first"
    assert page.index("<del>") < page.index("cutter approve"), "who signs reads the words before the command"


def test_a_stored_unit_that_differs_is_told_not_to_be_signed() -> None:
    assert b"Each has the title, parent and body of the plan." in page_of(written_view(), Sovereign.LIFECYCLE)
    page = page_of(written_view(()), Sovereign.LIFECYCLE)
    assert b"6 differ from the plan: do not sign." in page


def test_it_names_the_digests_that_are_signed() -> None:
    shown = view()
    page = page_of(shown).decode()
    document = document_of(shown)
    for digest in (view_digest(shown), document.request.challenge, shown.digests.findings_digest):
        assert f"<code>{digest}</code>" in page


def test_a_law_without_findings_says_so() -> None:
    read = Page(page_of(view("# Act\n\nText.\n", Options())))
    assert "None was accepted." in read.text
    assert "0 with findings" in read.text


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_no_text_of_others_is_active_or_hidden_in_the_page(text: str) -> None:
    page = page_of(hostile_view(text), Sovereign.LIFECYCLE)
    assert leaks(page.decode()) == []
    assert all(f"⟨{code}⟩" in page.decode() for code in leaks(text))

    def elements(of: bytes) -> list[str]:
        return [tag for tag, _ in Page(of).tags]

    assert elements(page) == elements(page_of(hostile_view("harmless"), Sovereign.LIFECYCLE))
