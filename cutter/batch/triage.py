"""Pure: the facts that a person needs to decide about a failed document of a batch, with every field of seed 001 §10.

An entry of the error queue and the document about a quarantined run have the same sections. The recommended
disposition says which decision the command of `cutter.domain.next_step` serves, and why.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutter.catalogue import REHEARSED
from cutter.domain.markdown import fenced, prose
from cutter.domain.next_step import Step, StepFacts
from cutter.domain.run_state import RunState
from cutter.domain.visible import json_visible, visible_line
from cutter.errors import ProgrammingError
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
    """Each violated invariant as a hunk of a diff, from expected to observed. Without one, the reason is observed."""
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
    """The command that reproduces the failure and writes nothing: a rehearsal for a profile that is not shipped
    (`source` None).
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


class Disposition(StrEnum):
    """The seed's three dispositions, and `resume` for a run that was only interrupted."""

    AMEND = "amend"
    VOID = "void"
    OPEN_FIX_MACRO = "open-fix-macro"
    RESUME = "resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """A disposition, and one sentence that explains it in the triage."""

    disposition: Disposition
    why: str


SAME_TWICE = frozenset(
    {
        "snapshot_matches_pin", "region_sha_rebuilt", "partition_proven", "mark_reproduced", "region_sha_reproduced",
        "writer_digest_stable", "exactly_n_rows", "idempotency_keys_distinct",
    }
)  # fmt: skip
"""Invariants of gates 2 and 3 that only a fault of the program can violate, so that a new version of the text does not
help.
"""

OVER_WRITES = "within_max_writes_per_run"
"""The invariant of a text that has more units than its tenant may write in one run."""

_OF_THE_TEXT = ("failed_source_pin", "failed_mark", "failed_cutplan")
_OF_THE_DEPLOYMENT = ("failed_backup", "failed_grant_probe")
_DRIFT_OF_DEFINITIONS = tuple(f"stopped_drift_{name}" for name in ("functions", "triggers", "tables", "grants"))


def disposition(run: StepFacts, code: str = "") -> Recommendation:
    """Recommend a disposition. Raises ProgrammingError for a state that is neither failed nor stopped."""
    state = run.state
    if RunState(state).stopped:
        if state.startswith(_DRIFT_OF_DEFINITIONS):
            return _fix("the database's definitions differ from the migrated ones: find out who changed them")
        if state == "stopped_drift_source":
            return _amend("the source changed under the run: run its newest version")
        if RunState(state).drifted:
            return _void("rows of this document were changed from outside the run")
        if RunState(state).broken:
            return _fix("a gate ended in an unexpected error")
        if state == "stopped_cancel":
            return _void("a person cancelled it after it had written")
        return Recommendation(
            disposition=Disposition.RESUME, why="the run was only interrupted; its work so far is valid"
        )
    if not RunState(state).failed:
        raise ProgrammingError(f"{state} is neither failed nor stopped")
    if run.enacted or state == "failed_closeout":
        return _fix("the law is enacted and cannot be voided: only its closeout is missing")
    if run.wrote:
        return _void("the run has written drafts: withdraw them before you cut the law again")
    if code == OVER_WRITES:
        return _amend(
            "its tenant may not write so many units in a run: raise max_writes_per_run, or cut the law in parts"
        )
    if state in _OF_THE_TEXT and code not in SAME_TWICE:
        return _amend("the text or its profile must be corrected: register a corrected version and run it")
    if state in _OF_THE_TEXT:
        return _fix(f"{code} holds for every text: the program is wrong, not the law")
    if state in _OF_THE_DEPLOYMENT:
        return _fix("the deployment differs from its declaration: no document would pass here")
    if state == "failed_rejected":
        return _amend("an approver refused this write: correct what the approver objected to")
    if state == "failed_policy":
        return _void("the policy does not allow this run")
    return _fix("the gate refused, and nothing of it was written: read the reason before you try again")


def _amend(why: str) -> Recommendation:
    return Recommendation(disposition=Disposition.AMEND, why=why)


def _void(why: str) -> Recommendation:
    return Recommendation(disposition=Disposition.VOID, why=why)


def _fix(why: str) -> Recommendation:
    return Recommendation(disposition=Disposition.OPEN_FIX_MACRO, why=why)
