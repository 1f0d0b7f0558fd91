"""Pure: suggests a profile for a text. It drafts the profile from lines that look like headings, tries it, and gives a
confidence.

The text is marked a fixed number of times, so that suggesting is as linear as marking. The same text and corrections
always give the same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from cutter.domain.amounts import counted
from cutter.domain.digests import sha256_hex
from cutter.limits import FINDINGS_OF_A_KIND_SHOWN
from cutter.marking import PROFILES, load_profile
from cutter.marking.checks import unreadable
from cutter.marking.headings import BIDI_IN_HEADING
from cutter.marking.lines import read_lines, region
from cutter.marking.profile import Nesting, parse_profile
from cutter.marking.result import Candidate, Finding, Marking, MarkRefusal, refusal
from cutter.marking.suggestion.corrections import parse_corrections
from cutter.marking.suggestion.draft import (
    Draft,
    articles_with_hashes,
    corrected,
    draft_levels,
    heading_of_other_numbers,
    yaml_of,
)
from cutter.marking.suggestion.evidence import Evidence, read_evidence
from cutter.marking.suggestion.preparation import prepared
from cutter.marking.suggestion.trial import Trial, Unused, try_profile
from cutter.marking.uncut import TEXT_OUTSIDE
from cutter.marking.vocabulary import role_of

Confidence = Literal["high", "medium", "low"]

_GIANT_SHARE = 0.5
"""A unit that holds more than this share of the text probably contains uncut headings."""

_GIANT_BYTES_MIN = 8_000
_FEW_UNITS = 3
_HEADING_AFTER_CR = re.compile(rb"\r {0,3}#{1,6}[ \t]")
_LEFT_OUT_SHARE = 0.05
"""The number of left-out lines divided by the number of units. A larger share means a wrong profile, not a few
cross-references.
"""

_UNHEEDED = (
    "--refine changes nothing: the profile says so already; `cutter mark --explain LINE` says how a line is read"
)


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
    """Another profile and its result for the text. `nested_otherwise` counts differences from the numbers of `#`.

    `red` counts the red findings. A cut with a red finding is shown here, although `mark` refuses it.
    """

    profile: str
    units: int
    nested_otherwise: int
    left_out: int
    refused: str
    red: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A profile for one text. `body` is the profile's file. `result` is the marking of the text with its red
    findings.
    """

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

    `name` is the profile's id; `compared` are the shipped profiles that are tried as alternatives. `nesting` decides
    where the number of `#` and the words disagree. Raises InvalidInput
    for a correction that names no line, word or level of the text.
    """
    data, needs = prepared(data)
    made = _suggest(data, needs, docprefix=docprefix, name=name, refine=refine, compared=compared, nesting=nesting)
    if isinstance(made, Suggestion) and isinstance(made.result, MarkRefusal) and made.result.code == BIDI_IN_HEADING:
        # Only the draft shows that a line without # is a heading.
        data, needs = prepared(data, marks=True)
        made = _suggest(data, needs, docprefix=docprefix, name=name, refine=refine, compared=compared, nesting=nesting)
    return made


def _suggest(
    data: bytes, needs: tuple[str, ...], *, docprefix: str, name: str, refine: tuple[str, ...],
    compared: tuple[str, ...], nesting: Nesting | None,
) -> Suggestion | MarkRefusal:  # fmt: skip
    corrections = parse_corrections(refine)
    about = f"Suggested for the text with sha256 {sha256_hex(data)[:16]}."
    no_text = unreadable(data)
    if no_text is not None:
        return no_text
    if not data.strip():
        return refusal("no_candidates", None, "the file is empty: give the file that has the law's text")
    span = region(data, parse_profile(yaml_of(Draft(levels=()), name=name, about=about)))
    if isinstance(span, MarkRefusal):
        return span
    lines = read_lines(data, *span)
    evidence = read_evidence(lines)
    desk = _Desk(
        needs=(*needs, *([f"--nesting {nesting}"] if nesting else [])),
        nesting=nesting,
        data=data,
        docprefix=docprefix,
        name=name,
        about=about,
        evidence=evidence,
        first_line=lines.first_line,
    )
    by_words = Draft(levels=draft_levels(evidence, lines))
    if corrections:
        wanted = corrected(by_words, corrections, evidence, lines)
        desk = replace(desk, unheeded=wanted == by_words)
        draft, trial = desk.accepting(wanted)
        return _suggestion(desk, draft, trial, tuple(desk.shipped(compared)))
    draft, trial, other = desk.better(by_words)
    return _suggestion(desk, draft, trial, (*other, *desk.shipped(compared)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """One text, and the options with which its drafts are tried."""

    needs: tuple[str, ...]
    nesting: Nesting | None
    data: bytes
    docprefix: str
    name: str
    about: str
    evidence: Evidence
    first_line: int
    unheeded: bool = False
    """A person's corrections change nothing."""

    def body(self, draft: Draft) -> bytes:
        return yaml_of(draft, name=self.name, about=self.about)

    def trial(self, draft: Draft) -> Trial:
        profile = parse_profile(self.body(draft))
        return try_profile(self.data, profile, self.docprefix, self.evidence, self.first_line, self.nesting)

    def better(self, by_words: Draft) -> tuple[Draft, Trial, tuple[Alternative, ...]]:
        """The better of two drafts: levels by their words, or headings only by their number of `#`."""
        trial = self.trial(by_words)
        by_hashes = replace(by_words, levels=tuple(level for level in by_words.levels if level.form != "atx"))
        if by_hashes == by_words:
            return *self._accepting(by_words, trial), ()
        rival = self.trial(by_hashes)
        if rival.cost[:2] < trial.cost[:2]:
            return *self._accepting(by_hashes, rival), (_alternative("levels by their words", trial),)
        return *self._accepting(by_words, trial), (_alternative("levels by the number of #", rival),)

    def shipped(self, names: tuple[str, ...]) -> list[Alternative]:
        """The results of the shipped profiles for the text, best first."""
        tried = [
            _alternative(
                name, try_profile(self.data, load_profile(name), self.docprefix, self.evidence, self.first_line)
            )
            for name in names
        ]
        return sorted(
            tried, key=lambda other: (other.refused != "", other.red > 0, other.nested_otherwise + other.left_out)
        )

    def accepting(self, draft: Draft) -> tuple[Draft, Trial]:
        return self._accepting(draft, self.trial(draft))

    def _accepting(self, draft: Draft, trial: Trial) -> tuple[Draft, Trial]:
        """The draft with permission for headings without text and for repeats, if the text has them and the `#`
        agree.
        """
        if isinstance(trial.result, MarkRefusal):
            return draft, trial
        codes = {finding.code for finding in trial.result.findings}
        allowed = replace(
            draft,
            empty="heading_only" if "heading_only" in codes else "refuse",
            duplicates="ordinal" if "duplicate_address" in codes and not trial.nested_otherwise else "refuse",
        )
        return allowed, trial if allowed == draft else self.trial(allowed)


def _suggestion(desk: _Desk, draft: Draft, trial: Trial, other: tuple[Alternative, ...]) -> Suggestion:
    confidence, reasons = _confidence(desk, draft, trial)
    return Suggestion(
        body=desk.body(draft),
        profile_id=desk.name,
        result=trial.result,
        levels=tuple(
            SuggestedLevel(name=level.name, form="#" * level.depth if level.form == "atx" else level.form,
                           words=level.words or level.phrases, numbers=level.numbers, lines=len(level.lines),
                           first_line=desk.first_line + level.lines[0].index, example=level.lines[0].title[:80])
            for level in draft.levels
        ),
        unused=trial.unused,
        confidence=confidence,
        reasons=reasons,
        alternatives=other,
        needs=desk.needs,
    )  # fmt: skip


def _alternative(name: str, trial: Trial) -> Alternative:
    refused = trial.result.code if isinstance(trial.result, MarkRefusal) else ""
    return Alternative(profile=name, units=trial.units, nested_otherwise=trial.nested_otherwise,
                       left_out=trial.left_out, refused=refused, red=len(trial.red))  # fmt: skip


def _confidence(desk: _Desk, draft: Draft, trial: Trial) -> tuple[Confidence, tuple[str, ...]]:
    """The confidence of the suggestion, and each reason for doubt."""
    if isinstance(trial.result, MarkRefusal):
        return "low", (f"the text is refused ({trial.result.code}): {trial.result.message}",)
    grave = [*([_UNHEEDED] if desk.unheeded else []), *_red_reasons(trial)]
    # Most of the text is before or between the units, so that it would not be enacted.
    grave += [
        f"more text becomes no unit than becomes one ({finding.name}): write a heading, such as `# Text`, above it"
        for finding in trial.result.findings
        if finding.code == TEXT_OUTSIDE
    ]
    light: list[str] = []
    giant = _giant(trial.result)
    if giant is not None:
        share = round(100 * (giant.end - giant.start) / (trial.result.region_end - trial.result.region_start))
        grave.append(f"{giant.address} has {share} % of the text: more headings are probably in it")
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


def _red_reasons(trial: Trial) -> list[str]:
    """The names of the red findings because of which `mark` refuses the cut. Their number is bounded."""
    if not trial.red:
        return []
    named = ", ".join(finding.name for finding in trial.red[:FINDINGS_OF_A_KIND_SHOWN])
    more = len(trial.red) - FINDINGS_OF_A_KIND_SHOWN
    rest = f" and {counted(more, 'other')}" if more > 0 else ""
    return [f"`cutter mark` refuses the cut until each red finding is corrected or accepted: {named}{rest}"]


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


def _giant(result: Marking) -> Candidate | None:
    largest = max(result.candidates, key=lambda unit: unit.end - unit.start)
    size = largest.end - largest.start
    whole = result.region_end - result.region_start
    alone = len(result.candidates) <= _FEW_UNITS
    if size >= _GIANT_BYTES_MIN and (size > _GIANT_SHARE * whole or alone):
        return largest
    return None


__all__ = ["Alternative", "Confidence", "SuggestedLevel", "Suggestion", "suggest"]
