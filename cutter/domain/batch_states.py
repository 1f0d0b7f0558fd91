"""Pure: the words of seeds 001 and 004 for the states of a batch and of a workstream."""

from __future__ import annotations

from enum import StrEnum


class BatchState(StrEnum):
    """The nine states, verbatim (seed 001 §3)."""

    PENDING = "batch_pending"
    PLANNING = "batch_planning"
    AWAITING_CUT = "batch_awaiting_cut_authz_set"
    WRITING = "batch_writing"
    AWAITING_LIFECYCLE = "batch_awaiting_lifecycle_authz_set"
    ENACTING = "batch_enacting"
    CLOSEOUT = "batch_closeout"
    FAILED_PARTIAL = "batch_failed_partial"
    VOIDED = "batch_voided"


class WorkstreamState(StrEnum):
    """The seven states of a workstream (seed 004)."""

    PLANNED = "planned"
    READY = "ready"
    EXECUTING = "executing"
    VALIDATING = "validating"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
