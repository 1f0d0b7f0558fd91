"""IO: IG_cutplan: builds the rows twice. The second time it reads the stored text on a fresh connection and builds in
reverse order.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from activities.gates.pinned_source import mark_pinned, pinned_in, pinned_read, read_pinned
from activities.gates.runner import Passed, Refusal, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME, Role
from cutter.errors import ProgrammingError
from cutter.gates import cutplan as gate
from cutter.marking import Marking, MarkRefusal, build_plan, rebuild_digest_reversed
from cutter.marking.plan import CutPlan
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Attempt, Open, Read
from cutter.storage.pools import session
from cutter.storage.records import Rows, records, values


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the vocabulary and its family."""

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

    def body(opened: Open) -> Passed | Refusal:
        pins = opened.attempt.pins
        marking, plan = plan_of(deps, opened)
        with session(deps.settings, Role.READ) as fresh:
            again = read_pinned(fresh, pins["source_version_id"])
        remarked = mark_pinned(again, pins["docprefix"], deps.settings.max_candidates, fresh=True)
        if isinstance(remarked, MarkRefusal):
            raise ProgrammingError("the first marking accepted the text, but the second one refuses it")
        evidence = gate.Evidence(
            plan=plan,
            rebuilt_writer_digest=rebuild_digest_reversed(again.data, remarked, docprefix=pins["docprefix"]),
            mark_digest=marking.mark_digest,
            pinned_mark_digest=pins["mark_digest"],
            region_sha=remarked.region_sha,
            pinned_region_sha=pins["region_sha"],
            candidate_count=pins["candidate_count"],
            vocabulary=_vocabulary(opened),
            same_digest_runs=tuple(
                one.run_id for one in opened.rows(SAME_DIGEST) if one.writer_digest == plan.writer_digest
            ),
            max_writes=opened.row(MAX_WRITES),
        )
        return Passed(report=gate.evaluate(evidence))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=_reads)


def _reads(attempt: Attempt) -> list[Read]:
    # Equal writer digests imply equal addresses. So a run with the same writer digest has the same docprefix.
    same = {"run_id": attempt.run_id, "docprefix": attempt.pins.get("docprefix")}
    return [pinned_read(attempt), (VOCABULARY, {}), (SAME_DIGEST, same), (MAX_WRITES, {"run_id": attempt.run_id})]


def plan_of(deps: Deps, opened: Open) -> tuple[Marking, CutPlan]:
    """The plan of a run. It is built from the pinned snapshot, which `pinned_read` requested when the gate opened."""
    pins = opened.attempt.pins
    pinned = pinned_in(opened)
    marking = mark_pinned(pinned, pins["docprefix"], deps.settings.max_candidates)
    if isinstance(marking, MarkRefusal):
        raise ProgrammingError("marking accepted the text before, but refuses it now")
    plan = build_plan(pinned.data, marking, docprefix=pins["docprefix"], source_version_id=pins["source_version_id"])
    return marking, plan


def _vocabulary(opened: Open) -> dict[str, frozenset[str]]:
    words: defaultdict[str, set[str]] = defaultdict(set)
    for word in opened.rows(VOCABULARY):
        words[word.family].add(word.code)
    return {family: frozenset(codes) for family, codes in words.items()}
