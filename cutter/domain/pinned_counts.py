"""Pure: the numbers of rows and units that the pins of a planned run give, of a first cut or of a revision."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedCounts:
    """The rows of a run's plan, which are one for each unit of a first cut. `changing` counts those that begin or end a
    version. The enactment begins the versions of `begun` units and ends those of `retired` units.
    """

    planned: int
    changing: int
    begun: int
    retired: int

    @classmethod
    def of(cls, pins: Json) -> PinnedCounts:
        """The numbers from the pins of the gates up to the plan. Raises KeyError for pins of an earlier gate."""
        if "revision_rows" not in pins:
            count = int(pins["candidate_count"])
            return cls(planned=count, changing=count, begun=count, retired=0)
        rows = pins["revision_rows"]
        planned = sum(rows.values())
        return cls(
            planned=planned, changing=planned - rows["keep"], begun=rows["create"] + rows["revise"],
            retired=rows["repeal"],
        )  # fmt: skip
