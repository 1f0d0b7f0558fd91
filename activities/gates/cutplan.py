"""IO: IG_cutplan: builds the rows twice. The second time it reads the stored text on a fresh connection and builds in
reverse order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from activities.gates.pinned_source import (
    mark_pinned,
    pinned_in,
    pinned_read,
    plan_pinned,
    require_pinned,
    revision_pinned,
)
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME, Role
from cutter.errors import ProgrammingError
from cutter.gates import cutplan as gate
from cutter.marking import Marking, MarkRefusal, rebuild_digest_reversed, rebuild_lines_reversed
from cutter.marking.plan import CutPlan
from cutter.marking.revision import Base, RevisionPlan, UnitInForce, rebuild_revision_digest
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Attempt, OpenGate, Read
from cutter.storage.law_texts import LAW
from cutter.storage.pools import session
from cutter.storage.records import Rows, records, together, values
from cutter.types import Json


@dataclass(frozen=True, slots=True)
class Word:
    family: str
    code: str


@dataclass(frozen=True, slots=True)
class Planned:
    """An open run under the same prefix and the digest of its plan."""

    run_id: str
    writer_digest: str | None


VOCABULARY = records("vocabulary", Word)
SAME_DIGEST = records("runs_with_same_digest", Planned)
MAX_WRITES: Rows[int | None] = values("max_writes")


def cutplan(deps: Deps, input: GateInput) -> GateOutcome:
    """Plan the rows and pin their digests."""

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        pins = opened.attempt.pins
        marking, plan = plan_of(deps, opened)
        revision = revision_of(opened, plan)
        # The snapshot and the law in force are read once more, on a connection of their own.
        with session(deps.settings, Role.READ) as fresh:
            snapshots, units = together(fresh, [pinned_read(opened.attempt), law_read(opened.attempt)])
        again = require_pinned(next(iter(snapshots), None), pins["source_version_id"])
        law = base_of(pins, units)
        remarked = mark_pinned(again, pins["docprefix"], deps.settings.max_candidates, fresh=True)
        if isinstance(remarked, MarkRefusal):
            raise ProgrammingError("the first marking accepted the text, but the second one refuses it")
        vocabulary: defaultdict[str, set[str]] = defaultdict(set)
        for word in opened.rows(VOCABULARY):
            vocabulary[word.family].add(word.code)
        evidence = gate.Evidence(
            plan=plan,
            rebuilt_writer_digest=rebuilt_digest(again.data, remarked, pins, law),
            mark_digest=marking.mark_digest,
            pinned_mark_digest=pins["mark_digest"],
            region_sha=remarked.region_sha,
            pinned_region_sha=pins["region_sha"],
            candidate_count=pins["candidate_count"],
            vocabulary={family: frozenset(codes) for family, codes in vocabulary.items()},
            same_digest_runs=tuple(
                row.run_id for row in opened.rows(SAME_DIGEST) if row.writer_digest == (revision or plan).writer_digest
            ),
            max_writes=opened.row(MAX_WRITES),
            revision=revision,
        )
        return GatePassed(report=gate.evaluate(evidence))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=_reads)


def _reads(attempt: Attempt) -> list[Read]:
    # Equal writer digests imply equal addresses. So a run with the same writer digest has the same docprefix.
    same = {"run_id": attempt.run_id, "docprefix": attempt.pins.get("docprefix")}
    own = {"run_id": attempt.run_id}
    return [pinned_read(attempt), law_read(attempt), (VOCABULARY, {}), (SAME_DIGEST, same), (MAX_WRITES, own)]


def plan_of(deps: Deps, opened: OpenGate) -> tuple[Marking, CutPlan]:
    """The plan of a run. It is built from the pinned snapshot, which `pinned_read` requested when the gate opened."""
    pins = opened.attempt.pins
    pinned = pinned_in(opened)
    marking = mark_pinned(pinned, pins["docprefix"], deps.settings.max_candidates)
    if isinstance(marking, MarkRefusal):
        raise ProgrammingError("marking accepted the text before, but refuses it now")
    plan = plan_pinned(pinned, marking, pins["docprefix"], pins["source_version_id"], deps.settings.max_candidates)
    return marking, plan


def law_read(attempt: Attempt) -> Read:
    """The law in force as a read that is sent together with a gate's opening. `revision_of` takes the answer."""
    return LAW, {"run_id": attempt.run_id}


def revision_of(opened: OpenGate, plan: CutPlan) -> RevisionPlan | None:
    """The plan of a revision against the law in force, which `law_read` requested; None for a first cut."""
    return revision_pinned(plan, base_of(opened.attempt.pins, opened.rows(LAW)))


def is_revision(pins: Json) -> bool:
    """Whether the first gate pinned a law in force that the run changes."""
    return "base_run_id" in pins


def base_of(pins: Json, units: Sequence[UnitInForce]) -> Base | None:
    """The base that the first gate pinned, with its units; None for a first cut."""
    if not is_revision(pins):
        return None
    return Base(
        operation_kind=pins["operation_kind"], source_version_id=pins["base_source_version_id"],
        receipt_hash=pins["base_receipt_hash"], units=tuple(units),
    )  # fmt: skip


def rebuilt_digest(data: bytes, marking: Marking, pins: Json, law: Base | None) -> str:
    """The writer digest of a second, independent build from the bytes and the law in force."""
    if law is None:
        return rebuild_digest_reversed(data, marking, docprefix=pins["docprefix"])
    # The lines come last unit first, and equal bodies are paired in document order.
    lines = rebuild_lines_reversed(data, marking, docprefix=pins["docprefix"])
    return rebuild_revision_digest(reversed(lines), law)
