"""IO: IG_grant_probe: read the live grant matrix."""

from __future__ import annotations

from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.gates import grant_probe as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import OpenGate
from cutter.storage.records import records
from cutter.storage.roles import LiveGrants, grant_differences, grants_asked

MATRIX = records("live_grants", LiveGrants)


def grant_probe(deps: Deps, input: GateInput) -> GateOutcome:
    """Compare the live matrix with the declared one."""

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        (live,) = opened.rows(MATRIX)
        granted = tuple((role, name, verb) for role, name, verb in live.granted)
        evidence = gate.Evidence(
            cells=live.cells, granted=granted, grants_sha256=live.sha256, differences=grant_differences(live)
        )
        return GatePassed(report=gate.evaluate(evidence))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=lambda _attempt: [(MATRIX, grants_asked())])
