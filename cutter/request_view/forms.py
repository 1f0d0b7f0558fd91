"""Pure: the forms of a request's view: its JSON, the digest that every form names, and its Markdown.

The Markdown is the part of a request document about the law: findings, units, acceptances, written and verified rows.
This module escapes every text of a law or a person. Such a text can make no heading, link or tag, and can hide no other
text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from cutter import limits
from cutter.approvals.request import RequestDocument
from cutter.domain.amounts import counted
from cutter.domain.digests import canonical_digest
from cutter.domain.markdown import cell, code, escape
from cutter.domain.timestamps import render_instant
from cutter.marking.revision import RevisionPlan
from cutter.request_view.view import OF_ROWS, LeftOut, RequestView, ShownUnit, fitting
from cutter.types import Json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA: Final = "cutter-request-view/1"


def view_record(view: RequestView) -> Json:
    """The whole view without the source text. `snapshot_sha256` represents the source text."""
    # Each unit that the text changes in the law in force, with its words as pairs of kind and text.
    changes = [
        {**flat(change), "words": [[piece.kind, piece.text] for piece in change.words]} for change in view.difference
    ]
    return {
        "schema": SCHEMA,
        **({"title": view.title, "difference": changes} if view.revision else {}),
        "docprefix": view.docprefix,
        "source_version_id": view.source_version_id,
        "profile_id": view.profile_id,
        "digests": asdict(view.digests),
        "findings": [flat(finding) for finding in view.findings],
        "accepted": [asdict(item) for item in view.accepted],
        "units": [_piece(unit) for unit in view.units],
        "left_out": [_piece(piece) for piece in view.left_out],
        "sealed": [asdict(gate) for gate in view.sealed],
        # A first cut without a date has the record that it always had.
        **({"effective_from": view.effective_from} if view.effective_from else {}),
        **({"reason": view.reason} if view.reason else {}),
        **({"removed_pages": view.removed_pages} if view.removed_pages else {}),
        **({"revision": _revision(view.revision)} if view.revision else {}),
    }


def view_digest(view: RequestView) -> str:
    return canonical_digest(view_record(view))


def request_record(document: RequestDocument, view: RequestView) -> Json:
    """The JSON form of a request: the question, the whole view, and the source text."""
    return {
        "view_digest": view_digest(view),
        "view": view_record(view),
        "request": {**asdict(document.request), "challenge": document.request.challenge},
        "mode": document.mode,
        "expires_utc": render_instant(document.expires_utc),
        "effect_policy": document.effect_policy,
        "request_kb_id": document.kb_id,
        "changes": asdict(document.changes),
        "newer_version": view.newer,
        "source": {"sha256": view.digests.snapshot_sha256, "text": view.data.decode("utf-8")},
    }


def _revision(plan: RevisionPlan) -> Json:
    return {
        "operation_kind": plan.base.operation_kind,
        "base_source_version_id": plan.base.source_version_id,
        "base_receipt_hash": plan.base.receipt_hash,
        "counts": plan.counts,
        "rows": [
            {
                "address": row.address,
                "operation": row.operation,
                "continues": row.continues,
                "body_sha256": row.new and row.new.body_sha256,
                "ended": row.old and {name: value for name, value in flat(row.old).items() if name != "body"},
            }
            for row in plan.rows
        ],
    }


def _piece(piece: ShownUnit | LeftOut) -> Json:
    stored = {"stored": piece.stored and flat(piece.stored)} if isinstance(piece, ShownUnit) else {}
    return {**flat(piece), **stored, "bytes": piece.size}


def flat(value: DataclassInstance) -> Json:
    """The fields of a record that holds only plain values. `asdict` copies each of them, and a law has many."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


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
    "repeal": "**The whole law ends.** No unit stays in force.",
}

_MARKS = {"removed": "~~", "added": "**", "same": ""}


def changes(view: RequestView) -> Iterator[str]:
    """What the text changes in the law in force, by word, from which day, and why; nothing for a plain first cut."""
    terms = [
        *(
            [f"- {'Ends' if view.repeals else 'Takes effect'} on **{view.effective_from}**."]
            if view.effective_from
            else []
        ),
        *([f"- Reason: {escape(view.reason)}"] if view.reason else []),
    ]
    plan = view.revision
    if plan is None and not terms:
        return
    yield "## The text that ends" if view.repeals else "## What changes in the law"
    yield ""
    if view.title:
        yield f"- The law: **{escape(view.title)}**."
    if plan is not None:
        yield f"- {_KINDS[plan.base.operation_kind]}"
    yield from terms
    if plan is not None:
        yield "- " + ", ".join(f"{count} {OF_ROWS[name]}" for name, count in plan.counts.items()) + "."
        yield f"- The law in force is source version {code(plan.base.source_version_id)}, enacted by the receipt"
        yield f"  {code(plan.base.receipt_hash)}."
    yield ""
    yield from _by_word(view, plan.counts["keep"]) if plan else ()


def _by_word(view: RequestView, kept: int) -> Iterator[str]:
    """Each unit that is not kept, with its words. The kept units are one line."""
    yield "Removed words are ~~struck through~~, and added words are **bold**."
    yield ""
    shown, rest = fitting(view.difference, limits.REQUEST_DIFFERENCE_CHARACTERS_MAX)
    for change in shown:
        yield f"### {change.change.capitalize()}: {escape(change.title)}"
        yield ""
        yield f"{code(change.address)}{f', before {code(change.before)}' if change.before else ''}"
        if change.other_fields:
            yield f"({', '.join(map(code, change.other_fields))} differ)"
        yield ""
        # a quotation, in which each line of the texts is a line of its own
        if [piece.kind for piece in change.words] == ["same"]:
            yield "> The same text."
        else:
            text = "".join(
                "\n".join(_marked(part, _MARKS[piece.kind]) for part in piece.text.split("\n"))
                for piece in change.words
            )
            yield from (f"> {line.strip()}".rstrip() for line in text.strip("\n").split("\n"))
        yield ""
    if rest:
        of_all = counted(len(view.difference), "changed unit")
        yield f"{rest} of {of_all} not shown whole: `cutter request` shows them all."
        yield ""
    if kept:
        yield f"{counted(kept, 'unit')} kept, without a change."
        yield ""


def _marked(text: str, mark: str) -> str:
    """A part of a line. White space stays outside the marks, because Markdown knows no mark next to it."""
    core = text.strip()
    if not core:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{mark}{escape(core)}{mark}{' ' if text[-1].isspace() else ''}"


def findings(view: RequestView) -> Iterator[str]:
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
        if not group:
            continue
        most = len(group) if severity == "red" else limits.FINDINGS_IN_REQUEST_MAX
        yield f"### {severity.capitalize()}"
        yield ""
        for finding in group[:most]:
            because = f" {escape(view.accepted_when)}: {escape(finding.because)}" if finding.because is not None else ""
            yield f"- Line {finding.line}, {code(finding.name)}: {escape(finding.message)}{because}"
        if len(group) > most:
            yield f"- and {len(group) - most} more; `cutter request` shows them all"
        yield ""


def units(view: RequestView) -> Iterator[str]:
    """The tree of units with their numbers, titles, places and sizes. The units that a revision keeps are one line."""
    size = sum(unit.size for unit in view.units)
    words = sum(unit.words for unit in view.units)
    yield "## Units"
    yield ""
    yield f"{counted(len(view.units), 'unit')}, {number(size)} bytes, {number(words)} words."
    yield ""
    room = limits.REQUEST_TREE_BYTES_MAX
    operations = view.revision.operations if view.revision else {}
    changed = [unit for unit in view.units if operations.get(unit.address) != "keep"]
    for place, unit in enumerate(changed):
        facts = [
            f"{'  ' * (unit.level - 1)}- **{escape(unit.title)}**",
            *([f"number {code(unit.number)}"] if unit.number else []),
            code(unit.address),
            unit.section_type,
            line_span(unit.first_line, unit.last_line),
            f"{number(unit.size)} bytes",
            counted(unit.words, "word"),
            *([counted(len(unit.findings), "finding")] if unit.findings else []),
        ]
        line = " · ".join(facts) + (f": {escape(unit.excerpt)}" if unit.excerpt else "")
        room -= len(line.encode()) + 1
        if room < 0:
            yield f"- and {len(changed) - place} more; `cutter request` shows them all"
            break
        yield line
    if len(changed) < len(view.units):
        yield f"- and {counted(len(view.units) - len(changed), 'kept unit')}; `cutter request` shows them all"
    yield ""


def _left_out(view: RequestView) -> Iterator[str]:
    pieces = [piece for piece in view.left_out if piece.reason not in UNREAD]
    if not pieces and not view.removed_pages:
        return
    yield "## Text that becomes no unit"
    yield ""
    if view.removed_pages:
        yield f"- Removed before the registration as parts of pages: {escape(view.removed_pages)}"
    for piece in pieces[: limits.FINDINGS_IN_REQUEST_MAX]:
        where = line_span(piece.first_line, piece.last_line)
        yield f"- {where[0].upper()}{where[1:]}: {code(piece.reason)}, {number(piece.size)} bytes"
    if len(pieces) > limits.FINDINGS_IN_REQUEST_MAX:
        yield f"- and {len(pieces) - limits.FINDINGS_IN_REQUEST_MAX} more; `cutter request` shows them all"
    yield ""


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
