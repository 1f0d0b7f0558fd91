"""Pure: the checks that refuse a cut, and the notes that are only shown to the reader.

If there are several refusals, the first in the document is reported, with the number of that kind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from cutter.domain.amounts import counted
from cutter.domain.file_formats import conversion, conversion_of
from cutter.limits import CANDIDATES_MAX, SHORT_TITLE_BYTES, SOURCE_BYTES_MAX
from cutter.marking.hierarchy import Node
from cutter.marking.lines import Lines
from cutter.marking.options import Options
from cutter.marking.profile import Profile
from cutter.marking.recognise import Heading, readable_and_unread
from cutter.marking.result import Finding, MarkRefusal, finding, refusal
from cutter.marking.spans import Pieces
from cutter.marking.titles import BIDI, ZERO_WIDTH, cut_title
from cutter.marking.vocabulary import REPEAL_STEMS

ODD_KINDS = {
    "bidi": (BIDI, "characters that change the order of the text as shown"),
    "zero_width": (ZERO_WIDTH, "invisible characters"),
    "line_separator": (re.compile("[\r\x0b\x0c\x85\u2028\u2029]"), "line breaks other than LF (kept as characters)"),
    "control": (re.compile("[\x01-\x08\x0e-\x1f\x7f]"), "control characters"),
}
_NO_TEXT = re.compile(r"[\[({*…]|\.\.|" + "|".join(REPEAL_STEMS), re.IGNORECASE)
"""Words and signs in a title that say why the article has no text."""

_ALSO_NUMBERS = re.compile(r"(?:und|et|and|e|y|i|bis|to|a|à|til|kuni)?[^\w]*[0-9]", re.IGNORECASE)
"""What follows the first number of articles that were repealed together: `Art. 16 und 17`."""

_PLACES_SHOWN = 8

TEXT_MISSING = "text_missing"
"""The finding of articles without a text, which no other profile would cut better."""

_ODD = re.compile("[" + "".join(signs.pattern[1:-1] for signs, _ in ODD_KINDS.values()) + "]")
"""One character class for all of them, so that the whole text is searched once."""


def unreadable(data: bytes) -> MarkRefusal | None:
    """Refuse bytes that cannot be a law's text: too many, of another format, not UTF-8, not NFC, or with U+0000."""
    if len(data) > SOURCE_BYTES_MAX:
        return refusal("too_large", None, f"{len(data)} bytes, at most {SOURCE_BYTES_MAX}; split the document")
    other = conversion_of(data)
    if other is not None:
        return refusal("not_text", None, other)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return refusal("not_utf8", line, f"byte {error.start} is not UTF-8; {conversion(data)}")
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        return refusal("nul_character", line, "holds U+0000, which no database text can; remove it from the source")
    if not unicodedata.is_normalized("NFC", text):
        bad = [number for number, line in enumerate(text.split("\n"), 1) if not unicodedata.is_normalized("NFC", line)]
        add = "cutter source add FILE --document-id DOCUMENT --profile PROFILE --normalise nfc"
        return refusal(
            "not_nfc", bad[0] if bad else None, f"not in Unicode's composed form NFC ({counted(len(bad), 'line')}); "
            f"register a normalised snapshot with `{add}`", then=add, lines=len(bad),
        )  # fmt: skip
    return None


def wrong_count(units: list[Heading], lines: Lines, profile: Profile, options: Options) -> MarkRefusal | None:
    """Refuse a cut with no unit, or with more units than allowed."""
    if len(units) > options.max_candidates:
        line = lines.number(units[options.max_candidates].index)
        return refusal("too_many_candidates", line,
                       f"unit {options.max_candidates + 1} of {len(units)}; allow {len(units)} with "
                       f"--max-candidates, and the workers with CUTTER_MAX_CANDIDATES={len(units)} "
                       f"(at most {CANDIDATES_MAX}; `cutter down`, then `cutter up`), or cut less deeply",
                       then="cutter down", count=len(units), max_candidates=options.max_candidates)  # fmt: skip
    if units:
        return None
    # The remedy depends on whether the profile's words occur in lines that the profile does not read.
    suggest, then = "cutter profile suggest FILE", "cutter mark --help"
    own = f"(docs/reference/marking.md) and give it as --profile FILE.yaml; `{then}` lists the shipped ones"
    read, unread = readable_and_unread(lines, profile)
    if unread:
        then = suggest
        message = (
            f"{counted(len(unread), 'line')} from here on would be headings of the profile {profile.id}, but have no "
            f"`#`, so it reads them as text. Put `#` before them, type `{suggest}` for a profile that "
            f"reads them, or write a profile with `forms: [plain, bold]` {own}"
        )
    elif read:
        message = (
            f"the profile {profile.id} cuts none of the headings from here on; choose another scope or profile, or "
            f"write one {own}"
        )
    else:
        message = (
            f"no line is a heading for the profile {profile.id}; put `# ` before each line that begins a unit, choose "
            f"another profile, or write one {own}"
        )
    line = lines.number(unread[0]) if unread else lines.number(0)
    return refusal("no_candidates", line, message, then=then, profile=profile.id)


def refuse_first(nodes: list[Node], childless: list[Node], lines: Lines, options: Options) -> MarkRefusal | None:
    """The refusal that comes first in the document."""
    refusals: list[MarkRefusal] = []
    forbidden = set(options.forbidden_ids)  # a repeat (`DIEU-44~2`) always comes after the unit that it repeats
    for node in nodes if forbidden else ():
        segments = set(node.address.split("/")[1:])
        if segments & forbidden:
            refusals.append(refusal(
                "forbidden_id", lines.number(node.heading.index), f"{node.address} must not be cut from this document; "
                "mark it as not enacted or correct the profile", address=node.address))  # fmt: skip
            break
    again = [node for node in nodes if node.ordinal > 1]
    if again and options.duplicates == "refuse":
        address = again[0].address.rpartition("~")[0]
        refusals.append(refusal(
            "duplicate_address", lines.number(again[0].heading.index), f"{address} is here again ({len(again)} repeats "
            "in all); correct the source, or number the repeats with --duplicates ordinal", address=address,
            count=len(again)))  # fmt: skip
    if childless and options.empty == "refuse":
        first = childless[0]
        refusals.append(refusal(
            "childless_heading", lines.number(first.heading.index), f"{first.address} is a heading with neither text "
            f"nor parts ({len(childless)} in all); correct the source, or accept them with --empty heading_only",
            address=first.address, count=len(childless)))  # fmt: skip
    return min(refusals, key=lambda refused: refused.line or 0, default=None)


def childless_nodes(nodes: list[Node], pieces: Pieces) -> list[Node]:
    """Units that consist only of their heading. The document's title does not count: all units are its parts."""
    parents = {node.parent for node in nodes}
    return [
        node
        for position, node in enumerate(nodes)
        if position not in parents
        and not node.is_document_title
        and not pieces.lines.has_text(node.heading.last + 1, pieces.last_lines[position])
        and not _says_more(node.heading)
    ]


def _says_more(heading: Heading) -> bool:
    """True if the heading's own line holds text: `1. The minister may …`, or a plain line that is a sentence."""
    if heading.level is None or heading.bare:
        return False
    return heading.level.marker is not None or (heading.form != "atx" and heading.raw.rstrip("* \r")[-1:] in ".;:")


def findings(data: bytes, nodes: list[Node], childless: list[Node], lines: Lines) -> list[Finding]:
    """Notes that the reader of the request should look at."""
    notes: list[Finding] = []
    for node in nodes:
        heading, address = node.heading, node.address
        line = lines.number(heading.index)
        if node.ordinal > 1:
            notes.append(finding(code="duplicate_address", line=line, address=address, severity="amber",
                                 text=f"the heading repeats; it got {address}"))  # fmt: skip
        if cut_title(heading.title) != heading.title:
            notes.append(finding(code="title_cut", line=line, address=address,
                                 text="the title is cut; the whole heading is in the body"))  # fmt: skip
        if not heading.raw.isascii() and ZERO_WIDTH.search(heading.raw):
            notes.append(finding(code="zero_width_in_title", line=line, address=address,
                                 text="invisible characters left out of the title"))  # fmt: skip
    for node in childless:
        notes.append(finding(code="heading_only", line=lines.number(node.heading.index), address=node.address,
                             severity="amber", text=f"{node.address} is a heading without text"))  # fmt: skip
    notes.extend(_lost_texts(nodes, childless, lines))
    notes.extend(_odd_characters(data, lines))
    return notes


def _lost_texts(nodes: list[Node], childless: list[Node], lines: Lines) -> Iterator[Finding]:
    """One red finding for the articles that have a title and no text, if most articles have a text. A title that says
    why (`§ 5 (weggefallen)`) or that is itself a text explains it.
    """
    articles = sum(_is_article(node) for node in nodes)
    lost = [node for node in childless if _is_article(node) and _says_no_reason(node.heading)]
    if lost and 2 * len(lost) < articles:
        first = lost[0]
        places = ", ".join(f"line {lines.number(node.heading.index)}" for node in lost[:_PLACES_SHOWN])
        more = f" and {counted(len(lost) - _PLACES_SHOWN, 'other')}" if len(lost) > _PLACES_SHOWN else ""
        yield finding(
            code="text_missing", line=lines.number(first.heading.index), address=first.address, severity="red",
            text=f"{counted(len(lost), 'article')} of {articles} {'has' if len(lost) == 1 else 'have'} a title and no "
            f"text ({places}{more}); the text may be lost in the source",
        )  # fmt: skip


def _is_article(node: Node) -> bool:
    level = node.heading.level
    of_articles = level is not None and level.section_type == "article"
    return of_articles and node.heading.form == "atx" and node.heading.number is not None


def _says_no_reason(heading: Heading) -> bool:
    title, written = heading.title, heading.number.text if heading.number else ""
    rest = title[title.find(written) + len(written) :].strip(" \t\u00a0.:–—-")
    explained = _NO_TEXT.search(rest) or _ALSO_NUMBERS.match(rest) or title.endswith((".", ";", ":"))
    return bool(rest) and not heading.bare and not explained and len(rest) <= SHORT_TITLE_BYTES


def _odd_characters(data: bytes, lines: Lines) -> Iterator[Finding]:
    text = data[lines.start : lines.end].decode("utf-8")
    if text.replace("\n", " ").replace("\t", " ").replace("\u00a0", " ").isprintable():
        return  # no odd character is printable, and this test is cheaper than the search
    counts: dict[tuple[int, str], int] = {}
    line, position = lines.first_line, 0
    for odd in _ODD.finditer(text):
        if odd.group() == "\r" and text[odd.end() : odd.end() + 1] in ("\n", ""):
            continue
        line += text.count("\n", position, odd.start())
        position = odd.start()
        kind = next(name for name, (signs, _) in ODD_KINDS.items() if signs.match(odd.group()))
        counts[line, kind] = counts.get((line, kind), 0) + 1
    for (at, kind), count in counts.items():
        yield finding(code=kind, line=at, text=f"{count} {ODD_KINDS[kind][1]}")
