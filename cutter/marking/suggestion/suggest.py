"""Pure: suggests a profile for a text: drafts it from lines that look like headings, tries it, and gives a confidence.

The text is marked a fixed number of times, so that suggesting is as linear as marking.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from cutter.domain.amounts import counted
from cutter.domain.digests import sha256_hex
from cutter.limits import CANDIDATES_MAX, FINDINGS_OF_A_KIND_SHOWN
from cutter.marking import PROFILES, load_profile
from cutter.marking.asides import ASIDES
from cutter.marking.checks import TEXT_MISSING, unreadable
from cutter.marking.heading_lines import LikelyHeading
from cutter.marking.headings import BIDI_IN_HEADING
from cutter.marking.hierarchy import last_shallower, shallowest_at_first
from cutter.marking.lines import read_lines, region
from cutter.marking.options import Options
from cutter.marking.profile import Nesting, Profile, parse_profile
from cutter.marking.result import Candidate, Exclusion, Finding, Marking, MarkRefusal, refusal
from cutter.marking.splitter import examine
from cutter.marking.suggestion.draft import (
    Draft,
    articles_with_hashes,
    corrected,
    draft_levels,
    heading_of_other_numbers,
    parse_corrections,
    yaml_of,
)
from cutter.marking.suggestion.evidence import Evidence, read_evidence
from cutter.marking.titles import BIDI, cut_title
from cutter.marking.uncut import TEXT_OUTSIDE
from cutter.marking.vocabulary import role_of

Confidence = Literal["high", "medium", "low"]

_GIANT_SHARE = 0.5
"""A unit that holds more than this share of the text probably contains uncut headings."""

_GIANT_BYTES_MIN = 8_000
_FEW_UNITS = 3
_HEADING_AFTER_CR = re.compile(rb"\r {0,3}#{1,6}[ \t]")
_LEFT_OUT_SHARE = 0.05
"""Left-out lines divided by units. A larger share means a wrong profile, not a few cross-references."""

_UNHEEDED = (
    "--refine changes nothing: the profile says so already; `cutter mark --explain LINE` says how a line is read"
)

_REFUSES = "`cutter mark` refuses the cut"

_LENIENT = Options(duplicates="ordinal", empty="heading_only", max_candidates=CANDIDATES_MAX)
"""The options of a trial. They allow repeated and empty headings, so that one does not hide the other findings."""

_BREAKS = frozenset(
    {"numbering_break", "other_form", "number_missing", "number_repeated", "number_backwards", "kinds_mixed"}
)
"""Findings about numbers that do not follow each other. A profile without words has none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedLevel:
    """A level of the suggested profile, and the lines in which it was found."""

    name: str
    form: str
    words: tuple[str, ...]
    numbers: tuple[str, ...]
    lines: int
    first_line: int
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another profile and its result. `nested_otherwise` counts differences from the numbers of `#`, `red` the red
    findings.
    """

    profile: str
    units: int
    nested_otherwise: int
    left_out: int
    refused: str
    red: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """A line that looks like a heading but begins no unit. `why` is `text`, `code_block` or `outstanding`."""

    line: int
    title: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A profile for one text. `body` is the profile's file. `result` is the marking with its red findings."""

    body: bytes
    profile_id: str
    result: Marking | MarkRefusal
    levels: tuple[SuggestedLevel, ...]
    unused: tuple[Unused, ...]
    confidence: Confidence
    reasons: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    needs: tuple[str, ...]
    """`result` is for the text as prepared by the options in `needs`."""

    @property
    def red(self) -> tuple[Finding, ...]:
        """The findings because of which `mark` refuses this cut."""
        return self.result.unaccepted if isinstance(self.result, Marking) else ()


def suggest(
    data: bytes,
    *,
    docprefix: str,
    name: str = "suggested",
    refine: tuple[str, ...] = (),
    compared: tuple[str, ...] = PROFILES,
    nesting: Nesting | None = None,
) -> Suggestion | MarkRefusal:
    """A profile that fits the text, or the reason why the text cannot be read at all.

    `compared` are the shipped profiles that are tried as alternatives. `nesting` decides where the number of `#` and
    the words disagree. Raises InvalidInput for a correction that names no line, word or level of the text.
    """
    corrections = parse_corrections(refine)
    for marks in (False, True):
        text, needs = _prepared(data, marks=marks)
        no_text = unreadable(text)
        if no_text is not None:
            return no_text
        if not text.strip():
            return refusal("no_candidates", None, "the file is empty: give the file that has the law's text")
        about = f"Suggested for the text with sha256 {sha256_hex(text)[:16]}."
        span = region(text, parse_profile(yaml_of(Draft(levels=()), name=name, about=about)))
        if isinstance(span, MarkRefusal):
            return span
        lines = read_lines(text, *span)
        evidence = read_evidence(lines)
        needs += (f"--nesting {nesting}",) if nesting else ()
        desk = _Desk(needs=needs, nesting=nesting, data=text, docprefix=docprefix, name=name, about=about,
                     evidence=evidence, first_line=lines.first_line)  # fmt: skip
        by_words = Draft(levels=draft_levels(evidence, lines))
        other: tuple[Alternative, ...] = ()
        if corrections:
            draft = corrected(by_words, corrections, evidence, lines)
            desk = replace(desk, unheeded=draft == by_words)
            trial = desk.trial(draft)
        else:
            draft, trial, other = desk.better(by_words)
        draft, trial = desk.accepting(draft, trial)
        if marks or not (isinstance(trial.result, MarkRefusal) and trial.result.code == BIDI_IN_HEADING):
            break
        # Only the draft shows that a line without # is a heading. So its direction marks are removed in a second pass.
    confidence, reasons = _confidence(desk, draft, trial)
    if isinstance(trial.result, Marking):
        # Every marking repeats what is doubted here. Its red findings speak for themselves.
        desk = replace(desk, doubts=tuple(text for text in reasons if text != _UNHEEDED and _REFUSES not in text))
        trial = desk.trial(draft) if desk.doubts else trial
    return Suggestion(
        body=desk.body(draft), profile_id=name, result=trial.result,
        levels=tuple(
            SuggestedLevel(name=level.name, form="#" * level.depth if level.form == "atx" else level.form,
                           words=level.words or level.phrases, numbers=level.numbers, lines=len(level.lines),
                           first_line=desk.first_line + level.lines[0].index, example=level.lines[0].title[:80])
            for level in draft.levels
        ),
        unused=trial.unused, confidence=confidence, reasons=reasons,
        alternatives=(*other, *desk.shipped(compared)), needs=desk.needs,
    )  # fmt: skip


def _prepared(data: bytes, *, marks: bool) -> tuple[bytes, tuple[str, ...]]:
    """The text with the options of `mark` that it needs, and these. With `marks`, a heading without # has direction
    marks.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data, ()
    needs = []
    if marks or any(BIDI.search(line) for line in text.split("\n") if line.lstrip(" ")[:1] == "#"):
        text = BIDI.sub("", text)
        needs.append("--remove-direction-marks")
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
        needs.append("--normalise nfc")
    return text.encode() if needs else data, tuple(needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """The outcome of a profile, also if `mark` would refuse the cut for its red findings. `nested_otherwise` counts the
    units whose parent is not the one that `#` gives.
    """

    result: Marking | MarkRefusal
    nested_otherwise: int
    breaks: int
    unused: tuple[Unused, ...]

    @property
    def units(self) -> int:
        return len(self.result.candidates) if isinstance(self.result, Marking) else 0

    @property
    def left_out(self) -> int:
        """Lines with a word and a number that begin no unit."""
        return sum(line.why == "text" for line in self.unused)

    @property
    def red(self) -> tuple[Finding, ...]:
        return self.result.unaccepted if isinstance(self.result, Marking) else ()

    @property
    def cost(self) -> tuple[int, ...]:
        """A cost: refused, then the structure as written and used, then numbers in order. Red findings about numbers
        count last, because a profile that reads no words has none.
        """
        refused = int(isinstance(self.result, MarkRefusal))
        red = sum(finding.code not in _BREAKS and finding.code != TEXT_MISSING for finding in self.red)
        return refused, self.nested_otherwise + self.left_out + red, self.breaks, -self.units


def _try(
    data: bytes, profile: Profile, docprefix: str, evidence: Evidence, first_line: int, nesting: Nesting | None = None
) -> _Trial:
    """Mark the text by the profile and measure the result; `first_line` is the number of the region's first line."""
    result = examine(data, profile=profile, docprefix=docprefix, options=replace(_LENIENT, nesting=nesting))
    if isinstance(result, MarkRefusal):
        return _Trial(result=result, nested_otherwise=0, breaks=0, unused=())
    begins = {unit.line: unit for unit in result.candidates}
    named = _named_lines(evidence, begins, first_line)
    return _Trial(
        result=result,
        nested_otherwise=_nested_otherwise(result, evidence, named, first_line),
        breaks=sum(finding.code in _BREAKS for finding in result.findings),
        unused=_unused(result, evidence, named, first_line),
    )


def _named_lines(evidence: Evidence, begins: dict[int, Candidate], first_line: int) -> dict[int, Candidate]:
    """The unit of each line that begins one, or that is the second line of its heading."""
    named: dict[int, Candidate] = {}
    last: Candidate | None = None
    for line in evidence.lines:
        number = first_line + line.index
        unit = begins.get(number)
        if unit is None and last is not None and last.title.endswith(cut_title(line.title)):
            unit = last if last.title != cut_title(line.title) else None
        if unit is not None:
            named[number] = unit
        last = unit if number in begins else None
    return named


def _nested_otherwise(result: Marking, evidence: Evidence, named: dict[int, Candidate], first_line: int) -> int:
    """Units written with `#` whose parent is not the last shallower heading; units without `#` may be in between."""
    written = [line for line in evidence.lines if line.form == "atx" and not line.hidden]
    titles = {line.index for line in written[: shallowest_at_first([line.depth for line in written])]}
    parents = {unit.address: unit.parent_address for unit in result.candidates}
    addresses: set[str] = set()
    headings: list[tuple[LikelyHeading, str | None]] = []
    for line in written:
        unit = named.get(first_line + line.index)
        if unit is None or unit.address not in addresses:  # else it is the second line of a heading
            headings.append((line, unit.address if unit else None))
            addresses.update([unit.address] if unit else [])
    wrong = 0
    above = last_shallower((line.depth, None if line.index in titles else address) for line, address in headings)
    for (_, address), shallower in zip(headings, above, strict=True):
        if address is not None:
            parent = parents[address]
            while parent is not None and parent not in addresses:
                parent = parents[parent]
            wrong += parent != shallower
    return wrong


def _unused(
    result: Marking, evidence: Evidence, named: dict[int, Candidate], first_line: int
) -> tuple[Unused, ...]:  # fmt: skip
    # the first line of each part, and whether it is excluded for what it is: a contents table, a draft row
    skipped = [
        (part.line, isinstance(part, Exclusion) and part.reason not in ("before_first_unit", "between_blocks"))
        for part in result.parts()
    ]
    judged = {finding.line for finding in result.findings if finding.code in ASIDES}
    unused = []
    for line in evidence.lines:
        number = first_line + line.index
        if number in judged:
            continue
        part = bisect_right(skipped, (number, True)) - 1
        if number not in named and not (part >= 0 and skipped[part][1]):
            why = "code_block" if line.hidden else "text" if line.form == "atx" or line.number else "outstanding"
            unused.append(Unused(line=number, title=cut_title(line.title), why=why))
    return tuple(unused)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """One text, and the options with which its drafts are tried. If `unheeded`, the corrections change nothing."""

    needs: tuple[str, ...]
    nesting: Nesting | None
    data: bytes
    docprefix: str
    name: str
    about: str
    evidence: Evidence
    first_line: int
    unheeded: bool = False
    doubts: tuple[str, ...] = ()

    def body(self, draft: Draft) -> bytes:
        return yaml_of(draft, name=self.name, about=self.about, doubts=self.doubts)

    def trial(self, draft: Draft) -> _Trial:
        profile = parse_profile(self.body(draft))
        return _try(self.data, profile, self.docprefix, self.evidence, self.first_line, self.nesting)

    def better(self, by_words: Draft) -> tuple[Draft, _Trial, tuple[Alternative, ...]]:
        """The better of two drafts: levels by their words, or headings only by their number of `#`."""
        trial = self.trial(by_words)
        # The levels of known words stay, because their words give the kinds, the addresses and the order of numbers.
        kept = (level for level in by_words.levels if level.form != "atx" or any(map(role_of, level.words)))
        by_hashes = replace(by_words, levels=tuple(kept))
        if by_hashes == by_words:
            return by_words, trial, ()
        rival = self.trial(by_hashes)
        if rival.cost[:2] < trial.cost[:2]:
            return by_hashes, rival, (_alternative("levels by their words", trial),)
        return by_words, trial, (_alternative("levels by the number of #", rival),)

    def shipped(self, names: tuple[str, ...]) -> list[Alternative]:
        tried = [
            _alternative(name, _try(self.data, load_profile(name), self.docprefix, self.evidence, self.first_line))
            for name in names
        ]
        return sorted(
            tried, key=lambda other: (other.refused != "", other.red > 0, other.nested_otherwise + other.left_out)
        )

    def accepting(self, draft: Draft, trial: _Trial) -> tuple[Draft, _Trial]:
        """The draft that permits headings without text and repeats, if the text has them and the `#` agree."""
        if isinstance(trial.result, MarkRefusal):
            return draft, trial
        codes = {finding.code for finding in trial.result.findings}
        allowed = replace(
            draft,
            empty="heading_only" if "heading_only" in codes else "refuse",
            duplicates="ordinal" if "duplicate_address" in codes and not trial.nested_otherwise else "refuse",
        )
        return allowed, trial if allowed == draft else self.trial(allowed)


def _alternative(name: str, trial: _Trial) -> Alternative:
    refused = trial.result.code if isinstance(trial.result, MarkRefusal) else ""
    return Alternative(profile=name, units=trial.units, nested_otherwise=trial.nested_otherwise,
                       left_out=trial.left_out, refused=refused, red=len(trial.red))  # fmt: skip


def _confidence(desk: _Desk, draft: Draft, trial: _Trial) -> tuple[Confidence, tuple[str, ...]]:
    """The confidence of the suggestion, and each reason for doubt."""
    if isinstance(trial.result, MarkRefusal):
        return "low", (f"the text is refused ({trial.result.code}): {trial.result.message}",)
    grave = [_UNHEEDED] if desk.unheeded else []
    if trial.red:
        named = ", ".join(finding.name for finding in trial.red[:FINDINGS_OF_A_KIND_SHOWN])
        more = len(trial.red) - FINDINGS_OF_A_KIND_SHOWN
        rest = f" and {counted(more, 'other')}" if more > 0 else ""
        grave.append(f"{_REFUSES} until each red finding is corrected or accepted: {named}{rest}")
    # Most of the text is before or between the units, so that it would not be enacted.
    grave += [
        f"more text becomes no unit than becomes one ({finding.name}): write a heading, such as `# Text`, above it"
        for finding in trial.result.findings
        if finding.code == TEXT_OUTSIDE
    ]
    light: list[str] = []
    giant = max(trial.result.candidates, key=lambda unit: unit.end - unit.start)
    size, whole = giant.end - giant.start, trial.result.region_end - trial.result.region_start
    if size >= _GIANT_BYTES_MIN and (size > _GIANT_SHARE * whole or trial.units <= _FEW_UNITS):
        grave.append(f"{giant.address} has {round(100 * size / whole)} % of the text: more headings are probably in it")
    if trial.left_out:
        reasons = grave if trial.left_out > _LEFT_OUT_SHARE * trial.units else light
        reasons.append(f"begin no unit, though they look like headings: {counted(trial.left_out, 'line')}")
    if trial.nested_otherwise:
        light.append(f"nested otherwise than the numbers of # say: {counted(trial.nested_otherwise, 'unit')}")
    light.extend(_unusual_levels(desk, draft))
    joined = len(_HEADING_AFTER_CR.findall(desk.data))
    if joined:
        grave.append(
            f"after a line end other than LF, so not read: {counted(joined, 'heading')}; save the text with LF"
        )
    if trial.breaks:
        light.append(f"out of the order of the numbers: {counted(trial.breaks, 'line')}")
        # a heading such as `Transitional provisions`, whose articles have numbers of their own
        heading = heading_of_other_numbers(draft.levels, desk.evidence)
        if heading is not None:
            line = desk.first_line + heading.index
            light.append(f"the numbers begin again below line {line}: perhaps give --refine 'line {line} is an annex'")
    if draft.duplicates == "ordinal":
        repeats = Counter(finding.code for finding in trial.result.findings)["duplicate_address"]
        light.append(f"repeated, with ~2, ~3 in the address: {counted(repeats, 'heading')}")
    hidden = sum(line.why == "code_block" for line in trial.unused)
    if hidden:
        light.append(f"in code blocks or comments, though they look like headings: {counted(hidden, 'line')}")
    return "low" if grave else "medium" if light else "high", (*grave, *light)


def _unusual_levels(desk: _Desk, draft: Draft) -> list[str]:
    """Levels whose `#` put them inside a level that is usually further in, and levels of words that no table knows.

    Also articles in plain lines of a text that numbers other articles with `#`.
    """
    warnings = [
        f"by its # {inner.name} is inside {outer.name}; else give --refine '{outer.name} is inside {inner.name}'"
        for outer, inner in pairwise(draft.levels)
        if outer.form == inner.form == "atx" and outer.depth < inner.depth and outer.rank > inner.rank
    ]
    plain = [level for level in draft.levels if level.form != "atx"]
    unknown = [level.words[0] for level in plain if level.words and role_of(level.words[0]) is None]
    warnings += [f"no usual word for a heading: {word}; else give --refine 'word {word} is text'" for word in unknown]
    if plain and articles_with_hashes(desk.evidence) > 1:
        warnings.append("some articles are written with #, others in plain lines: perhaps another text is annexed")
    return warnings
