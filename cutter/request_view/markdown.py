"""Pure: the part of a request document about the law: findings, units, acceptances, written and verified rows.

This module escapes every text of a law or a person. Such a text can make no heading, link or tag, and can hide no other
text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cutter import limits
from cutter.domain.amounts import counted
from cutter.domain.markdown import cell, code, escape
from cutter.marking.revision import RevisionPlan
from cutter.request_view.view import OF_ROWS, LeftOut, RequestView, ShownFinding, ShownUnit

UNREAD = frozenset({"blank", "byte_order_mark"})
"""Reasons of the left-out pieces that hold nothing to read."""


def markdown(view: RequestView) -> str:
    """The sections from the changes to the written and verified rows. Each section ends with an empty line."""
    parts = (changes, findings, units, _left_out, accepted, _sealed)
    return "".join(f"{line}\n" for part in parts for line in part(view))


def line_span(first: int, last: int) -> str:
    """`line 4` or `lines 4 to 9`."""
    return f"line {first}" if first == last else f"lines {first} to {last}"


def number(value: int) -> str:
    """A number with commas between its thousands."""
    return f"{value:,}"


_KINDS = {
    "revision": "A new text of the law in force.",
    "correction": "A correction of the law in force: it holds from the same day.",
    "repeal": "The repeal of the whole law: every unit ends.",
}


def changes(view: RequestView) -> Iterator[str]:
    """What the text changes in the law in force, from which day, and why; nothing for a plain first cut."""
    terms = [
        *([f"- Takes effect on {view.effective_from}."] if view.effective_from else []),
        *([f"- Reason: {escape(view.reason)}"] if view.reason else []),
    ]
    plan = view.revision
    if plan is None and not terms:
        return
    yield "## What changes in the law"
    yield ""
    if plan is not None:
        yield f"- {_KINDS[plan.base.operation_kind]}"
        yield f"- The law in force is source version {code(plan.base.source_version_id)}, enacted by the receipt"
        yield f"  {code(plan.base.receipt_hash)}."
        yield "- " + ", ".join(f"{count} {OF_ROWS[name]}" for name, count in plan.counts.items()) + "."
    yield from terms
    yield ""
    yield from _revised(plan) if plan else ()


def _revised(plan: RevisionPlan) -> Iterator[str]:
    """Every row that is not kept, moves as moves."""
    moved = dict(plan.moves)
    by_operation: dict[str, list[str]] = {"Moved": [], "Revised": [], "Created": [], "Repealed": []}
    for row in plan.rows:
        shown = row.new or row.old
        title = f" {escape(shown.title)}" if shown else ""
        if row.continues is not None:
            by_operation["Moved"].append(f"- {code(row.continues)} becomes {code(row.address)}{title}")
        elif row.operation == "revise":
            by_operation["Revised"].append(f"- {code(row.address)}{title}")
        elif row.operation == "create":
            by_operation["Created"].append(f"- {code(row.address)}{title}")
        elif row.operation == "repeal" and row.address not in moved:
            by_operation["Repealed"].append(f"- {code(row.address)}{title}")
    for name, lines in by_operation.items():
        if lines:
            yield from (f"### {name}", "", *lines, "")


def findings(view: RequestView) -> Iterator[str]:
    """The number of findings of each severity, then each finding."""
    yield "## Findings"
    yield ""
    if not view.findings:
        yield "None."
        yield ""
        return
    for severity, words in (("red", "probably cut wrong"), ("amber", "worth a look"), ("info", "notes")):
        group = [finding for finding in view.findings if finding.severity == severity]
        yield f"- {len(group)} {severity}: {words}"
    yield ""
    for severity in ("red", "amber", "info"):
        group = [finding for finding in view.findings if finding.severity == severity]
        most = len(group) if severity == "red" else limits.FINDINGS_IN_REQUEST_MAX
        yield from _finding_list(severity, group, most, view.accepted_when)


def _finding_list(severity: str, group: Sequence[ShownFinding], most: int, when: str) -> Iterator[str]:
    if not group:
        return
    yield f"### {severity.capitalize()}"
    yield ""
    for finding in group[:most]:
        accepted = f" {escape(when)}: {escape(finding.because)}" if finding.because is not None else ""
        yield f"- Line {finding.line}, {code(finding.name)}: {escape(finding.message)}{accepted}"
    if len(group) > most:
        yield f"- and {len(group) - most} more; `cutter request` shows them all"
    yield ""


def units(view: RequestView) -> Iterator[str]:
    """The tree of units with their numbers, titles, places and sizes. A unit that a revision keeps has a short line."""
    size = sum(unit.size for unit in view.units)
    words = sum(unit.words for unit in view.units)
    yield "## Units"
    yield ""
    yield f"{counted(len(view.units), 'unit')}, {number(size)} bytes, {number(words)} words."
    yield ""
    room = limits.REQUEST_TREE_BYTES_MAX
    operations = view.revision.operations if view.revision else {}
    for place, unit in enumerate(view.units):
        line = _kept(unit) if operations.get(unit.address) == "keep" else _unit(unit)
        room -= len(line.encode()) + 1
        if room < 0:
            yield f"- and {len(view.units) - place} more; `cutter request` shows them all"
            break
        yield line
    yield ""


def _kept(unit: ShownUnit) -> str:
    facts = [_head(unit), code(unit.address), "kept", *_noticed(unit)]
    return " · ".join(facts)


def _unit(unit: ShownUnit) -> str:
    facts = [
        _head(unit),
        *([f"number {code(unit.number)}"] if unit.number else []),
        code(unit.address),
        unit.section_type,
        line_span(unit.first_line, unit.last_line),
        f"{number(unit.size)} bytes",
        counted(unit.words, "word"),
        *_noticed(unit),
    ]
    return " · ".join(facts) + (f": {escape(unit.excerpt)}" if unit.excerpt else "")


def _head(unit: ShownUnit) -> str:
    return f"{'  ' * (unit.level - 1)}- **{escape(unit.title)}**"


def _noticed(unit: ShownUnit) -> list[str]:
    return [counted(len(unit.findings), "finding")] if unit.findings else []


def _left_out(view: RequestView) -> Iterator[str]:
    pieces = [piece for piece in view.left_out if piece.reason not in UNREAD]
    if not pieces:
        return
    yield "## Text that becomes no unit"
    yield ""
    for piece in pieces[: limits.FINDINGS_IN_REQUEST_MAX]:
        yield f"- {_place(piece)}"
    if len(pieces) > limits.FINDINGS_IN_REQUEST_MAX:
        yield f"- and {len(pieces) - limits.FINDINGS_IN_REQUEST_MAX} more; `cutter request` shows them all"
    yield ""


def _place(piece: LeftOut) -> str:
    where = line_span(piece.first_line, piece.last_line)
    return f"{where[0].upper()}{where[1:]}: {code(piece.reason)}, {number(piece.size)} bytes"


def accepted(view: RequestView) -> Iterator[str]:
    """The findings that a person accepted by name, each with the reason."""
    yield "## Accepted findings"
    yield ""
    if view.accepted:
        yield f"{escape(view.accepted_when)}:"
        yield ""
    yield from (f"- {code(item.name)}: {escape(item.because)}" for item in view.accepted)
    if not view.accepted:
        yield "None."
    yield ""


def _sealed(view: RequestView) -> Iterator[str]:
    if not view.sealed:
        return
    stored = sum(unit.stored is not None for unit in view.units)
    other = len(view.stored_differences)
    same = f"different for {counted(other, 'unit')}" if other else "those of the list above"
    yield "## Written and verified"
    yield ""
    yield f"PostgreSQL holds {stored} of these {counted(len(view.units), 'unit')} as drafts. Their titles, parents and"
    yield f"bodies are {same}."
    yield ""
    yield "| gate | check | observed | expected |"
    yield "|---|---|---|---|"
    for gate in view.sealed:
        for check in gate.checks:
            passed = "" if check.ok else " (failed)"
            row = (f"{gate.gate}{passed}", check.name, check.observed, check.expected)
            yield f"| {' | '.join(cell(text) for text in row)} |"
    yield ""
    yield from (f"- receipt of {code(gate.gate)}: {code(gate.receipt_hash)}" for gate in view.sealed)
    yield ""
