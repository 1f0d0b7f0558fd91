"""Pure: the documents that a run writes if nothing stops it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from cutter.catalogue import Gate
from cutter.kb.ids import phase_report, request


def run_documents(folder: str, gates: Sequence[Gate], day: date) -> tuple[str, ...]:
    """The KB ids of all reports and first requests of a run, in the order in which the run writes them."""
    names: list[str] = []
    for gate in gates:
        if gate.sovereign is not None:
            names.append(request(folder, gate.sovereign, day))
        names.append(phase_report(folder, gate, day))
    return tuple(names)
