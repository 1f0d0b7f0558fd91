"""IO: the steps of a run, as each engine calls them: the product's own functions, without the product's workflow.

Each step is one call. An engine decides only when it calls the next one, and how it waits for an approval.
"""

from __future__ import annotations

import time
from pathlib import Path

from activities.registry import GATE_FUNCTIONS
from activities.run.approval_requests import judge_approval, open_request
from benchmarks.document import every_role
from cutter import log_lines
from cutter.catalogue import BY_NAME, GATES, WorkerRole
from cutter.messages import GateInput, GateOutcome, JudgeInput, RequestInput
from tests.support.processes import Stack

LANE_SECONDS = 0.05
"""The pause before a gate is tried again whose lane another run holds."""

AT_ONCE = 4
"""Documents that are open at once, as in the product's batches."""

PLAN = tuple((gate.name, "" if gate.sovereign is None else gate.sovereign.value) for gate in GATES)
"""Each gate in its order, with the approval that it needs, or an empty text."""


class Steps:
    """The three kinds of step, in one process with the passwords and keys of all three workers."""

    def __init__(self, state: Path) -> None:
        # The standard output is a pipe that nobody reads after "ready": a full one would stop the gates.
        log_lines.to_standard_error()
        self.deps = every_role(Stack(state=state).settings)

    def request(self, gate: str, run_id: str) -> None:
        """Ask people for an approval."""
        open_request(self.deps[WorkerRole.CUTTER], RequestInput(run_id=run_id, gate=gate))

    def verdict(self, gate: str, run_id: str, kb_id: str) -> None:
        """Verify the approval that a person gave."""
        judged = JudgeInput(run_id=run_id, gate=gate, kb_id=kb_id)
        verdict = judge_approval(self.deps[WorkerRole.CUTTER], judged)
        assert verdict.accepted, verdict.reason

    def gate(self, name: str, run_id: str, kb_id: str) -> None:
        """Pass a gate; wait for its lane if another run holds it."""
        asked = GateInput(run_id=run_id, approval_kb_ids=(kb_id,) if kb_id else ())
        while (outcome := self._outcome(name, asked)).status != "passed":
            assert outcome.status == "lane_busy", f"{name}: {outcome.code} {outcome.reason}"
            time.sleep(LANE_SECONDS)

    def _outcome(self, name: str, asked: GateInput) -> GateOutcome:
        answer = GATE_FUNCTIONS[name](self.deps[BY_NAME[name].worker], asked)
        assert isinstance(answer, GateOutcome)
        return answer
