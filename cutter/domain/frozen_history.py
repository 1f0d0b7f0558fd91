"""Pure: the digest of Temporal's history of a run, which the closeout seals (seed 003 §8)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenHistory:
    """The digest of the first `events` events of one execution, to which Temporal gave `execution_id`."""

    workflow_id: str
    execution_id: str | None
    events: int
    sha256: str

    def as_json(self) -> Json:
        """The history as a receipt and a bundle name it."""
        return asdict(self)
