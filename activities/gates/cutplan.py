"""IO: IG_cutplan: build the rows twice, the second time from the store, on a fresh connection, in reverse."""

from __future__ import annotations

from collections import defaultdict

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

VOCABULARY, SAME_DIGEST, MAX_WRITES = "vocabulary", "runs_with_same_digest", "max_writes"


def cutplan(deps: Deps, input: GateInput) -> GateOutcome:
    """Plan the rows and pin their digests."""

    def body(opened: Open) -> Passed | Refusal:
        pins = opened.attempt.pins
        marking, plan = plan_of(deps, opened)
        with session(deps.settings, Role.READ) as fresh:
            again = read_pinned(fresh, pins["source_version_id"])
        remarked = mark_pinned(again, pins["docprefix"], deps.settings.max_candidates, fresh=True)
        if isinstance(remarked, MarkRefusal):
            raise ProgrammingError("a text that was marked is refused the second time")
        evidence = gate.Evidence(
            plan=plan,
            rebuilt_writer_digest=rebuild_digest_reversed(again.data, remarked, docprefix=pins["docprefix"]),
            mark_digest=marking.mark_digest,
            pinned_mark_digest=pins["mark_digest"],
            region_sha=remarked.region_sha,
            pinned_region_sha=pins["region_sha"],
            candidate_count=pins["candidate_count"],
            vocabulary=_vocabulary(opened),
            same_digest_runs=tuple(str(run) for run, one in opened.rows(SAME_DIGEST) if one == plan.writer_digest),
            max_writes=opened.rows(MAX_WRITES)[0][0],
        )
        return Passed(report=gate.evaluate(evidence))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=_reads)


def _reads(attempt: Attempt) -> list[Read]:
    # Equal writer digests have equal addresses, so a run with the same one is a run of the same docprefix.
    same = {"run_id": attempt.run_id, "docprefix": attempt.pins.get("docprefix")}
    return [pinned_read(attempt), (VOCABULARY, {}), (SAME_DIGEST, same), (MAX_WRITES, {"run_id": attempt.run_id})]


def plan_of(deps: Deps, opened: Open) -> tuple[Marking, CutPlan]:
    """The plan of a run, built from its pinned snapshot, which `pinned_read` asked for with the opening."""
    pins = opened.attempt.pins
    pinned = pinned_in(opened)
    marking = mark_pinned(pinned, pins["docprefix"], deps.settings.max_candidates)
    if isinstance(marking, MarkRefusal):
        raise ProgrammingError("a text that was marked is refused now")
    plan = build_plan(pinned.data, marking, docprefix=pins["docprefix"], source_version_id=pins["source_version_id"])
    return marking, plan


def _vocabulary(opened: Open) -> dict[str, frozenset[str]]:
    words: defaultdict[str, set[str]] = defaultdict(set)
    for family, code in opened.rows(VOCABULARY):
        words[str(family)].add(str(code))
    return {family: frozenset(codes) for family, codes in words.items()}
