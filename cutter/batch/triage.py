"""Pure: the facts that a person needs to decide about a failed document of a batch, with every field of seed 001 §10.

An entry of the error queue and the document about a quarantined run have the same sections.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cutter.batch.disposition import Recommendation
from cutter.catalogue import REHEARSED
from cutter.domain.markdown import fenced, prose
from cutter.domain.next_step import Step
from cutter.domain.run_state import RunState
from cutter.domain.visible import json_visible, visible_line
from cutter.marking import preview
from cutter.types import Json

SIDECAR_LINES = 50
"""The number of lines of a run's state.json that the triage shows (seed 001 §10)."""

_REHEARSED = tuple(f"failed_{gate.phase}" for gate in REHEARSED)
"""Gates whose failure a rehearsal of the same text reproduces, because a rehearsal runs these gates and writes nothing.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The terms by which a text was registered: its shipped profile, its prefix, its options, and forbidden ids."""

    profile: str
    docprefix: str
    options: Mapping[str, object]
    forbidden: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """A failed or stopped run. `error` is its last_error, `sidecar` its state.json as text."""

    run_id: str
    document_id: str
    state: str
    gate: str
    code: str
    error: Json
    sidecar: str
    advice: Recommendation
    reproduction: str
    remedy: Step


def sections(case: Triage) -> str:
    """The fields as Markdown that a program can parse: `name: value`, with commands and JSON in code blocks."""
    first = [f"First: {case.remedy.first}. Then:", ""] if case.remedy.first else []
    report = case.error.get("report") or {}
    drift = report if RunState(case.state).drifted else None
    lines = [
        f"run_id: {case.run_id or 'none'}  ",
        f"document_id: {case.document_id}  ",
        f"state_at_failure: {case.state}  ",
        f"failed_gate: {prose(case.gate or 'none')}  ",
        f"code: {prose(case.code)}  ",
        f"recommended_disposition: {case.advice.disposition.value} ({prose(case.advice.why)})",
        "",
        *("## reproduction_command", "", *fenced([case.reproduction])),
        *("## remedy", "", *first, *fenced(case.remedy.commands)),
        *("## invariant_diff", "", *fenced(invariant_diff(case.error), "diff")),
        *("## drift_evidence", "", *_json(json.dumps(drift, indent=2, sort_keys=True, ensure_ascii=True))),
        *("## sidecar_snapshot_truncated", "", *_json(case.sidecar)),
    ]
    return "\n".join(lines)


def invariant_diff(error: Mapping[str, Any]) -> Iterator[str]:
    """Each violated invariant as a hunk of a diff: the expected line is removed and the observed line is added.

    If no invariant was violated, the reason of the failure appears as the observed line.
    """
    yield "--- expected"
    yield "+++ observed"
    report = error.get("report") or {}
    invariants = report.get("invariants") if isinstance(report, Mapping) else None
    violated = [
        invariant for invariant in invariants or () if isinstance(invariant, Mapping) and not invariant.get("ok")
    ]
    for invariant in violated:
        yield f"@@ {_line(invariant.get('name'))} @@"
        yield f"-{_line(invariant.get('expected'))}"
        yield f"+{_line(invariant.get('observed'))}"
    if not violated:
        yield f"@@ {_line(error.get('gate') or error.get('outcome') or 'reason')} @@"
        yield f"+{_line(error.get('reason') or 'nothing was recorded')}"


def reproduction(*, run_id: str, document_id: str, state: str, source: Source | None) -> str:
    """The command that reproduces the failure without writing anything.

    `source` is None for a profile that is not shipped. Then the command is a rehearsal, which reads the profile from
    the database.
    """
    if state == "failed_mark" and source is not None:
        return preview(source.profile, source.options, source.forbidden, docprefix=source.docprefix)
    if state in _REHEARSED:
        return f"cutter run {document_id} --mode dryrun"
    return f"cutter report {run_id}" if run_id else f"cutter status {document_id}"


def _line(value: object) -> str:
    """A value on one line."""
    return visible_line(" ".join(str(value).split()))


def _json(text: str) -> Iterator[str]:
    """A JSON text in a code block. Canonical JSON escapes hidden characters, and its strings have no line feeds."""
    yield from fenced(json_visible(text).split("\n")[:SIDECAR_LINES], "json")
