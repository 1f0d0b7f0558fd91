"""IO: the reader of a signing session: the tree of units next to the text of the unit, the source and the findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.console import Group
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, OptionList, Static, TabbedContent, TabPane, Tabs, TextArea, Tree
from textual.widgets.option_list import Option
from textual.widgets.text_area import Selection
from textual.widgets.tree import TreeNode

from cutter import limits
from cutter.domain.amounts import counted
from cutter.domain.visible import visible
from cutter.request_view.forms import UNREAD, line_span
from cutter.request_view.view import LeftOut, RequestView, ShownUnit
from starter.approver.full_screen.pages import ALL_KEYS, Deciding, Notice, Question
from starter.approver.request_summary import SEVERITY_STYLES, change, facts, heading, worst_first
from starter.approver.session import Session
from starter.approver.session_requests import Asked
from starter.console.terminal import line

Piece = ShownUnit | LeftOut
Match = tuple[TreeNode[Piece], int]
"""A piece in the tree, and the number of one of its lines."""

TABS = ("findings", "change", "unit", "source", "facts")
PAGED = {
    "findings": "finding-list", "change": "change-list", "unit": "body", "source": "lines", "facts": "request-facts",
}  # fmt: skip
"""The widget that the keys for pages scroll in each tab."""

SHOWS = "Show findings, change, unit, source or facts"
NEXT_PAGE = "Show the next page of the text"


class UnitTree(Tree[Piece]):
    """The tree of units. It never shortens the number of words: a swallowed article makes it large."""

    def render_label(self, node: TreeNode[Piece], base_style: Style, style: Style) -> Text:
        label = super().render_label(node, base_style, style)
        if not isinstance(node.data, ShownUnit):
            return label
        words = line(f"{counted(node.data.words, 'word')}", "dim")
        # The root is not shown, so no guide leads from it.
        guides, above = -1, node.parent
        while above is not None:
            guides, above = guides + 1, above.parent
        room = self.scrollable_content_region.width - self.guide_depth * max(guides, 0) - words.cell_len - 1
        # A title keeps four columns, however deep the unit is. The number of words has the rest.
        label.truncate(max(room, 4), overflow="ellipsis", pad=True)
        return label.append(" ").append_text(words)


class RequestReader(Deciding):
    """One request. The screen ends with the request to read next, or with None for the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", tooltip="Go back"),
        Binding("space", "page(1)", "Page", tooltip=NEXT_PAGE, priority=True),
        Binding("pagedown", "page(1)", "Page", tooltip=NEXT_PAGE, show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", tooltip="Show the page before", show=False, priority=True),
        Binding("slash", "search", "Search", tooltip="Search titles, addresses and text"),
        Binding("n", "match(1)", "Next match", tooltip="Go to the next line that the search found", show=False),
        Binding("N", "match(-1)", "Previous match", tooltip="Go to the line found before", show=False),
        Binding("right_square_bracket", "other(1)", "Next", tooltip="Open the next request"),
        Binding("left_square_bracket", "other(-1)", "Previous", tooltip="Open the previous request", show=False),
        *(
            Binding(str(number), f"tab('{name}')", name, tooltip=SHOWS, show=False)
            for number, name in enumerate(TABS, start=1)
        ),
        Binding("tab", "app.focus_next", "Text", tooltip="Go from the tree to the text or the findings", show=False),
        Binding("shift+tab", "app.focus_previous", "Tree", tooltip="Go back to the tree", show=False),
        ALL_KEYS,
    ]

    def __init__(self, session: Session, asked: Asked, view: RequestView) -> None:
        super().__init__(session)
        self.asked = asked
        self.view = view
        self._matches: list[Match] = []
        self._match = 0
        self._shown: Piece | None = None
        self._lines = (1, 1)
        """The first and the last selected line of the source."""
        self._word = ""

    def compose(self) -> ComposeResult:
        first_tab = "findings" if self.view.findings else self.session.tab
        if self.view.revision is not None:
            first_tab = "change"
        difference = list(change(self.asked.document, self.view, limits.REQUEST_DIFFERENCE_CHARACTERS_MAX))
        yield Static(id="heading")
        with Horizontal():
            yield UnitTree(line(self.asked.name), id="tree")
            with Vertical():
                yield Static(id="about")
                with TabbedContent(initial=first_tab):
                    with TabPane(f"1 Findings {len(self.view.findings)}", id="findings"):
                        yield OptionList(*self._findings(), markup=False, id="finding-list")
                    with TabPane("2 Change", id="change"), VerticalScroll(id="change-list"):
                        yield Static(Group(*difference or [line("A first cut: no law in force changes.")]))
                    with TabPane("3 Unit", id="unit"):
                        yield _text_area("body")
                    with TabPane("4 Source", id="source"):
                        yield _text_area("lines")
                    with TabPane("5 Facts", id="facts"), VerticalScroll(id="request-facts"):
                        yield Static(facts(self.asked.document, self.view))
        yield Notice()
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.query_one("#lines", TextArea).text = visible("\n".join(self.view.lines))
        # Tab leads from the tree to the text or the findings: the keys 1 to 5 reach the tabs.
        self.query_one(Tabs).can_focus = False
        findings = self.query_one(OptionList)
        findings.highlighted = 0 if self.view.findings else None
        tree = self._tree()
        tree.show_root, tree.guide_depth = False, 2
        nodes: dict[str | None, TreeNode[Piece]] = {None: tree.root}
        for unit in self.view.units:
            below = unit.address in self.view.children
            add = nodes[unit.parent_address].add if below else nodes[unit.parent_address].add_leaf
            nodes[unit.address] = add(line(unit.title, "bold" if unit.findings else ""), data=unit)
            nodes[unit.address].expand()
        for piece in self.view.left_out:
            if piece.reason not in UNREAD:
                tree.root.add_leaf(line(f"no unit: {piece.reason}", "dim"), data=piece)
        tree.focus()
        self.draw()
        first = next(self._placed(), None)
        if first is not None and first.data is not None:
            tree.move_cursor(first)
            self._show(first.data)

    def _tree(self) -> UnitTree:
        return self.query_one(UnitTree)

    def draw(self) -> None:
        """Show the title of the law, and below it the request with its state."""
        session, decision = self.session, self.session.decision(self.asked)
        total = len(session.requests)
        text = session.gone.get(self.asked.key) or (decision.text if decision else "")
        parts = [self.asked.name, self.asked.gate, f"{session.state(self.asked)}{f': {text}' if text else ''}"]
        if total > 1:
            number = [request.key for request in session.requests].index(self.asked.key) + 1
            parts = [f"{number} of {total}", *parts, session.progress()]
        shown = Group(heading(self.asked.document, self.view), line(" · ".join(parts)))
        self.query_one("#heading", Static).update(shown)

    def _findings(self) -> Iterator[Option | None]:
        if not self.view.findings:
            yield Option(line("None."), disabled=True)
        for place, finding in enumerate(worst_first(self.view)):
            if place:
                yield None
            text = f"{finding.severity} line {finding.line}, {finding.name}: {finding.message}"
            shown = line(text, SEVERITY_STYLES[finding.severity])
            if finding.because is not None:
                shown.append("\n").append(line(f"{self.view.accepted_when}: {finding.because}"))
            yield Option(shown, id=str(self.view.findings.index(finding)))

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Piece]) -> None:
        if event.node.data is not None:
            self._show(event.node.data)

    def on_tree_node_selected(self, event: Tree.NodeSelected[Piece]) -> None:
        """Enter on a unit shows its text."""
        if event.node.data is not None:
            self.action_tab("unit")

    def _show(self, piece: Piece) -> None:
        """Show a piece. If the page shows it already, its marked line stays, because the tree tells of a move later."""
        if piece is self._shown:
            return
        self._shown = piece
        body = self.query_one("#body", TextArea)
        body.line_number_start = piece.first_line
        body.text = visible(self.view.body(piece)).rstrip("\n")
        body.scroll_home(animate=False)
        self._mark(piece.first_line, piece.last_line)
        where = f"{line_span(piece.first_line, piece.last_line)}, {piece.size} bytes"
        if isinstance(piece, LeftOut):
            about = f"becomes no unit: {piece.reason}; {where}"
        else:
            stored = piece.stored and piece.address not in self.view.stored_differences
            about = f"{piece.address}: {piece.section_type}, {where}, {counted(piece.words, 'word')}"
            about += f"; {counted(len(piece.findings), 'finding')}" if piece.findings else ""
            about += "; stored as planned" if stored else ""
        self.query_one("#about", Static).update(line(about))

    def on_tabbed_content_tab_activated(self) -> None:
        """A hidden source has no width, so the places of its lines are known only after it is shown."""
        self.call_after_refresh(lambda: self._mark(*self._lines))

    def _mark(self, first: int, last: int) -> None:
        """Select lines of the source, and show their beginning."""
        self._lines = (first, last)
        _select(self.query_one("#lines", TextArea), first - 1, last - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter on a finding shows its line in the source, with its unit in the tree."""
        place = int(event.option.id or 0)
        units = (node for node in self._placed() if isinstance(node.data, ShownUnit) and place in node.data.findings)
        unit = next(units, None)
        if unit is not None:
            self._go_to(unit)
        line_number = self.view.findings[place].line
        self._mark(line_number, line_number)
        self.action_tab("source")

    def _go_to(self, node: TreeNode[Piece]) -> None:
        """Move the tree to a piece and show it at once."""
        self._tree().move_cursor(node)
        if node.data is not None:
            self._show(node.data)

    def _placed(self) -> Iterator[TreeNode[Piece]]:
        """The nodes in the order of the tree."""
        waiting = [self._tree().root]
        while waiting:
            node = waiting.pop()
            if node.data is not None:
                yield node
            waiting.extend(reversed(node.children))

    def current(self) -> Asked:
        return self.asked

    def decided(self) -> None:
        """Leave for the next undecided request, or for the list. The page stays if the choice was undone."""
        left = self.session.undecided()
        if self.session.decision(self.asked) is None:
            self.draw()
            return
        place = [request.key for request in self.session.requests].index(self.asked.key)
        later = [request for request in self.session.requests[place:] if request in left] or left
        self.dismiss(later[0] if later else None)

    def action_tab(self, name: str) -> None:
        if name != "change" and not self.view.findings:
            self.session.tab = name
        self.query_one(TabbedContent).active = name
        if not self._tree().has_focus:
            self.query_one(f"#{PAGED[name]}").focus()

    def action_page(self, step: int) -> None:
        """Scroll the text, independent of the focus. The last line of a page is the first line of the next."""
        shown = self.query_one(f"#{PAGED[self.query_one(TabbedContent).active]}")
        shown.scroll_relative(y=step * max(1, shown.scrollable_content_region.height - 1), animate=False)

    def action_other(self, step: int) -> None:
        """Open the next or the previous request of the list, also if it is decided."""
        place = [request.key for request in self.session.requests].index(self.asked.key) + step
        if 0 <= place < len(self.session.requests):
            self.dismiss(self.session.requests[place])

    def action_search(self) -> None:
        self.app.push_screen(Question("Search titles, addresses and text for:", text=self._word), self._search)

    def _search(self, word: str | None) -> None:
        if not word:
            return
        self._word = word
        self._matches = [match for node in self._placed() for match in self._matches_in(node, word.casefold())]
        if self._matches:
            self._show_match(0)
        else:
            self.app.notify(f"no unit has {word!r}", severity="warning")

    def _matches_in(self, node: TreeNode[Piece], word: str) -> Iterator[Match]:
        """Each line of a piece with the word, or its heading if only the title or the address has the word."""
        piece = node.data
        if piece is None:
            return
        body = self.view.body(piece).removesuffix("\n").split("\n")
        at = [number for number, text in enumerate(body, start=piece.first_line) if word in text.casefold()]
        if not at and isinstance(piece, ShownUnit) and word in f"{piece.title} {piece.address}".casefold():
            at = [piece.line]
        yield from ((node, number) for number in at)

    def action_match(self, step: int) -> None:
        if self._matches:
            self._show_match((self._match + step) % len(self._matches))

    def _show_match(self, place: int) -> None:
        self._match = place
        node, number = self._matches[place]
        self._go_to(node)
        self.action_tab("unit")
        self.call_after_refresh(self._mark_match, number)
        message = f"{place + 1} of {len(self._matches)} with {self._word!r}: line {number}; n: next, N: previous"
        self.app.notify(message)

    def _mark_match(self, number: int) -> None:
        """Select the line in the text of its unit and in the source."""
        if self._shown is not None:
            _select(self.query_one("#body", TextArea), number - self._shown.first_line)
        self._mark(number, number)
        # The message below the text has taken a line from the tree.
        self._tree().scroll_to_line(self._tree().cursor_line, animate=False)


def _select(area: TextArea, first: int, last: int | None = None) -> None:
    """Select lines, counted from 0, and show their begin."""
    end = min(first if last is None else last, area.document.line_count - 1)
    first = min(first, end)
    # From the end to the begin, because the view follows the cursor.
    area.selection = Selection((end, len(area.document.get_line(end))), (first, 0))
    area.scroll_to(y=max(0, area.wrapped_document.location_to_offset((first, 0)).y - 2), animate=False)


def _text_area(name: str) -> TextArea:
    area = TextArea(read_only=True, show_line_numbers=True, soft_wrap=True, id=name)
    area.highlight_cursor_line = False
    return area
