"""Pure: `mark`, which splits a pinned text into units (spec 01 "mark").

There is one sequence of steps: bytes → lines → headings → the tree → spans. It ends with a `Marking` whose partition is
proven, or with a refusal that names the line and the remedy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cutter.domain.digests import sha256_hex
from cutter.domain.ids import docprefix as checked_docprefix
from cutter.errors import InvalidInput
from cutter.marking import checks
from cutter.marking.assessment import CAUSES, Structure, in_order, refuse_unaccepted, structure_findings
from cutter.marking.contents import contents_block
from cutter.marking.hierarchy import build_tree, shape_of
from cutter.marking.lines import Lines, read_lines, region
from cutter.marking.numbering import settle
from cutter.marking.options import Options
from cutter.marking.profile import Profile
from cutter.marking.recognise import Heading, find_headings
from cutter.marking.result import Finding, Marking, MarkRefusal, mark_digest
from cutter.marking.rows import Row, rows_of
from cutter.marking.spans import Block, lay_out
from cutter.marking.title_merger import merge_titles


def mark(data: bytes, *, profile: Profile, docprefix: str, options: Options) -> Marking | MarkRefusal:
    """Split a law into units, or say in one sentence why not. A red finding that nobody accepted is a refusal.

    `data` is the pinned snapshot, `docprefix` the first segment of every address. Raises InvalidInput only for a wrong
    docprefix or option. A fault of the text is a MarkRefusal.
    """
    cut = _cut(data, profile, docprefix, options)
    if isinstance(cut, MarkRefusal):
        return cut
    if cut.refused is not None:
        return refuse_unaccepted(cut.marking, only=CAUSES) or cut.refused
    return refuse_unaccepted(cut.marking) or cut.marking


def mark_registered(data: bytes, *, profile: Profile, docprefix: str, options: Options) -> Marking | MarkRefusal:
    """Mark a registered version. The empty text of a repeal has no unit; PostgreSQL registers no other empty text."""
    if data:
        return mark(data, profile=profile, docprefix=docprefix, options=options)
    return Marking(
        region_sha=sha256_hex(b""), region_start=0, region_end=0, profile_id=profile.id, profile_sha256=profile.sha256,
        candidates=(), exclusions=(), non_content=(), findings=(), mark_digest=mark_digest((), ()),
    )  # fmt: skip


def examine(data: bytes, *, profile: Profile, docprefix: str, options: Options) -> Marking | MarkRefusal:
    """Mark like `mark`, but show a cut with unaccepted red findings instead of refusing it. No gate uses this."""
    cut = _cut(data, profile, docprefix, options)
    if isinstance(cut, MarkRefusal):
        return cut
    return cut.refused or cut.marking


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A proven partition, and the refusal of the repeats or empty headings in it."""

    marking: Marking
    refused: MarkRefusal | None


def _cut(data: bytes, profile: Profile, docprefix: str, options: Options) -> _Cut | MarkRefusal:
    prefix = checked_docprefix(docprefix)
    if options.deepest is not None and options.deepest not in profile.level_names():
        raise InvalidInput(f"deepest {options.deepest!r}: profile {profile.id} has {', '.join(profile.level_names())}")
    if options.scope == "enacted_only" and profile.status is None:
        raise InvalidInput(f"scope enacted_only: profile {profile.id} knows no status markers")
    options = replace(
        options,
        duplicates=options.duplicates or profile.duplicates,
        empty=options.empty or profile.empty,
        nesting=options.nesting or profile.nesting,
    )
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
    units = [row.heading for row in headings.rows if row.kind == "unit"]
    counted = checks.wrong_count(units, lines, profile, options)
    if counted is not None:
        return counted
    assert options.nesting is not None
    shape = shape_of(units, lines, profile)
    nodes = build_tree(units, shape, options.nesting, prefix)
    pieces = lay_out(lines, headings.rows, nodes, headings.blocks, profile)
    structure = Structure(
        nodes=nodes, shape=shape, pieces=pieces, lines=lines, left_out=headings.left_out,
        skipped=tuple((block.begin, block.end) for block in headings.blocks), noticed=headings.findings,
    )  # fmt: skip
    childless = checks.childless_nodes(nodes, pieces, lines)
    findings = (
        *headings.findings,
        *checks.findings(data, nodes, childless, lines),
        *structure_findings(structure, profile, options.nesting),
    )
    marking = Marking(
        region_sha=sha256_hex(data[lines.start : lines.end]), region_start=lines.start, region_end=lines.end,
        profile_id=profile.id, profile_sha256=profile.sha256, candidates=pieces.candidates,
        exclusions=pieces.exclusions, non_content=pieces.non_content, findings=in_order(findings, prefix),
        mark_digest=mark_digest(pieces.candidates, pieces.exclusions), accepted=tuple(options.acceptances.items()),
    )  # fmt: skip
    marking.prove(data)
    return _Cut(marking=marking, refused=checks.refuse_first(nodes, childless, lines, options))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Headings:
    """Rows and group headers in order, blocks that are excluded as a whole, and the findings so far."""

    rows: tuple[Row, ...]
    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...]
    left_out: frozenset[int]
    """Lines that the profile reads as headings but that are not units, by an option or because of a finding."""


def _headings(lines: Lines, profile: Profile, options: Options) -> _Headings | MarkRefusal:
    headings, noticed = find_headings(lines, profile)
    every = headings
    contents = contents_block(lines, headings, profile)
    if isinstance(contents, MarkRefusal):
        return contents
    blocks = []
    if lines.front_matter:
        blocks.append(Block(begin=0, end=lines.front_matter, reason="front_matter"))
    if contents is not None:
        begin, end = contents
        blocks.append(Block(begin=begin, end=end, reason="table_of_contents"))
        headings = [heading for heading in headings if not begin <= heading.index < end]
    wanted = down_to(headings, profile, options)
    settled, breaks = settle(wanted, lines, profile)
    hidden = checks.bidi_heading(settled, lines)
    merged = merge_titles(settled, lines, profile)
    hidden = hidden or checks.bidi_heading(merged, lines)
    if hidden is not None:
        return hidden
    rows, conflicts = rows_of(merged, lines, profile, options)
    units = {row.heading.index for row in rows if row.kind == "unit"}
    return _Headings(
        rows=rows,
        blocks=tuple(blocks),
        findings=(*lines.findings, *noticed, *breaks, *conflicts),
        left_out=frozenset(
            {finding.line - lines.first_line for finding in breaks}
            | {heading.index for heading in every if heading.index not in units}
        ),
    )


def down_to(headings: list[Heading], profile: Profile, options: Options) -> list[Heading]:
    """Drop the levels below the finest level that becomes a unit. Their text stays in the units above."""
    deepest = options.deepest or profile.deepest
    if deepest is None:
        return headings
    names = profile.level_names()
    wanted = set(names[: names.index(deepest) + 1])
    return [heading for heading in headings if heading.level is None or heading.level.name in wanted]
