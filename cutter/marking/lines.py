"""Pure: splits a region into lines, and finds those that cannot be headings (fences, comments, front matter, indented).

Only LF ends a line. A CR, a form feed or U+2028 is a character of its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate

from cutter.limits import FRONT_MATTER_LINES_MAX
from cutter.marking.profile import Profile
from cutter.marking.result import Finding, MarkRefusal, finding, refusal

BLANK_BYTES = b" \t\r\n\f\v"
BOM = b"\xef\xbb\xbf"

FRONT, INDENTED, COMMENT, FENCE = 1, 2, 3, 4
"""The reason why a line cannot be a heading. A `pre` element counts as a fence."""

ATX = re.compile(rb" {0,3}(#{1,6})(?=[ \t\r]|$)")
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_RAW_OPEN = re.compile(rb" {0,3}<(?:!--|(?:pre|script|style|textarea)(?=[ \t>\r]|$))", re.IGNORECASE)
_RAW_CLOSE = re.compile(rb"</(?:pre|script|style|textarea)>", re.IGNORECASE)
_MAY_BE_OPAQUE = frozenset({b" ", b"\t", b"`", b"~", b"<"})
"""The first bytes of the lines that can be indented code or open a block."""

_YAML_KEY = re.compile(rb"[\w.-]{1,64}[ \t]*:")
_RULE = re.compile(rb" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\r?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The lines of `data[start:end]`. `lines[i]` excludes its LF, `starts[i]` is its byte offset in the document.
    `opaque[i]` is 0 if line i can be a heading, else FRONT, INDENTED, COMMENT or FENCE. `front_matter` counts lines.
    """

    data: bytes
    lines: tuple[bytes, ...]
    starts: tuple[int, ...]
    opaque: bytes
    first_line: int
    start: int
    end: int
    front_matter: int
    findings: tuple[Finding, ...]

    def number(self, index: int) -> int:
        """Line number in the document, from 1."""
        return self.first_line + index

    def offset(self, index: int) -> int:
        """The byte offset of a line. For the line after the last one it is the end of the region."""
        return self.starts[index] if index < len(self.starts) else self.end

    def is_blank(self, index: int) -> bool:
        """True for a line of white space only."""
        return not self.lines[index].strip(BLANK_BYTES)

    def has_text(self, begin: int, end: int) -> bool:
        """True when a line of [begin, end) is neither blank nor a thematic break."""
        return any(line.strip(BLANK_BYTES) and not is_rule(line) for line in self.lines[begin:end])


def beginning(line: bytes, characters: int) -> str:
    """The first characters of a line; a UTF-8 character has at most four bytes."""
    return line[: 4 * characters].decode("utf-8", "ignore")[:characters]


def is_rule(line: bytes) -> bool:
    """True for a thematic break (`---`, `***`, `___`): a line without text."""
    return len(line) < 200 and _RULE.fullmatch(line) is not None


def region(data: bytes, profile: Profile) -> tuple[int, int] | MarkRefusal:
    """The byte span between the profile's sentinels, of which each occurs once; without both, the whole document."""
    if profile.sentinels is None:
        return 0, len(data)
    begin, end = (mark.encode() for mark in profile.sentinels)
    begins, ends = _marker_lines(data, begin), _marker_lines(data, end)
    if not begins and not ends:
        return 0, len(data)
    if len(begins) == len(ends) == 1 and begins[0][1] <= ends[0][0]:
        return begins[0][1], ends[0][0]
    first = min(span[0] for span in begins + ends)
    return refusal(
        "broken_sentinels",
        data.count(b"\n", 0, first) + 1,
        f"{len(begins)} begin and {len(ends)} end sentinels; each must occur once, begin first, or neither",
    )


def _marker_lines(data: bytes, marker: bytes) -> list[tuple[int, int]]:
    """Spans (line start, start of the next line) of the lines that consist of the marker alone."""
    spans = []
    at = data.find(marker)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        stop = data.find(b"\n", at)
        stop = len(data) if stop < 0 else stop + 1
        if data[start:stop].removeprefix(BOM).strip(BLANK_BYTES) == marker:
            spans.append((start, stop))
        at = data.find(marker, max(stop, at + 1))
    return spans


def read_lines(data: bytes, start: int, end: int) -> Lines:
    """Split a region and note the lines where no heading can be."""
    text_start = start + len(BOM) if start == 0 and data.startswith(BOM) else start
    pieces = data[text_start:end].split(b"\n")
    if pieces[-1] == b"":
        pieces.pop()
    first_line = data.count(b"\n", 0, start) + 1
    starts = tuple(accumulate((len(piece) + 1 for piece in pieces[:-1]), initial=text_start)) if pieces else ()
    front = _front_matter(pieces) if start == 0 else 0
    opaque, findings = _opaque(pieces, front, first_line)
    return Lines(
        data=data, lines=tuple(pieces), starts=starts, opaque=opaque, first_line=first_line, start=start, end=end,
        front_matter=front, findings=findings,
    )  # fmt: skip


def _front_matter(lines: list[bytes]) -> int:
    """Lines of a leading `---` YAML block, its fences included; 0 when there is none."""
    if len(lines) < 3 or lines[0].rstrip(BLANK_BYTES) != b"---":
        return 0
    if not any(_YAML_KEY.match(line) for line in lines[1:3]):
        return 0
    for index in range(1, min(len(lines), FRONT_MATTER_LINES_MAX)):
        if lines[index].rstrip(BLANK_BYTES) in (b"---", b"..."):
            return index + 1
    return 0


def _opaque(lines: list[bytes], front: int, first_line: int) -> tuple[bytes, tuple[Finding, ...]]:
    marks = bytearray(len(lines))
    marks[:front] = bytes([FRONT]) * front
    closer: _Closer | None = None
    opened_at = 0
    for index in range(front, len(lines)):
        line = lines[index]
        if closer is not None:
            marks[index] = closer.kind
            if closer.ends(line):
                closer = None
            continue
        if line[:1] not in _MAY_BE_OPAQUE:
            continue
        if line[:4] == b"    " or line[:1] == b"\t":
            marks[index] = INDENTED
            continue
        if line.lstrip(b" ")[:1] not in (b"`", b"~", b"<"):
            continue
        fence, raw = _FENCE.match(line), _RAW_OPEN.match(line)
        if fence is not None:
            closer = _Closer(fence=fence.group(1))
        elif raw is not None:
            closer = _Closer(raw=b"-->" if raw.group().endswith(b"!--") else b"</")
        if closer is not None:
            marks[index], opened_at = closer.kind, index
            if closer.raw and closer.ends(line[line.index(b"<") + 1 :]):
                closer = None
    if closer is None:
        return bytes(marks), ()
    text = "opens a fence or comment that never ends; all after it was read as text"
    return bytes(marks), (finding(code="unclosed_block", line=first_line + opened_at, text=text, severity="amber"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closer:
    """The text that ends the open block."""

    raw: bytes = b""
    fence: bytes = b""

    @property
    def kind(self) -> int:
        return COMMENT if self.raw == b"-->" else FENCE

    def ends(self, line: bytes) -> bool:
        if self.raw == b"-->":
            return self.raw in line
        if self.raw:
            return _RAW_CLOSE.search(line) is not None
        bare = line.strip(BLANK_BYTES)
        indent = len(line) - len(line.lstrip(b" "))
        return indent < 4 and bare.startswith(self.fence) and not bare.strip(self.fence[:1])
