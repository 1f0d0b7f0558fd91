"""Pure: explains why a line is a heading or is not one, by naming the rule of the marking that decided."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

from cutter.domain.amounts import counted
from cutter.errors import InvalidInput
from cutter.marking.checks import unreadable
from cutter.marking.headings import read_headings
from cutter.marking.lines import Lines, read_lines, region
from cutter.marking.options import Options
from cutter.marking.profile import Profile
from cutter.marking.recognise import Heading, find_headings, in_every_form
from cutter.marking.result import Candidate, Exclusion, Marking, MarkRefusal
from cutter.marking.splitter import examine

Verdict = Literal["unit", "title", "group", "excluded", "blank", "text"]

RULES: dict[str, tuple[Verdict, str]] = {
    "word": ("unit", "it begins with the words of a level"),
    "hashes": ("unit", "its number of # decides, since no level has its words"),
    "merged_title": ("title", "it is the name of the heading above, which is only a number"),
    "next_line_title": ("title", "the level takes its title from the next line"),
    "group_header": ("group", "headings without a known word only group in this profile"),
    "front_matter": ("excluded", "it is in the YAML block at the beginning"),
    "table_of_contents": ("excluded", "it is in the table of contents"),
    "excluded": ("excluded", "the marking leaves its part out"),
    "outside_region": ("excluded", "it is outside the profile's sentinels"),
    "blank": ("blank", "it has no text"),
    "code_block": ("text", "it is in a code block, a comment or raw HTML"),
    "indented": ("text", "it is indented by four spaces or a tab"),
    "bare_heading": ("text", "a # without text is no heading"),
    "numbering_break": ("text", "its number does not fit the numbers around it"),
    "other_form": ("text", "its level is written in another form elsewhere in the text"),
    "heading_quoted": ("text", "it is inside a quotation"),
    "sentence_continued": ("text", "it continues the sentence of the line before"),
    "region_title": ("text", "the numbers before it continue after it, so it begins no other document"),
    "only_before": ("text", "its level is read only before another one, and that has begun"),
    "within": ("text", "its level counts only inside another one"),
    "below_deepest": ("text", "its level is finer than the finest that is cut"),
    "inside_row": ("text", "it is a deeper heading inside a unit, in a profile where such headings only group"),
    "form_not_read": ("text", "its words are known, but not in this form"),
    "no_sign": ("text", "words follow its number, so it reads like a cross-reference"),
    "no_word": ("text", "no level of the profile has its words"),
}
"""Each rule with the kind of line that it gives and the reason in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a line is, and the rule that decided. `address` names the unit that the line begins or belongs to."""

    line: int
    text: str
    verdict: Verdict
    rule: str
    sentence: str
    address: str | None


class Explainer:
    """The steps of the marking of one text, kept so that each of its lines can be explained."""

    def __init__(self, data: bytes, lines: Lines, profile: Profile, options: Options, result: Marking | MarkRefusal):
        self._lines = lines
        self._count = data.count(b"\n") + (not data.endswith(b"\n"))
        self._parts = result.parts() if isinstance(result, Marking) else ()
        self._starts = [part.start for part in self._parts]
        self._rules: dict[int, tuple[str, Heading | None, str]] = {}
        self._wide = in_every_form(profile)
        # Note the rule for each line that a step of the marking decides. A later step overrules an earlier one.
        steps = read_headings(lines, profile, options)
        for finding in steps.bare:
            self._note(finding.line - lines.first_line, "bare_heading")
        wanted = {heading.index for heading in steps.wanted}
        for heading in steps.found:
            if heading.index not in wanted:
                self._note(heading.index, "below_deepest", heading)
        settled = {heading.index for heading in steps.settled}
        for heading in steps.wanted:
            if heading.index not in settled and heading.level is not None:
                self._note(heading.index, "within" if heading.level.within else "only_before", heading)
        for finding in steps.breaks:
            self._note(finding.line - lines.first_line, finding.code, None, finding.message)
        kinds = {row.heading.index: row.kind for row in steps.rows}
        for heading in steps.merged:
            kind = kinds.get(heading.index)
            if kind == "unit":
                rule = "word" if heading.level else "hashes"
            else:
                rule = {"group": "group_header", "excluded": "excluded", None: "inside_row"}[kind]
            self._note(heading.index, rule, heading)
            if heading.last > heading.index:
                self._note(heading.last, "merged_title", heading)
            if heading.title_below is not None:
                self._note(heading.title_below, "next_line_title", heading)
        for block in steps.blocks:
            for index in range(block.begin, block.end):
                self._note(index, block.reason)

    def line(self, number: int) -> Explanation:
        """The explanation of a line, counted from 1. Raises InvalidInput if the text has no such line."""
        if not 1 <= number <= self._count:
            raise InvalidInput(f"line {number}: the text has {counted(self._count, 'line')}")
        index = number - self._lines.first_line
        text, address, heading, more = "", None, None, ""
        rule = "outside_region"
        if 0 <= index < len(self._lines.lines):
            text = self._lines.lines[index].decode("utf-8", "ignore").strip()
            rule, heading, more = self._rules.get(index) or self._of_text(index)
            part = self._part(index)
            # A blank line belongs to no unit.
            address = part.address if isinstance(part, Candidate) and rule != "blank" else None
        verdict, reason = RULES[rule]
        sentence = more.partition(": ")[2] or reason
        if heading is not None and heading.level is not None:
            written = f" {heading.number.text}" if heading.number else ""
            forms = f", read in the forms {', '.join(heading.level.forms)}" if rule == "form_not_read" else ""
            sentence = f"{sentence} (level {heading.name}{written}, written as {heading.form}{forms})"
        elif heading is not None and rule == "hashes":
            sentence = f"{sentence} ({'#' * heading.depth})"
        return Explanation(line=number, text=text, verdict=verdict, rule=rule, sentence=sentence, address=address)

    def _note(self, index: int, rule: str, heading: Heading | None = None, more: str = "") -> None:
        self._rules[index] = (rule, heading, more)

    def _of_text(self, index: int) -> tuple[str, Heading | None, str]:
        """The rule for a line that no step treated as a heading."""
        line = self._lines.lines[index]
        if self._lines.is_blank(index):
            return "blank", None, ""
        if isinstance(self._part(index), Exclusion):
            return "excluded", None, ""
        if self._lines.opaque[index]:
            return "indented" if line[:1] == b"\t" or line[:4] == b"    " else "code_block", None, ""
        wide = self._one(line)
        if wide is not None and wide.level is not None:
            return "form_not_read", wide, ""
        as_heading = self._one(b"# " + line)
        if as_heading is not None and as_heading.level is not None:
            return "no_sign", as_heading, ""
        return "no_word", None, ""

    def _one(self, line: bytes) -> Heading | None:
        """Read a single line in every existing form."""
        headings, _ = find_headings(read_lines(line, 0, len(line)), self._wide)
        return headings[0] if headings else None

    def _part(self, index: int) -> object:
        place = bisect_right(self._starts, self._lines.offset(index)) - 1
        return self._parts[place] if place >= 0 else None


def explainer(
    data: bytes, *, profile: Profile, docprefix: str, options: Options
) -> tuple[Explainer, Marking | MarkRefusal] | MarkRefusal:
    """The explainer of a text with its marking, or the refusal of a text that has no lines to explain.

    A cut with red findings is explained too, because people ask about the lines of these findings.
    """
    result = examine(data, profile=profile, docprefix=docprefix, options=options)
    refused = unreadable(data)
    if refused is not None:
        return refused
    span = region(data, profile)
    if isinstance(span, MarkRefusal):
        return span
    return Explainer(data, read_lines(data, *span), profile, options, result), result
