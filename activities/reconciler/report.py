"""Pure: the parts of a reconciliation's result: examined runs, batches without a workflow, documents."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The action that the reconciler took for a run."""

    MARKED = "marked"
    WITHOUT_WORKFLOW = "without_workflow"
    TOLD = "told"
    DIFFERS = "differs"
    HELD = "held"
    LEFT_ALONE = "left_alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedRun:
    """A run after the examination: its state, and `next`, the command that continues it."""

    run_id: str
    document_id: str
    state: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedRun(ExaminedRun):
    """A run that was stopped because no workflow drives it. `was` is its state before. `report` names a document."""

    was: str
    report: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRun(ExaminedRun):
    """A run whose workflow got a message about a stop, or did not get it. `stop` is the kind, and `note` says more."""

    stop: str | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingRun(ExaminedRun):
    """A run of which Temporal shows a state that PostgreSQL has not recorded."""

    temporal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRun(ExaminedRun):
    """A run that cannot continue, because somebody paused it in Temporal. `next` takes this back."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LostBatch:
    """A batch that has something left to do, and had no open workflow or a paused one. `next` is the command that
    continues it, or that shows how it continues.
    """

    batch_id: str
    state: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutOfRun:
    run_id: str
    kb_id: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutOfBatch:
    batch_id: str
    kb_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWaits:
    """A run whose documents still wait, with the code and the reason."""

    run_id: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWaits:
    """A batch with a document that still waits, with the code and the reason."""

    batch_id: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """The documents that were put, and those that still wait. Documents about batches come first."""

    put: tuple[PutOfRun | PutOfBatch, ...] = ()
    waiting: tuple[RunWaits | BatchWaits, ...] = ()
