"""Pure: drafts a profile: its levels from the kinds of heading in a text, their order, a person's corrections, and the
YAML.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import yaml

from cutter.errors import InvalidInput
from cutter.limits import CORRECTIONS_MAX, PROFILE_LEVELS_MAX
from cutter.marking import numbers
from cutter.marking.asides import filling
from cutter.marking.heading_lines import LikelyHeading
from cutter.marking.lines import Lines
from cutter.marking.profile import Form, Profile
from cutter.marking.segments import ascii_upper
from cutter.marking.suggestion.evidence import Evidence, Kind, read_named
from cutter.marking.suggestion.grammar import may_nest_either_way, nearest, places
from cutter.marking.suggestion.regions import region_lines
from cutter.marking.vocabulary import CONTENTS, NUMBER, ROLES, Role, role_of, segment_of_word, type_of_word

_UNKNOWN_RANK = 7
"""A word without a known role is placed between the subsections and the articles."""

_TITLE_CHARACTERS_MAX = 200
"""A line below a heading that is longer than this is text, not the title."""

_BARE_SHARE_MIN = 0.6
"""If at least this share of a kind's lines is only a number, the next line is read as the title."""

_SHORT_NUMBER = re.compile(r"[0-9]{1,4}[A-Za-z]?(?!\w)")
"""A number that can begin a heading such as `12 Short title`. A longer number is the key of a data set."""

_FIRST_NUMBERS = ("1", "I", "1er", "1º", "1°", "一")

_ARTICLES_MIN = 2
"""From this number of articles with `#` on, the whole text is assumed to use `#`."""

_REGIONS_MAX = 60
"""The most titles of other documents that a profile names."""

_SAME_WORD_CHARACTERS = 3
"""The number of equal first letters by which two spellings are one word (Art., Article)."""

Subject = Literal["line", "word", "inside", "deepest"]

TEXT = "text"
"""The role of a line or word that begins no unit."""

FORMS = (
    "line 12 is a chapter", "line 12 is text", "word Rule is an article", "word Rule is text",
    "section is inside chapter", "deepest is article",
)  # fmt: skip
"""One example of each form."""

_LINE = re.compile(r"line ([0-9]{1,7}) is (?:an? )?([a-z]{1,20})")
_WORD = re.compile(r"word (\S(?:.{0,40}\S)?) is (?:an? )?([a-z]{1,20})")
_INSIDE = re.compile(r"(\S(?:.{0,40}\S)?) is inside (\S(?:.{0,40}\S)?)")
_DEEPEST = re.compile(r"deepest is (\S(?:.{0,40}\S)?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftLevel:
    """A level of the draft, and the lines from which it was made."""

    name: str
    segment: str
    section_type: str
    words: tuple[str, ...]
    phrases: tuple[str, ...]
    numbers: tuple[str, ...]
    number: str
    form: Form
    depth: int
    rank: int
    whole_document: bool
    title_next_line: bool
    lines: tuple[LikelyHeading, ...]
    region: bool = False
    also: tuple[Form, ...] = ()
    """Other forms in which some of its headings are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft of a profile."""

    levels: tuple[DraftLevel, ...]
    deepest: str | None = None
    duplicates: str = "refuse"
    empty: str = "refuse"


def draft_levels(evidence: Evidence, lines: Lines) -> tuple[DraftLevel, ...]:
    """Levels from the outermost to the innermost: by `#` where there are any, else by the usual rank of their word."""
    # A word is read in one form: with `#` where at least half of its lines have it, else the most frequent one.
    best: dict[str, Kind] = {}
    for kind in evidence.kinds:
        rival = best.setdefault(kind.word.casefold(), kind)
        if _weight(kind) > _weight(rival):
            best[kind.word.casefold()] = kind
    kinds = _of_the_text(sorted(best.values(), key=lambda kind: kind.lines[0].index), evidence)
    regions = region_lines(lines, frozenset(line.index for kind in kinds for line in kind.lines))
    merged: list[DraftLevel] = []
    for kind in kinds:
        level = _with_other_forms(_level(kind, lines, regions), kind, evidence, lines)
        same = next((place for place, other in enumerate(merged) if _spelled_otherwise(other, level)), None)
        if same is None:
            merged.append(level)
            continue
        # Merge two spellings into one level. The more frequent spelling names it.
        large, small = merged[same], level
        if len(large.lines) < len(small.lines):
            large, small = small, large
        sides = {large.number, small.number}
        merged[same] = replace(
            large, words=large.words + small.words,
            numbers=large.numbers + tuple(style for style in small.numbers if style not in large.numbers),
            number="either_side" if "either_side" in sides else "optional" if "optional" in sides else "required",
            whole_document=large.whole_document and small.whole_document,
            lines=tuple(sorted(large.lines + small.lines, key=lambda line: line.index)),
        )  # fmt: skip
    levels = _by_grammar(merged, nearest(evidence))
    for section_type in ("section", "appendix") if merged else ():
        own = tuple(line for line in regions if _type_of_title(line.title) == section_type)
        titles = tuple(dict.fromkeys(line.title.rstrip(".:–—- ") for line in own))[:_REGIONS_MAX]
        if titles:
            levels = [*levels, DraftLevel(
                name="region", segment="", section_type=section_type, words=(), phrases=titles, numbers=(),
                number="required", form="plain", depth=0, rank=-1, whole_document=False, title_next_line=False,
                lines=own, region=True,
            )]  # fmt: skip
    return _named(_ordered(levels))[:PROFILE_LEVELS_MAX]


def _type_of_title(title: str) -> str:
    """The section_type of a title of another document: an annex begins with the word of one."""
    role = role_of(re.split(r"[\W\d]", title, maxsplit=1)[0])
    return "appendix" if role is not None and role.name == "annex" else "section"


def _by_grammar(levels: list[DraftLevel], grammar: Profile | None) -> list[DraftLevel]:
    """The levels with the types and the order that the nearest grammar gives their words."""
    if grammar is None:
        return levels
    known = [(level, places(grammar).get(level.words[0].casefold())) for level in levels]
    return [
        level if place is None else replace(level, rank=place, section_type=grammar.levels[place].section_type)
        for level, place in known
    ]


def _of_the_text(kinds: list[Kind], evidence: Evidence) -> list[Kind]:
    """The kinds without lines that are probably quoted or belong to a table.

    These are plain lines of a text that writes most of its articles with `#`. They are also lines whose word no table
    knows, if a table knows the words of others.
    """
    with_hashes = articles_with_hashes(evidence)
    plain = [len(kind.lines) for kind in kinds if kind.form != "atx" and kind.role and kind.role.name == "article"]
    if with_hashes >= max(_ARTICLES_MIN, *plain, 0):
        return [kind for kind in kinds if kind.form == "atx"]
    articles = [kind for kind in kinds if kind.role and kind.role.name == "article"]
    if len(articles) > 1 and any(line.number in _FIRST_NUMBERS for line in articles[0].lines):
        # `§2.` begins a line, `§ 1.` is in the line of its article: paragraphs, and no level of their own
        kinds = [kind for kind in kinds if kind is articles[0] or kind.form == "atx" or not kind.word.startswith("§")
                 or any(line.number in _FIRST_NUMBERS for line in kind.lines)]  # fmt: skip
    known = [kind for kind in kinds if kind.form == "atx" or kind.role is not None]
    return known or kinds


def articles_with_hashes(evidence: Evidence) -> int:
    """How many `#` headings number the smallest parts: by an article's word, or by a number without a word."""
    count = 0
    for line in evidence.lines:
        if line.form == "atx" and not line.hidden:
            role = role_of(line.word) if line.word else None
            count += role.name == "article" if role else _SHORT_NUMBER.match(line.title) is not None
    return count


def _weight(kind: Kind) -> int:
    return len(kind.lines) * (2 if kind.form == "atx" else 1)


def _level(kind: Kind, lines: Lines, regions: Sequence[LikelyHeading] = ()) -> DraftLevel:
    role = kind.role
    styles = kind.styles or ("arabic",)
    name = role.name if role else ""
    optional = name == "annex" and kind.form == "atx" and not all(line.number for line in kind.lines)
    plain_article = name == "article" and kind.form != "atx"
    borders = [line.index for line in regions]
    firsts: Counter[int] = Counter()
    begun: set[int] = set()
    for line in kind.lines:
        part = bisect_left(borders, line.index)
        # a count that does not begin with one, and has a one later, begins again
        firsts[part] += (line.number in _FIRST_NUMBERS) + (part not in begun and line.number not in _FIRST_NUMBERS)
        begun.add(part)
    return DraftLevel(
        name=name, segment=segment_of_word(kind.word),
        section_type=role.section_type if role else type_of_word(kind.word),
        words=(kind.word,), phrases=(), numbers=styles,
        number="either_side" if kind.number_first else "optional" if optional else "required",
        form=kind.form, depth=kind.depth, rank=role.rank if role else _UNKNOWN_RANK,
        whole_document=plain_article and max(firsts.values(), default=0) <= 1,
        title_next_line=_has_titles_below(kind, lines), lines=kind.lines,
    )  # fmt: skip


def _with_other_forms(level: DraftLevel, kind: Kind, evidence: Evidence, lines: Lines) -> DraftLevel:
    """The level with the forms of its lines without `#` that fill the gaps of those with `#`."""
    if level.name != "article":
        return level
    own = {line.index for line in kind.lines}
    main = [(line.index, value) for line in kind.lines if (value := _whole(line)) is not None]
    without_hashes: tuple[Form, ...] = ("bold", "plain")
    for form in without_hashes:
        others = [
            line
            for line in evidence.others
            if line.form == form
            and line.index not in own
            and ascii_upper(line.word)[:_SAME_WORD_CHARACTERS] == ascii_upper(kind.word)[:_SAME_WORD_CHARACTERS]
            and (line.index == 0 or lines.is_blank(line.index - 1))
        ]
        places = [(line.index, value) for line in others if (value := _whole(line)) is not None]
        if places and len(filling(main, places)) == len(others):
            words = tuple(dict.fromkeys((*level.words, *(line.word for line in others))))
            also = (*level.also, form) if form != level.form else level.also
            level = replace(level, words=words, also=also)
    return level


def _whole(line: LikelyHeading) -> int | None:
    value = numbers.parse(line.number).value if line.number else None
    return value[0] if value is not None and len(value) == 1 else None


def heading_of_other_numbers(levels: tuple[DraftLevel, ...], evidence: Evidence) -> LikelyHeading | None:
    """The first `#` heading of no level below which a level without `#` counts from one again."""
    known = {line.index for level in levels for line in level.lines}
    firsts = {
        line.index
        for level in levels
        if level.form != "atx"
        for line in level.lines[1:]
        if line.number in _FIRST_NUMBERS
    }
    return next(
        (
            line
            for line, below in pairwise(evidence.lines)
            if line.form == "atx" and line.index not in known and below.index in firsts
        ),
        None,
    )


def _has_titles_below(kind: Kind, lines: Lines) -> bool:
    bare = [line for line in kind.lines if line.bare]
    if kind.form == "atx" or len(bare) < _BARE_SHARE_MIN * len(kind.lines):
        return False
    titled = 0
    for line in bare:
        # The next line with text, also after a blank line, is a title if it is short and not a sentence.
        below = (text.strip() for text in lines.lines[line.index + 1 : line.index + 3])
        text = next(filter(None, below), b"")
        titled += 0 < len(text) <= _TITLE_CHARACTERS_MAX and text[-1:] not in (b".", b";", b":", b",")
    return titled >= _BARE_SHARE_MIN * len(bare)


def _spelled_otherwise(level: DraftLevel, other: DraftLevel) -> bool:
    return (
        level.name == other.name != ""
        and (level.form, level.depth) == (other.form, other.depth)
        and NUMBER not in level.words[0] + other.words[0]
        and ascii_upper(level.words[0])[:_SAME_WORD_CHARACTERS] == ascii_upper(other.words[0])[:_SAME_WORD_CHARACTERS]
    )


def _ordered(levels: list[DraftLevel]) -> list[DraftLevel]:
    """Order levels by `#`, at one depth by the usual rank. A level without `#` is placed before the first level that is
    usually further in.
    """
    with_hashes = [level for level in levels if level.form == "atx"]
    ordered = sorted(with_hashes, key=lambda level: (level.depth, level.rank, -level.lines[0].index))
    others = sorted(
        (level for level in levels if level.form != "atx"), key=lambda level: (level.rank, len(level.lines))
    )
    for level in others:
        place = next((at for at, other in enumerate(ordered) if other.rank > level.rank), len(ordered))
        ordered.insert(place, level)
    return ordered


def _named(levels: list[DraftLevel]) -> tuple[DraftLevel, ...]:
    """Each level with a name of its own: its role, else its word, else a number."""
    taken: set[str] = set()
    named = []
    for position, level in enumerate(levels, 1):
        word = segment_of_word(level.words[0]).lower() if level.words else ""
        options = (level.name, word, f"{word or level.name}-{position}", f"level-{position}")
        name = next(option for option in options if option and option not in taken)
        taken.add(name)
        named.append(replace(level, name=name))
    return tuple(named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One correction: `what` is a line's number, a word or a level; `becomes` a role, `text` or the outer level."""

    subject: Subject
    what: str
    becomes: str


def parse_corrections(texts: tuple[str, ...]) -> tuple[Correction, ...]:
    """Read corrections as they were typed. Raises InvalidInput with the wrong correction and the forms."""
    if len(texts) > CORRECTIONS_MAX:
        raise InvalidInput(f"--refine: {len(texts)} corrections, at most {CORRECTIONS_MAX}; edit the profile instead")
    return tuple(_parse(" ".join(text.split())) for text in texts)


def _parse(text: str) -> Correction:
    line, word = _LINE.fullmatch(text), _WORD.fullmatch(text)
    if line is not None:
        return Correction(subject="line", what=line[1], becomes=_role(text, line[2]))
    if word is not None:
        return Correction(subject="word", what=word[1], becomes=_role(text, word[2]))
    inside, deepest = _INSIDE.fullmatch(text), _DEEPEST.fullmatch(text)
    if inside is not None and inside[1] != inside[2]:
        return Correction(subject="inside", what=inside[1], becomes=inside[2])
    if deepest is not None:
        return Correction(subject="deepest", what=deepest[1], becomes="")
    raise InvalidInput(f"--refine {text!r}: none of the forms {'; '.join(FORMS)}")


def _role(text: str, role: str) -> str:
    if role != TEXT and role not in ROLES:
        raise InvalidInput(f"--refine {text!r}: {role!r} is none of {', '.join(ROLES)}, {TEXT}")
    return role


def corrected(draft: Draft, corrections: tuple[Correction, ...], evidence: Evidence, lines: Lines) -> Draft:
    for correction in corrections:
        if correction.subject == "deepest":
            draft = replace(draft, deepest=_find(draft.levels, correction.what).name)
        elif correction.subject == "inside":
            inner, outer = _find(draft.levels, correction.what), _find(draft.levels, correction.becomes)
            rest = [level for level in draft.levels if level is not inner]
            rest.insert(rest.index(outer) + 1, inner)
            draft = replace(draft, levels=tuple(rest))
        else:
            draft = replace(draft, levels=_reworded(draft.levels, correction, evidence, lines))
    if draft.deepest is not None and draft.deepest not in {level.name for level in draft.levels}:
        raise InvalidInput(f"--refine: the deepest level {draft.deepest} is no longer there; leave that correction out")
    return draft


def _find(levels: tuple[DraftLevel, ...], name: str) -> DraftLevel:
    folded = name.casefold()
    for level in levels:
        if level.name == folded or any(word.casefold() == folded for word in level.words):
            return level
    known = ", ".join(level.name for level in levels) or "none"
    raise InvalidInput(f"--refine: the text has no level {name!r}; it has {known}")


def _reworded(
    levels: tuple[DraftLevel, ...], correction: Correction, evidence: Evidence, lines: Lines
) -> tuple[DraftLevel, ...]:
    """Give a word its new role or no role. A line without a word and number becomes a phrase."""
    line = _line_of(correction, evidence, lines)
    word = line.word if line is not None else correction.what
    folded = " ".join(word.casefold().split())
    if line is not None and correction.becomes == TEXT:
        # A profile knows words and no single lines. So a line that becomes text takes all headings of its word with it.
        forms = {level.form for level in levels if any(word.casefold() == line.key for word in level.words)}
        kinds = (kind for kind in evidence.kinds if kind.form in forms)
        headings = [heading for kind in kinds for heading in kind.lines if heading.key == line.key]
        if any(heading.index != line.index for heading in headings):
            raise InvalidInput(
                f"--refine: line {correction.what} is text would drop all {len(headings)} headings that begin with "
                f"{line.word!r}. If you mean that, give --refine 'word {line.word} is text'. If only this line is "
                "text, put `> ` before it in the source"
            )
    left = [replace(level, words=tuple(word for word in level.words if word.casefold() != folded)) for level in levels]
    kept = [level for level in left if level.words or level.phrases]
    if correction.becomes == TEXT:
        return tuple(kept)
    role = ROLES[correction.becomes]
    made = _new_level(role, folded, line, evidence, lines)
    same = next((level for level in kept if level.name == role.name and level.form == made.form), None)
    if same is not None:
        joined = replace(
            same, words=same.words + tuple(word for word in made.words if word not in same.words),
            phrases=same.phrases + made.phrases,
            numbers=same.numbers + tuple(style for style in made.numbers if style not in same.numbers),
        )  # fmt: skip
        return tuple(joined if level is same else level for level in kept)
    return _named(_ordered([*kept, made]))


def _line_of(correction: Correction, evidence: Evidence, lines: Lines) -> LikelyHeading | None:
    if correction.subject != "line":
        return None
    index = int(correction.what) - lines.first_line
    line = next((line for line in evidence.lines if line.index == index), None) or read_named(index, lines)
    if line is None:
        raise InvalidInput(
            f"--refine: line {correction.what} does not begin like a heading (a word and a number, then a sign or the "
            "end of the line). Name another line, or put `# ` before it in the source"
        )
    return line


def _new_level(role: Role, folded: str, line: LikelyHeading | None, evidence: Evidence, lines: Lines) -> DraftLevel:
    kinds = [kind for kind in evidence.kinds if " ".join(kind.word.casefold().split()) == folded]
    if folded and kinds:
        made = _level(max(kinds, key=_weight), lines)
        return replace(made, name=role.name, section_type=role.section_type, rank=role.rank)
    if line is not None and not line.word:
        phrase = " ".join(line.title.split())
        if not phrase[-1].isalnum():
            phrase = phrase.rstrip(".:;,–—- ") or phrase
        return _plain_level(role, line, phrases=(phrase,))
    if line is None:
        raise InvalidInput(f"--refine: no line begins with the word {folded!r} and a number")
    return _plain_level(role, line, words=(line.word,))


def _plain_level(
    role: Role, line: LikelyHeading, words: tuple[str, ...] = (), phrases: tuple[str, ...] = ()
) -> DraftLevel:
    numbers: tuple[str, ...] = ("arabic", "roman", "ordinal", "letter") if words else ()
    if any(NUMBER in word for word in words):
        numbers = ("cjk", "arabic")
    return DraftLevel(
        name=role.name, segment=segment_of_word(words[0]) if words else role.name.upper(),
        section_type=role.section_type, words=words, phrases=phrases,
        numbers=numbers, number="required",
        form=line.form, depth=line.depth, rank=role.rank, whole_document=False, title_next_line=False, lines=(line,),
    )  # fmt: skip


def yaml_of(draft: Draft, *, name: str, about: str, doubts: tuple[str, ...] = ()) -> bytes:
    """The draft as a file that the reader of profiles accepts."""
    fields: dict[str, Any] = {
        "schema": "cutter-profile/1", "id": name, "about": about, "unit_kind": "law_unit", "publication_type": "law",
        "owner": "incomex_council", "forms": ["atx"], "merge_titles": "true",
        "sentinels": {"begin": "<!-- cutter:begin -->", "end": "<!-- cutter:end -->"}, "contents": list(CONTENTS),
    }  # fmt: skip
    for field in ("deepest", "duplicates", "empty"):
        value = getattr(draft, field)
        if value not in (None, "refuse"):
            fields[field] = value
    if doubts:
        fields["doubts"] = list(doubts)
    # Levels of one number of `#` that nest either way, such as Artikel and §: the text shows which one is outer.
    pairs = [
        [outer.name, inner.name]
        for outer, inner in pairwise(draft.levels)
        if outer.form == inner.form == "atx" and outer.depth == inner.depth
        if outer.rank == inner.rank or may_nest_either_way(outer.words, inner.words)
    ]
    if pairs:
        fields["either_way"] = pairs
    if draft.levels:
        fields["levels"] = [_level_fields(level) for level in draft.levels]
    text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=110)
    return text.replace("'true'", "true").encode()


def _level_fields(level: DraftLevel) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": level.name}
    if level.segment:
        fields["segment"] = level.segment
    words = tuple(word for word in level.words if NUMBER not in word)
    markers = [word for word in level.words if NUMBER in word]
    if markers:
        fields["marker"] = markers[0]
    for field, values in (("words", words), ("phrases", level.phrases), ("numbers", level.numbers)):
        if values:
            fields[field] = list(values)
    if level.number != "required":
        fields["number"] = level.number
    if level.region:
        fields |= {"region": True, "forms": ["bold", "plain"]}
    elif level.form != "atx" or level.also:
        fields["forms"] = [level.form, *level.also]
    if level.whole_document:
        fields["numbering"] = "document"
    if level.title_next_line:
        fields["title"] = "next_line"
    return {**fields, "section_type": level.section_type}
