"""IO: IG_mark: splits the pinned text by its profile."""

from __future__ import annotations

from activities.gates.pinned_source import mark_pinned, options_of, pinned_in, pinned_read, preview_of
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.gates import mark as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import OpenGate


def mark(deps: Deps, input: GateInput) -> GateOutcome:
    """Mark the snapshot and prove the partition."""

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        pins = opened.attempt.pins
        pinned = pinned_in(opened)
        limit = deps.settings.max_candidates
        evidence = gate.Evidence(
            snapshot=pinned.data,
            content_sha256=pins["content_sha256"],
            marking=mark_pinned(pinned, pins["docprefix"], limit),
            max_candidates=options_of(pinned, limit).max_candidates,
            preview=preview_of(pinned, limit),
        )
        return GatePassed(report=gate.evaluate(evidence))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=lambda attempt: [pinned_read(attempt)])
