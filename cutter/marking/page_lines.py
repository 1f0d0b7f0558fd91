"""Pure: finds what the pages of a PDF left in a law's text: repeated heads and feet, page numbers, form feeds, and
words that are hyphenated at a line's end.

The clean text is the text without the listed bytes; nothing is added or moved. What is not certain stays and is listed.
The time grows with the size of the text alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Literal

from cutter.marking.heading_lines import begins_like_heading, read_line
from cutter.marking.lines import ATX, COMMENT, FENCE, FRONT, read_lines

Kind = Literal["page_number", "page_line", "page_break", "blank_line", "hyphen", "indent"]

_PAGES_MIN = 3
"""Pages on which a line must repeat. The series `1 de 2`, `2 de 2` is certain with two, because it is whole."""

_PAGE_BYTES_MIN, _PAGE_BYTES_MAX = 400, 20_000
"""The usual distance of two page numbers. The rows of a table are closer."""

_STEP_BYTES_MIN = 200
"""The least distance of two page numbers."""

_LINE_CHARACTERS_MAX = 200
_EDGE_LINES_MAX = 8
"""Lines of a page's head or foot, and characters of each."""

_PAGES_SHARE = 0.25
"""The least share of the pages that have the line. Even and odd pages often have different heads."""

_EDGE_SHARE = 0.6
"""The least share of a line's places that are at edges of pages. A line of the law is elsewhere more often."""

_REGULAR_SHARE = 0.75
"""The least share of distances that are like the usual one."""

_LETTERS_MIN = 3
"""Letters of a head or foot that is the same on each page. A number that repeats may be the law's own."""

_WITHIN_SENTENCE_SHARE = 0.2
"""The least share of the pages that end within a sentence. A number between two sentences may be the law's own."""

_PAGE = (
    "(?:página|pagina|page|pág|pag|pg|p|seite|halaman|hal|sida|side|sivu|strana|stranica|strona|str|oldal|lk|lpp|trang|"
    r"puslapis|blz|страница|сторінка|стор|стр|σελίδα|σελ)\b"
)
_OF_PAGES = re.compile(
    rf"\W*(?:{_PAGE}\W*)?#\s*(?:[/|]|[^\W\d_]{{1,5}})\s*#\W*|第?\s*#\s*[页頁]\W*共?\s*#\s*[页頁]", re.IGNORECASE
)
"""`3 de 20` or `Página 3 de 20`, with `#` in the place of each number."""

_OF_PAGE = re.compile(rf"\W*{_PAGE}\W*#\W*|\W*#\W*{_PAGE}\W*|第?\s*#\s*[页頁]", re.IGNORECASE)
_ALONE = re.compile(r"[^\w#]*#[^\w#]*")
_DIGITS = re.compile("[0-9]+")
_BREAK = re.compile(rb"[ \t]*\f[ \t\f]*")
_SENTENCE_ENDS = tuple('.;:!?»”"…|>')
_LISTED = re.compile(r"[^\W\d_]{1,3}[.)]")
_CUT_WORD = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]{2,40})(?P<sign>[-\u2010\u00ad])$")
_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+[-\u2010][^\W\d_]+")

_UNPROVEN = "counts or repeats like a line of pages, but too few sentences continue across it"
_ELSEWHERE = "like a line at the edge of pages, but at another place or on too few pages"
_NOT_JOINED = "the word is not in the text without the hyphen, or is in it with the hyphen too"


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """Bytes of the original on its line `line`. A hyphen is removed with its line's end; `text` is the joined word."""

    start: int
    end: int
    line: int
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A line that perhaps belongs to a page, or ends in a hyphen that perhaps belongs to the word; `why` it stays."""

    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """A text without the remains of pages, and the difference to the original in its order."""

    data: bytes
    removed: tuple[Removed, ...]
    kept: tuple[Kept, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many removals of each kind."""
        return dict(sorted(Counter(removal.kind for removal in self.removed).items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    """Where a page ends: the lines `above` and `below` are the first to look at. `page` counts the edges."""

    above: int
    below: int
    page: int


def without_pages(data: bytes) -> Cleaning:
    """The text without the remains of pages. Raises UnicodeDecodeError for a text that is not UTF-8."""
    text = _Text(data)
    edges, numbers, doubts = _pages(text)
    gone: dict[int, Kind] = dict.fromkeys(numbers, "page_number")
    gone |= _page_lines(text, edges, gone, doubts)
    copies = {text.body[index] for index, kind in gone.items() if kind == "page_line"}
    doubts |= {index: _ELSEWHERE for index, body in enumerate(text.body) if body and body in copies}
    gone |= dict.fromkeys(_needless_blanks(text, edges, gone), "blank_line")
    removed = [text.removal(index, kind) for index, kind in gone.items()]
    removed += [text.page_break(index) for index in text.breaks if index not in gone]
    joined, uncertain = _joined_words(text, gone)
    removed = sorted([*removed, *joined], key=lambda removal: removal.start)
    doubts |= uncertain
    pieces, at = [], 0
    for removal in removed:
        pieces.append(data[at : removal.start])
        at = removal.end
    kept = [Kept(line=index + 1, text=text.body[index], why=why) for index, why in sorted(doubts.items())
            if index not in gone]  # fmt: skip
    return Cleaning(data=b"".join([*pieces, data[at:]]), removed=tuple(removed), kept=tuple(kept))


class _Text:
    """The lines of a text, each also without its outer blanks (`body`)."""

    def __init__(self, data: bytes) -> None:
        self._lines = read_lines(data, 0, len(data))
        self.raw, self.starts = self._lines.lines, self._lines.starts
        self.body = [" ".join(line.decode("utf-8").split()) for line in self.raw]
        self.breaks = {index: None for index, line in enumerate(self.raw) if b"\f" in line and _BREAK.match(line)}
        self.total = Counter(self.body)
        self.set_off = {
            index
            for index, line in enumerate(self.raw)
            if self._lines.opaque[index] in (FRONT, COMMENT, FENCE) or line.lstrip(b"\f \t")[:1] == b"|"
        }
        """Lines of front matter, comments, code and tables."""
        self._end = len(data)

    def shape(self, index: int) -> tuple[str, tuple[int, ...]]:
        """The line with `#` for each number, and the numbers. Nothing for a line that is too long for a page's head."""
        body = self.body[index]
        if len(body) > _LINE_CHARACTERS_MAX:
            return "", ()
        return _DIGITS.sub("#", body), tuple(int(digits[:9]) for digits in _DIGITS.findall(body))

    def is_fixed(self, index: int) -> bool:
        """True for a line that always stays: a long one, a heading, or one of a table, a comment or front matter."""
        raw = self.raw[index].lstrip(b"\f \t")
        return (
            len(self.body[index]) > _LINE_CHARACTERS_MAX
            or index in self.set_off
            or ATX.match(raw) is not None
            or read_line(raw) is not None
            or begins_like_heading(raw) is not None
        )

    def near(self, index: int, step: int) -> Iterator[int]:
        """The lines with text from a line on, up or down."""
        while 0 <= index < len(self.body):
            if self.body[index]:
                yield index
            index += step

    def removal(self, index: int, kind: Kind) -> Removed:
        """The whole line with its line end."""
        end = self.starts[index + 1] if index + 1 < len(self.starts) else self._end
        return Removed(start=self.starts[index], end=end, line=index + 1, kind=kind, text=self.body[index])

    def page_break(self, index: int) -> Removed:
        """The form feeds at the begin of a line."""
        match = _BREAK.match(self.raw[index])
        begin = self.starts[index]
        end = begin + self.raw[index].rindex(b"\f", 0, match.end() if match else None) + 1
        return Removed(start=begin, end=end, line=index + 1, kind="page_break", text=self.body[index])

    @cached_property
    def words(self) -> set[str]:
        """The words of the text in small letters: whole, and with a hyphen between two parts."""
        words = set[str]()
        for body in self.body:
            small = body.lower()
            words.update(_WORD.findall(small))
            if "-" in small or "\u2010" in small:
                words.update(compound.replace("\u2010", "-") for compound in _COMPOUND.findall(small))
        return words

    def continues(self, above: int | None, below: int | None) -> bool:
        """True if a sentence continues from one line to the other."""
        if above is None or below is None:
            return False
        before, after = self.body[above], self.body[below]
        return not before.endswith(_SENTENCE_ENDS) and after[:1].islower() and not _LISTED.match(after)


def _pages(text: _Text) -> tuple[list[_Edge], list[int], dict[int, str]]:
    """The edges of pages, the lines of the page numbers between them, and the lines that are in doubt.

    Edges are at form feeds. Without these they are where numbers count up, else where a line repeats regularly.
    """
    doubts: dict[int, str] = {}
    if len(text.breaks) > 1:
        begins = [0, *text.breaks, len(text.body)]
        return [_Edge(above=index - 1, below=index, page=page) for page, index in enumerate(begins)], [], doubts
    certain, proven = list[_Edge](), list[_Edge]()
    # The lines with a number at one of their ends, by what is equal in them. The value of a line is that number.
    groups: dict[tuple[str, tuple[int, ...]], dict[int, int]] = defaultdict(dict)
    for index in range(len(text.body)):
        shape, numbers = text.shape(index)
        if len(numbers) == 1 or (numbers and (_OF_PAGES.fullmatch(shape) or shape[0] == "#")):
            groups[shape, numbers[1:]][index] = numbers[0]
        if len(numbers) > 1 and shape[-1] == "#" and not _OF_PAGES.fullmatch(shape):
            groups[f"{shape}$", numbers[:-1]][index] = numbers[-1]
    for (shape, rest), members in groups.items():
        if len(members) == 1 or text.is_fixed(next(iter(members))):
            continue
        names_pages = _OF_PAGE.fullmatch(shape) is not None or _OF_PAGES.fullmatch(shape) is not None
        series = _series(text, members, 0 if names_pages else _STEP_BYTES_MIN)
        values = [members[index] for index in series]
        if _OF_PAGES.fullmatch(shape) and len(rest) == 1:
            names_pages = values[-1] <= rest[0]
        whole = names_pages and len(series) > 1 and (values[0], values[-1], len(values)) == (1, *rest, *rest)
        whole = whole and text.starts[series[1]] - text.starts[series[0]] >= _PAGE_BYTES_MIN
        if len(series) >= _PAGES_MIN and (names_pages or _ALONE.fullmatch(shape)):
            doubts |= dict.fromkeys(members, _UNPROVEN)
        if not whole and not (len(series) >= _PAGES_MIN and _is_regular(text, series, values, names_pages)):
            continue
        doubts |= dict.fromkeys(members, _UNPROVEN)
        if names_pages or _is_proven(text, series):
            (certain if names_pages else proven).extend(
                _Edge(above=index - 1, below=index + 1, page=members[index])
                for index in _unambiguous(members, series)
                if not text.is_fixed(index)
            )
    edges = sorted(certain or proven, key=lambda edge: edge.below)
    if edges:
        return edges, [edge.above + 1 for edge in edges], doubts
    for body, count in text.total.most_common(_EDGE_LINES_MAX):
        places = [index for index in range(len(text.body)) if text.body[index] == body]
        if count <= _PAGES_MIN or body[-1:] in ("", *",;.:") or text.is_fixed(places[0]):
            continue
        if not _is_regular(text, places, list(range(count)), False):
            continue
        doubts |= dict.fromkeys(places, _UNPROVEN)
        if _is_proven(text, places):
            # The line itself is the first below its edge.
            return [_Edge(above=index - 1, below=index, page=page) for page, index in enumerate(places)], [], doubts
    return [], [], doubts


def _series(text: _Text, members: dict[int, int], distance: int) -> list[int]:
    """The longest series of lines whose values count up by one, or by two as on even pages, with at least `distance`
    bytes between them.
    """
    best: dict[int, tuple[int, int]] = {}
    before: dict[int, int | None] = {}
    for index, value in members.items():
        length, previous = 0, None
        for step in (1, 2):
            known = best.get(value - step)
            if known and known[0] > length and text.starts[index] - text.starts[known[1]] >= distance:
                length, previous = known
        if value not in best or best[value][0] < length + 1:
            best[value], before[index] = (length + 1, index), previous
    place: int | None = max(best.values(), key=lambda end: (end[0], -end[1]))[1]
    series = []
    while place is not None:
        series.append(place)
        place = before[place]
    return series[::-1]


def _unambiguous(members: dict[int, int], series: list[int]) -> Iterator[int]:
    """The lines of a series without those whose value another line between their neighbours has too."""
    places: dict[int, list[int]] = defaultdict(list)
    for index, value in members.items():
        places[value].append(index)
    for before, index, after in zip([-1, *series], series, [*series[1:], max(members) + 1], strict=False):
        if sum(before < place < after for place in places[members[index]]) == 1:
            yield index


def _is_regular(text: _Text, places: list[int], values: list[int], names_pages: bool) -> bool:
    """True if the lines are as far from each other as pages are. If they do not name pages, most of them must also be
    equally far, they must be in the whole text, and they may leave out few numbers.
    """
    distances = [text.starts[after] - text.starts[before] for before, after in pairwise(places)]
    usual = median(distances)
    if not _PAGE_BYTES_MIN <= usual <= _PAGE_BYTES_MAX or names_pages:
        return names_pages and usual >= _PAGE_BYTES_MIN
    alike = sum(0.3 * usual <= distance <= 2.2 * usual for distance in distances)
    steps = (values[-1] - values[0]) / len(distances)
    outside = max(text.starts[places[0]], text.starts[-1] - text.starts[places[-1]])
    return alike >= _REGULAR_SHARE * len(distances) and outside <= 3 * usual and (steps <= 1.2 or steps == 2)


def _is_proven(text: _Text, places: list[int]) -> bool:
    """True if enough of these lines are within a sentence. Lines that repeat may be between them and the sentence."""
    count = 0
    for index in places:
        sides = []
        for start, step in ((index - 1, -1), (index + 1, 1)):
            near = zip(text.near(start, step), range(_EDGE_LINES_MAX), strict=False)
            sides.append(next((line for line, _ in near if text.total[text.body[line]] < _PAGES_MIN), None))
        count += text.continues(*sides)
    return count >= max(2, _WITHIN_SENTENCE_SHARE * len(places))


_Key = tuple[int, str, int, tuple[int, ...]]


def _page_lines(text: _Text, edges: list[_Edge], numbers: dict[int, Kind], doubts: dict[int, str]) -> dict[int, Kind]:
    """The heads and feet: lines without a gap from the edge, each of which is there on enough pages and rarely
    elsewhere. Adds the lines that are in doubt to `doubts`.
    """
    sides: list[tuple[_Edge, list[tuple[int, list[_Key]]]]] = []
    for edge in edges:
        for start, step in ((edge.above, -1), (edge.below, 1)):
            side: list[tuple[int, list[_Key]]] = []
            for index in text.near(start, step):
                if index in numbers or text.is_fixed(index) or len(side) == _EDGE_LINES_MAX:
                    break
                # What is equal on several pages: the whole line, or all but a number that counts with the pages.
                shape, figures = text.shape(index)
                keys: list[_Key] = []
                if sum(map(str.isalpha, text.body[index])) >= _LETTERS_MIN:
                    keys.append((step, text.body[index], 0, ()))
                if figures:
                    keys.append((step, f"{shape}^", figures[0] - edge.page, figures[1:]))
                    keys.append((step, f"{shape}$", figures[-1] - edge.page, figures[:-1]))
                side.append((index, keys))
            sides.append((edge, side))
    # Line by line away from the edges, and further only where all lines before are heads or feet.
    usual: dict[_Key, int] = {}
    least = max(_PAGES_MIN, _PAGES_SHARE * len(edges))
    at_edges = Counter[str]()
    near = [side for _, side in sides]
    for place in range(_EDGE_LINES_MAX):
        near = [side for side in near if len(side) > place]
        counts = Counter(key for side in near for key in dict.fromkeys(side[place][1]))
        at_edges.update(text.body[index] for index in {side[place][0] for side in near})
        usual |= {key: place for key, count in counts.items() if count >= least}
        near = [side for side in near if any(key in usual for key in side[place][1])]
    gone: dict[int, Kind] = {}
    for edge, side in sides:
        matched = set[_Key]()
        for place, (index, keys) in enumerate(side):
            body = text.body[index]
            # The head of the first page can be the law's title.
            whole = edge.above >= 0 and at_edges[body] >= _EDGE_SHARE * text.total[body]
            known = (key for key in keys if place <= usual.get(key, -1) and (whole or key[1] != body))
            key = next(known, None)
            alone = _ALONE.fullmatch(text.shape(index)[0]) is not None
            if key is None or key in matched:
                if alone or _PAGES_MIN <= text.total[body] <= at_edges[body] / _EDGE_SHARE:
                    doubts[index] = _ELSEWHERE
                break
            matched.add(key)
            gone[index] = "page_number" if alone else "page_line"
    return gone


def _needless_blanks(text: _Text, edges: list[_Edge], gone: dict[int, Kind]) -> Iterator[int]:
    """The blank lines at edges: all of them within a sentence, else all but one."""
    for edge in edges:
        above = next((index for index in text.near(edge.above, -1) if index not in gone), None)
        below = next((index for index in text.near(edge.below, 1) if index not in gone), None)
        first, last = -1 if above is None else above, len(text.body) if below is None else below
        blank = [index for index in range(first + 1, last) if not text.body[index]]
        if len(blank) == last - first - 1 and edge.below not in text.breaks:
            continue
        cut = above is not None and _CUT_WORD.search(text.body[above]) is not None
        yield from blank if cut or text.continues(above, below) else blank[1:]


def _joined_words(text: _Text, gone: dict[int, Kind]) -> tuple[list[Removed], dict[int, str]]:
    """The hyphens at line ends that are certainly no part of the word, and the lines with the others."""
    joined, doubts = [], {}
    lines = [index for index in range(len(text.body)) if index not in gone]
    for above, below in pairwise(lines):
        cut, rest = _CUT_WORD.search(text.body[above]), _WORD.match(text.body[below])
        if cut is None or rest is None or above in text.set_off or below in text.set_off:
            continue
        word, end, is_soft = cut["word"], rest.group(), cut["sign"] == "\u00ad"
        known = len(end) > 1 and (word + end).lower() in text.words and f"{word}-{end}".lower() not in text.words
        if not is_soft and not (end[0].islower() or (word + end).isupper()):
            continue
        if not is_soft and not (known and word.lower() != end.lower()):
            doubts[above] = _NOT_JOINED
            continue
        line = text.raw[above].decode("utf-8")
        begin = text.starts[above] + len(line[: line.rindex(cut["sign"])].encode())
        stop = text.starts[above] + len(text.raw[above]) + 1
        joined.append(Removed(start=begin, end=stop, line=above + 1, kind="hyphen", text=word + end))
        begin = text.page_break(below).end if below in text.breaks else text.starts[below]
        indent = text.raw[below][begin - text.starts[below] :].decode("utf-8")
        stop = begin + len(indent[: len(indent) - len(indent.lstrip())].encode())
        if begin < stop:
            joined.append(Removed(start=begin, end=stop, line=below + 1, kind="indent", text=text.body[below]))
    return joined, doubts
