"""Pure: the structure of a law as an independent parser reads it: markdown-it-py and nothing of the marking.

A law's structure is explicit where its headings are written with `#`. A collection may also name an expression for
articles that it writes as plain lines; those are parts of the heading above them. The outline also names the lines
where another document begins, so that a cut that makes it part of an article differs.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from operator import attrgetter
from unicodedata import normalize

from markdown_it import MarkdownIt
from markdown_it.token import Token

from benchmarks.documents import Group, Item, read_documents
from benchmarks.quotations import quoted_lines
from benchmarks.tails import bare_count, new_counts, region_titles
from benchmarks.words import Role, head

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]*\]")
"""A reference to a footnote, which commonmark leaves in the text."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_PLAIN = 9
"""Depth of an article in a plain line: below every `#`."""

_INNER = 0.5
"""What is added to the depth of a kind that the numbering puts inside another one of the same depth."""

_TITLES_MIN = 3
"""From this number of articles on whose name is a heading of its own, such a heading is a name."""

_SHORT = 60
"""Characters of a line above a bare number that can be the name of the section."""

_REPEALED = re.compile(
    r"[\[({*…]|\.\.|repeal|omitted|deleted|reserved|spent|abrog|aufgehoben|weggefallen|gegenstandslos|derogad|suprim"
    r"|opphev|kumottu|zrusen|zrusuje|vypust|vervallen|upphav|kehtet|eliminad|καταργ|скасован|виключен|втратил|bai bo"
    r"|dihapus|删除|废止|vetad|anulad|inconstitu"
)
"""Words and signs that say why an article has no text."""

_RANGE = re.compile(r"(?:und|et|and|e|y|i|bis|to|a|à)?[^\w]*[0-9]")
"""The end of `Art. 16 und 17`, which are repealed together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A heading: its line from 1, its depth, its text without markup, and the line of the heading that holds it.

    `plain` is an article in a plain line. `inner` is nested by its word, although its number of `#` is that of the
    heading around it. `loose` is a quoted heading with `#`: a unit may begin there or not. `name_of` is the line of the
    article that this heading names. `above` is a line before it, its name, where the unit may begin as well.
    """

    line: int
    depth: float
    title: str
    parent: int | None
    is_title: bool = False
    plain: bool = False
    inner: bool = False
    loose: bool = False
    name_of: int | None = None
    above: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The headings of a law in order, and what else in the text tells a right cut from a wrong one.

    `apart` are the article lines of each later document in the file, `regions` the titles of annexes and the like in
    plain lines, `counts` runs of lines that count articles from 1 with their word, `bare` paragraphs that count from 1
    through the whole text, and `empty` the lines of articles that lost their text.
    """

    entries: tuple[Entry, ...]
    apart: tuple[tuple[int, ...], ...] = ()
    regions: tuple[int, ...] = ()
    counts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    bare: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()

    @property
    def explicit(self) -> bool:
        """True when `#` headings beside the document's title hold the structure; a few articles may be plain."""
        plain = sum(entry.plain for entry in self.entries)
        with_hashes = sum(not entry.is_title and not entry.plain for entry in self.entries)
        articles = sum(not entry.plain and _is_article(entry.title) for entry in self.entries)
        return self.has_structure and (not plain or (articles > 1 and with_hashes > plain))

    @property
    def has_structure(self) -> bool:
        return sum(not entry.is_title for entry in self.entries) > 1 or bool(self.apart)


def outline(text: str, articles: re.Pattern[str] | None = None, sections: frozenset[int] = frozenset()) -> Outline:
    """The outline of a Markdown or plain text; `articles` finds the plain lines that are articles, at a line's start.

    A plain line that is quoted, or that does not continue the numbering, is no article of the law. `sections` are lines
    that are known to be articles, such as those of an official format.
    """
    lines = text.split("\n")
    parsed = MarkdownIt("commonmark").parse(_without_front_matter(text))
    at = _numbers_by_lf(text)
    headings = [(at[line], depth, title) for line, depth, title in _headings(parsed) if not _is_reference(title)]
    taken = {line for line, _, _ in headings} | {at[line] for line in _inside_code(parsed)}
    taken |= set(range(1, _front_matter_lines(text) + 1))
    quoted = quoted_lines(lines)
    marked = [(line, depth, title) for line, depth, title in headings
              if articles and (articles.match(title) or _is_article(title))]  # fmt: skip
    candidates = [(number, _inline(line)) for number, line in enumerate(lines, 1)
             if articles and number not in taken and articles.match(line)]  # fmt: skip
    candidates = _without_references(candidates, lines)
    items = [Item(line=line, head=head(title), hashes=True, quoted=line in quoted) for line, _, title in marked]
    items += [Item(line=line, head=head(title), hashes=False, quoted=line in quoted) for line, title in candidates]
    groups = _groups(lines, headings, taken)
    documents = read_documents(sorted(items, key=attrgetter("line")), groups, lines)
    own = [(line, title) for line, title in candidates if line in documents.own]
    own += [(line, _inline(lines[line - 1])) for line in sorted(sections)]
    entries = _entries(headings, own, marked)
    entries = _inner_kinds(entries)
    texts = {number for number, line in enumerate(lines, 1) if line.strip() and number > _front_matter_lines(text)}
    texts -= {line for line, _, _ in headings} | {line for line, _ in own}
    entries = _named(_loose(entries, quoted), texts)
    plain_taken = taken | quoted
    return Outline(
        entries=tuple(_with_names_above(entry, lines) for entry in _parents(entries)),
        apart=tuple(run for run in documents.apart if not set(run) & {line for line, _, _ in headings}),
        regions=region_titles(lines, plain_taken),
        counts=new_counts(lines, plain_taken),
        bare=bare_count(lines, plain_taken),
        empty=_empty(entries, texts),
    )


def _is_reference(title: str) -> bool:
    """True for a heading in the middle of a sentence, as in `artículo 6 de la ley`: a line that a converter took."""
    known = head(title)
    return known is not None and known.kind == "article" and title[:1].islower() and known.after[:1] == " "


def _without_references(candidates: list[tuple[int, str]], lines: list[str]) -> list[tuple[int, str]]:
    """The lines without those that continue a sentence, in a text that separates its articles by blank lines."""

    def follows(number: int) -> bool:
        return number > 1 and any(character.isalnum() for character in lines[number - 2])

    if sum(follows(number) for number, _ in candidates) * 3 > len(candidates):
        return candidates
    ends = (".", ";", ":", "»", "”")
    return [(number, title) for number, title in candidates
            if not follows(number) or lines[number - 2].rstrip(" *_\r").endswith(ends)]  # fmt: skip


def _is_article(title: str) -> bool:
    known = head(title)
    return known is not None and known.role == "article"


def _groups(lines: list[str], headings: list[tuple[int, int, str]], taken: set[int]) -> list[Group]:
    """Headings that can hold articles: each `#` that is no article, and plain lines with the word of a group."""
    with_hashes = [(line, True, None) for line, _, title in headings if not _is_article(title)]
    plain_lines: list[Group] = []
    for number, line in enumerate(lines, 1):
        if number not in taken and 0 < len(line) < 120:
            known = head(line)
            if known is not None and known.role == "group" and line[:1].isupper() | line[:1].isdigit():
                plain_lines.append((number, False, known.value))
    return [*with_hashes, *plain_lines]


def _entries(
    headings: list[tuple[int, int, str]], own: list[tuple[int, str]], marked: list[tuple[int, int, str]]
) -> list[Entry]:
    """Headings and own plain articles in order; a plain article among articles with `#` is as deep as most of them."""
    depths = [depth for _, depth, _ in marked]
    depth_of_plain = max(set(depths), key=depths.count) if len(depths) > 1 else _PLAIN
    entries = [Entry(line=line, depth=depth, title=title, parent=None) for line, depth, title in headings]
    entries += [Entry(line=line, depth=depth_of_plain, title=title, parent=None, plain=True) for line, title in own]
    entries.sort(key=attrgetter("line"))
    titles = _document_titles([entry.depth for entry in entries])
    return [replace(entry, is_title=place < titles) for place, entry in enumerate(entries)]


def _inner_kinds(entries: list[Entry]) -> list[Entry]:
    """Put a kind inside another one of the same depth if it counts from 1 again under it, or if its word is smaller.

    An article's word is inside another one that counts up if it follows two or more of them: those of a group, or
    those of another article's word after each of which it begins with 1.
    """
    heads = {entry.line: head(entry.title) for entry in entries}
    deeper: dict[int, Entry] = {}
    for depth in {entry.depth for entry in entries}:
        mine = [entry for entry in entries if entry.depth == depth and not entry.is_title]
        numbered = [(entry, known) for entry in mine if (known := heads[entry.line]) is not None and known.word]
        words = [(entry.line, known.word, known.role, known.value) for entry, known in numbered]
        for inner in _inner_words(words):
            for entry, known in numbered:
                if known.word == inner:
                    deeper[entry.line] = replace(entry, depth=entry.depth + _INNER, inner=True)
    return [deeper.get(entry.line, entry) for entry in entries]


def _inner_words(words: list[tuple[int, str, Role, int | None]]) -> set[str]:
    """The words of one depth that are inside another word of it."""
    inner: set[str] = set()
    for word in {row[1] for row in words}:
        restarts: Counter[str] = Counter()
        for (_, before, role_before, value_before), (_, now, role, value) in pairwise(words):
            if now == word and before != word and role == "article" and value_before is not None:
                again = value == 1 and role_before == "article"
                restarts[before] += again or role_before == "group"
        for outer, count in restarts.items():
            values = [value for _, name, _, value in words if name == outer]
            counts_up = len(values) > 1 and all(b == (a or 0) + 1 for a, b in pairwise(values))
            if count > 1 and counts_up:
                inner.add(word)
    return inner


def _loose(entries: list[Entry], quoted: set[int]) -> list[Entry]:
    """Headings with `#` inside quotations, which some collections write for quoted articles."""
    return [replace(entry, loose=entry.line in quoted and not entry.plain) for entry in entries]


def _named(entries: list[Entry], texts: set[int]) -> list[Entry]:
    """Mark headings that only name the article above them: the single deeper one, directly below, in most articles."""
    names: dict[int, int] = {}
    articles = 0
    for place, entry in enumerate(entries):
        known = head(entry.title)
        if entry.plain or known is None or known.role != "article" or known.after.strip(" .:–—-"):
            continue
        articles += 1
        rest = entries[place + 1 :]
        end = next((number for number, other in enumerate(rest) if other.depth <= entry.depth), len(rest))
        below = rest[:end]
        directly = bool(below) and not any(line in texts for line in range(entry.line, below[0].line))
        if directly and len(below) == 1 and head(below[0].title) is None:
            names[below[0].line] = entry.line
    if len(names) < _TITLES_MIN or len(names) < articles / 2:
        return entries
    return [replace(entry, name_of=names.get(entry.line)) for entry in entries]


def _parents(entries: list[Entry]) -> list[Entry]:
    """Each heading under the last shallower one; the document's own title holds nothing."""
    placed: list[Entry] = []
    stack: list[tuple[float, int | None]] = []
    for entry in entries:
        while stack and stack[-1][0] >= entry.depth:
            stack.pop()
        placed.append(replace(entry, parent=stack[-1][1] if stack else None))
        stack.append((entry.depth, None if entry.is_title else entry.line))
    return placed


def _with_names_above(entry: Entry, lines: list[str]) -> Entry:
    """A section in a plain line that begins with a bare number may have its name on the line above."""
    known = head(entry.title)
    if not entry.plain or known is None or known.role != "bare":
        return entry
    number = next((number for number in range(entry.line - 1, 0, -1) if lines[number - 1].strip()), 0)
    name = lines[number - 1].strip() if number else ""
    is_name = 0 < len(name) <= _SHORT and not name.endswith((".", ";", ",", ":")) and head(name) is None
    return replace(entry, above=number) if is_name else entry


def _empty(entries: list[Entry], texts: set[int]) -> tuple[int, ...]:
    """Articles of a heading and nothing else, no word of which says why, in a law whose other articles have a text."""
    empty: list[int] = []
    articles = 0
    for entry, after in zip_longest(entries, entries[1:]):
        known = head(entry.title)
        if entry.plain or entry.loose or known is None or known.role != "article":
            continue
        articles += 1
        title = known.after.strip()
        last = after.line if after else max(texts, default=0) + 1
        alone = not any(line in texts for line in range(entry.line, last)) and not (after and after.depth > entry.depth)
        run_in = len(title) > _SHORT or title.endswith((".", ";", ":"))
        if alone and title and not run_in and not _REPEALED.search(title) and not _RANGE.match(title):
            empty.append(entry.line)
    return tuple(empty) if len(empty) * 2 < articles else ()


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


def _front_matter_lines(text: str) -> int:
    block = _FRONT_MATTER.match(text)
    return 0 if block is None else block.group().count("\n") + 1


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


def _document_titles(depths: list[float]) -> int:
    """How many headings at the beginning are the document's title: of the least depth, which no later one has."""
    if not depths:
        return 0
    least = min(depths)
    run = next((position for position, depth in enumerate(depths) if depth != least), len(depths))
    return 0 if least in depths[run:] or run == len(depths) else run
