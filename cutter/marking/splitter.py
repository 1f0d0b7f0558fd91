"""Pure: `mark`, which splits a pinned text into units (spec 01 "mark").

The way is one: bytes → lines → headings → the tree → spans → a `Marking` whose partition is proven, or a refusal that
says which line and what to do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cutter.domain.digests import sha256_hex
from cutter.domain.ids import docprefix as checked_docprefix
from cutter.errors import InvalidInput
from cutter.marking import checks
from cutter.marking.contents import contents_block
from cutter.marking.hierarchy import build_tree
from cutter.marking.lines import Lines, read_lines, region
from cutter.marking.merging import merge_titles
from cutter.marking.numbering import settle
from cutter.marking.options import Options
from cutter.marking.profile import Profile
from cutter.marking.recognise import Heading, find_headings
from cutter.marking.result import Finding, Marking, MarkRefusal, mark_digest
from cutter.marking.rows import Row, rows_of
from cutter.marking.spans import Block, Pieces, lay_out


def mark(data: bytes, *, profile: Profile, docprefix: str, options: Options) -> Marking | MarkRefusal:
    """Split a law into units, or say in one sentence why not.

    `data` is the pinned snapshot, `docprefix` the first segment of every address. Raises InvalidInput only for a wrong
    docprefix or option; what is wrong with the text is a MarkRefusal.
    """
    prefix = checked_docprefix(docprefix)
    options = _resolved(profile, options)
    unreadable = checks.unreadable(data)
    if unreadable is not None:
        return unreadable
    span = region(data, profile)
    if isinstance(span, MarkRefusal):
        return span
    lines = read_lines(data, *span)
    headings = _headings(lines, profile, options)
    if isinstance(headings, MarkRefusal):
        return headings
    return _marking(data, lines, headings, profile, prefix, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Headings:
    """Rows and group headers in order, blocks that are excluded whole, and what was noticed so far."""

    rows: tuple[Row, ...]
    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...]


def _resolved(profile: Profile, options: Options) -> Options:
    """The options with the profile's own choices where none was given; raises InvalidInput for one it cannot follow."""
    if options.deepest is not None and options.deepest not in profile.level_names():
        raise InvalidInput(f"deepest {options.deepest!r}: profile {profile.id} has {', '.join(profile.level_names())}")
    if options.scope == "enacted_only" and profile.status is None:
        raise InvalidInput(f"scope enacted_only: profile {profile.id} knows no status markers")
    return replace(options, duplicates=options.duplicates or profile.duplicates, empty=options.empty or profile.empty)


def _headings(lines: Lines, profile: Profile, options: Options) -> _Headings | MarkRefusal:
    found, noticed = find_headings(lines, profile)
    contents = contents_block(lines, found, profile)
    if isinstance(contents, MarkRefusal):
        return contents
    blocks = []
    if lines.front_matter:
        blocks.append(Block(begin=0, end=lines.front_matter, reason="front_matter"))
    if contents is not None:
        begin, end = contents
        blocks.append(Block(begin=begin, end=end, reason="table_of_contents"))
        found = [heading for heading in found if not begin <= heading.index < end]
    settled, breaks = settle(_down_to(found, profile, options), lines, profile)
    hidden = checks.bidi_heading(settled, lines)
    merged = merge_titles(settled, lines, profile)
    hidden = hidden or checks.bidi_heading(merged, lines)
    if hidden is not None:
        return hidden
    rows, conflicts = rows_of(merged, lines, profile, options)
    return _Headings(rows=rows, blocks=tuple(blocks), findings=(*lines.findings, *noticed, *breaks, *conflicts))


def _down_to(headings: list[Heading], profile: Profile, options: Options) -> list[Heading]:
    """Drop the levels below the finest one that becomes a unit; their text stays in the units above."""
    deepest = options.deepest or profile.deepest
    if deepest is None:
        return headings
    names = profile.level_names()
    wanted = set(names[: names.index(deepest) + 1])
    return [heading for heading in headings if heading.level is None or heading.level.name in wanted]


def _marking(
    data: bytes, lines: Lines, headings: _Headings, profile: Profile, prefix: str, options: Options
) -> Marking | MarkRefusal:
    units = [row.heading for row in headings.rows if row.kind == "unit"]
    counted = checks.wrong_count(units, lines, profile, options)
    if counted is not None:
        return counted
    nodes = build_tree(units, lines, profile, prefix)
    pieces = lay_out(lines, headings.rows, nodes, headings.blocks, profile)
    refused = checks.refuse_first(nodes, pieces, lines, options)
    if refused is not None:
        return refused
    findings = (*headings.findings, *checks.findings(data, nodes, pieces, lines))
    return _assemble(data, lines, pieces, profile, findings)


def _assemble(
    data: bytes, lines: Lines, pieces: Pieces, profile: Profile, findings: tuple[Finding, ...]
) -> Marking | MarkRefusal:
    marking = Marking(
        region_sha=sha256_hex(data[lines.start : lines.end]),
        region_start=lines.start,
        region_end=lines.end,
        profile_id=profile.id,
        profile_sha256=profile.sha256,
        candidates=pieces.candidates,
        exclusions=pieces.exclusions,
        non_content=pieces.non_content,
        findings=tuple(sorted(findings, key=lambda finding: (finding.line, finding.code, finding.message))),
        mark_digest=mark_digest(pieces.candidates, pieces.exclusions),
    )
    marking.prove(data)
    return marking
