"""Pure: recommends what to do about a run that failed or stopped (seed 001 §10 "recommended_disposition").

The command itself comes from `cutter.domain.next_step`. This module says which decision the command serves, and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cutter.domain.next_step import StepFacts
from cutter.domain.run_state import RunState
from cutter.errors import ProgrammingError


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
    """Recommend a disposition for a run and its reason code. Raises ProgrammingError for a state that is neither failed
    nor stopped.
    """
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
