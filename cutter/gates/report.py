"""Pure: the result of a gate's evaluation. A refusal is a value, and an empty report refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """One named check of seed 000 §4 with the value that was seen and the value that was expected. Both are short and
    hold no text of a law.
    """

    name: str
    ok: bool
    observed: str
    expected: str

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "ok": self.ok, "observed": self.observed, "expected": self.expected}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """Every invariant of one gate, and the pins that later gates read from the receipt."""

    gate: str
    invariants: tuple[Invariant, ...]
    pins: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True if there is at least one invariant and none is false."""
        return bool(self.invariants) and all(item.ok for item in self.invariants)

    @property
    def violations(self) -> tuple[Invariant, ...]:
        return tuple(item for item in self.invariants if not item.ok)

    def reason(self) -> str:
        """One sentence that names the first violated invariant."""
        if not self.invariants:
            return f"{self.gate}: nothing was checked"
        if self.passed:
            return f"{self.gate}: passed"
        first = self.violations[0]
        more = f" (and {len(self.violations) - 1} more)" if len(self.violations) > 1 else ""
        return f"{first.name}: observed {first.observed}, expected {first.expected}{more}"

    def as_json(self) -> dict[str, Any]:
        """The part that is sealed: invariants, pins and notes. It holds only ids, counts and digests."""
        return {
            "gate": self.gate,
            "invariants": [item.as_json() for item in self.invariants],
            "pins": dict(self.pins),
            "notes": list(self.notes),
        }


def equal(name: str, observed: object, expected: object) -> Invariant:
    """An invariant that holds if both values are equal and not None."""
    return Invariant(
        name=name, ok=observed is not None and observed == expected, observed=shown(observed), expected=shown(expected)
    )


def holds(name: str, ok: bool, observed: object, expected: object) -> Invariant:
    """An invariant that holds if `ok` is true, for checks that compare no two values."""
    return Invariant(name=name, ok=bool(ok), observed=shown(observed), expected=shown(expected))


def shown(value: object) -> str:
    """A value in at most 120 characters."""
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."
