"""Pure: `mark`, which splits a pinned text into units (spec 01 "mark").

There is one sequence of steps: bytes → lines → headings → the tree → spans. It ends with a `Marking` whose partition is
proven, or with a refusal that names the line and the remedy.
"""

from __future__ import annotations

from dataclasses import replace

from cutter.domain.digests import sha256_hex
from cutter.domain.ids import docprefix as checked_docprefix
from cutter.errors import InvalidInput
from cutter.marking import checks
from cutter.marking.assessment import CAUSES, in_order, refuse_unaccepted, structure_findings
from cutter.marking.headings import read_headings
from cutter.marking.hierarchy import build_tree, shape_of
from cutter.marking.lines import read_lines, region
from cutter.marking.options import Options
from cutter.marking.profile import Profile
from cutter.marking.result import Marking, MarkRefusal, mark_digest
from cutter.marking.spans import lay_out


def mark(data: bytes, *, profile: Profile, docprefix: str, options: Options) -> Marking | MarkRefusal:
    """Split a law into units, or say in one sentence why not. A red finding that nobody accepted is a refusal.

    `docprefix` is the first segment of every address. Raises InvalidInput only for a wrong docprefix or option.
    """
    cut = _cut(data, profile, docprefix, options)
    if isinstance(cut, MarkRefusal):
        return cut
    marking, refused = cut
    if refused is not None:
        return refuse_unaccepted(marking, only=CAUSES) or refused
    return refuse_unaccepted(marking) or marking


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
    return cut if isinstance(cut, MarkRefusal) else cut[1] or cut[0]


def _cut(
    data: bytes, profile: Profile, docprefix: str, options: Options
) -> tuple[Marking, MarkRefusal | None] | MarkRefusal:
    """A proven partition, and the refusal of the repeats or empty headings in it."""
    prefix = checked_docprefix(docprefix)
    if options.deepest is not None and options.deepest not in profile.level_names():
        raise InvalidInput(f"deepest {options.deepest!r}: profile {profile.id} has {', '.join(profile.level_names())}")
    if options.scope == "enacted_only" and profile.status is None:
        raise InvalidInput(f"scope enacted_only: profile {profile.id} knows no status markers")
    nesting = options.nesting or profile.nesting
    options = replace(
        options, duplicates=options.duplicates or profile.duplicates, empty=options.empty or profile.empty
    )
    unreadable = checks.unreadable(data)
    if unreadable is not None:
        return unreadable
    span = region(data, profile)
    if isinstance(span, MarkRefusal):
        return span
    lines = read_lines(data, *span)
    headings = read_headings(lines, profile, options)
    units = [row.heading for row in headings.rows if row.kind == "unit"]
    refused = headings.refused or checks.wrong_count(units, lines, profile, options)
    if refused is not None:
        return refused
    shape = shape_of(units, lines, profile)
    nodes = build_tree(units, shape, nesting, prefix)
    pieces = lay_out(lines, headings, nodes, profile)
    childless = checks.childless_nodes(nodes, pieces)
    findings = (
        *headings.findings,
        *checks.findings(data, nodes, childless, lines),
        *structure_findings(nodes, shape, pieces, headings, profile, nesting),
    )
    candidates, exclusions = tuple(pieces.candidates), tuple(pieces.exclusions)
    marking = Marking(
        region_sha=sha256_hex(data[lines.start : lines.end]), region_start=lines.start, region_end=lines.end,
        profile_id=profile.id, profile_sha256=profile.sha256, candidates=candidates, exclusions=exclusions,
        non_content=tuple(pieces.non_content), findings=in_order(findings, prefix),
        mark_digest=mark_digest(candidates, exclusions), accepted=tuple(dict(options.accept).items()),
    )  # fmt: skip
    marking.prove(data)
    return marking, checks.refuse_first(nodes, childless, lines, options)
