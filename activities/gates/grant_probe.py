"""IO: IG_grant_probe: read the live grant matrix."""

from __future__ import annotations

from typing import NamedTuple

from activities.gates.runner import Passed, Refusal, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.gates import grant_probe as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Open
from cutter.storage.grants import asked, differences, matrix_digest
from cutter.storage.records import records


class LiveCell(NamedTuple):
    """One privilege as the server has it."""

    role: str
    object: str
    verb: str
    granted: bool


CELLS = records("live_grants", LiveCell)


def grant_probe(deps: Deps, input: GateInput) -> GateOutcome:
    """Compare the live matrix with the declared one."""

    def body(opened: Open) -> Passed | Refusal:
        cells = opened.rows(CELLS)
        evidence = gate.Evidence(cells=tuple(cells), grants_sha256=matrix_digest(cells), differences=differences(cells))
        return Passed(report=gate.evaluate(evidence))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=lambda _attempt: [(CELLS, asked())])
