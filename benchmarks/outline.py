"""Pure: the explicit structure of a law as an independent parser reads it: markdown-it-py and nothing of the marking.

A law's structure is explicit where its headings are written with `#`. A collection may also name an expression for
articles that it writes as plain lines; those are parts of the heading above them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import normalize

from markdown_it import MarkdownIt
from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]*\]")
"""A reference to a footnote, which commonmark leaves in the text."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_PLAIN = 9
"""Depth of an article in a plain line: below every `#`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A heading: its line from 1, its depth, its text without markup, and the line of the heading that holds it."""

    line: int
    depth: int
    title: str
    parent: int | None
    is_title: bool = False

    @property
    def plain(self) -> bool:
        return self.depth == _PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The headings of a law in order."""

    entries: tuple[Entry, ...]

    @property
    def explicit(self) -> bool:
        """True when `#` headings beside the document's title hold the structure, and no plain line does."""
        return self.has_structure and not any(entry.plain for entry in self.entries)

    @property
    def has_structure(self) -> bool:
        return sum(not entry.is_title for entry in self.entries) > 1


def outline(text: str, articles: re.Pattern[str] | None = None) -> Outline:
    """The outline of a Markdown text; `articles` finds the plain lines that are articles, at a line's start.

    Plain lines count only in a text that writes no articles with `#`, since other texts quote them.
    """
    lines = text.split("\n")
    parsed = MarkdownIt("commonmark").parse(_without_front_matter(text))
    at = _numbers_by_lf(text)
    headings = [(at[line], depth, title) for line, depth, title in _headings(parsed)]
    if articles is not None and sum(articles.match(title) is not None for _, _, title in headings) <= 1:
        taken = {line for line, _, _ in headings} | {at[line] for line in _inside_code(parsed)}
        headings += [(number, _PLAIN, _inline(line)) for number, line in enumerate(lines, 1)
                  if number not in taken and articles.match(line)]  # fmt: skip
    return Outline(entries=_nested(sorted(headings)))


def _numbers_by_lf(text: str) -> list[int]:
    """The number that a line has where only LF ends lines, for each line where CR does too; the first place is none."""
    numbers = [0, 1]
    for end in _LINE_END.finditer(text):
        numbers.append(numbers[-1] + ("\n" in end.group()))
    return numbers


def letters(text: str) -> str:
    """A title as it is compared: letters and digits alone, in one case; raised digits are digits (§ 5¹)."""
    return "".join(character for character in normalize("NFKC", text).casefold() if character.isalnum())


def _without_front_matter(text: str) -> str:
    """The text with its leading YAML block blanked, so that line numbers stay."""
    block = _FRONT_MATTER.match(text)
    return text if block is None else "\n" * block.group().count("\n") + text[block.end() :]


def _headings(tokens: list[Token]) -> list[tuple[int, int, str]]:
    headings = []
    for opening, inline in pairwise(tokens):
        written_with_hashes = opening.type == "heading_open" and opening.markup.startswith("#")
        if written_with_hashes and opening.level == 0 and opening.map is not None:
            title = " ".join(_text(inline).split())
            if title:
                headings.append((opening.map[0] + 1, int(opening.tag[1:]), title))
    return headings


def _text(inline: Token) -> str:
    kept = ("text", "code_inline", "text_special")
    text = "".join(child.content if child.type in kept else " " if child.type.endswith("break") else ""
                   for child in inline.children or ())  # fmt: skip
    return _FOOTNOTE.sub("", text)


def _inline(line: str) -> str:
    """The text of a line without its markup."""
    parsed = MarkdownIt("commonmark").parseInline(line.strip())
    return " ".join(_text(parsed[0]).split())


def _inside_code(tokens: list[Token]) -> set[int]:
    blocks = [token.map for token in tokens if token.type in ("fence", "code_block", "html_block") and token.map]
    return {line + 1 for begin, end in blocks for line in range(begin, end)}


def _nested(headings: list[tuple[int, int, str]]) -> tuple[Entry, ...]:
    """Each heading under the last shallower one; the document's own title holds nothing."""
    titles = _document_titles([depth for _, depth, _ in headings])
    entries: list[Entry] = []
    stack: list[tuple[int, int | None]] = []
    for position, (line, depth, title) in enumerate(headings):
        while stack and stack[-1][0] >= depth:
            stack.pop()
        is_title = position < titles
        parent = stack[-1][1] if stack else None
        entries.append(Entry(line=line, depth=depth, title=title, parent=parent, is_title=is_title))
        stack.append((depth, None if is_title else line))
    return tuple(entries)


def _document_titles(depths: list[int]) -> int:
    """How many headings at the beginning are the document's title: of the least depth, which no later one has."""
    if not depths:
        return 0
    least = min(depths)
    run = next((position for position, depth in enumerate(depths) if depth != least), len(depths))
    return 0 if least in depths[run:] or run == len(depths) else run
