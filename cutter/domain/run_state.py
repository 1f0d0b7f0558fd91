"""Pure: the states of a run, a batch and a workstream, in the words of seeds 000, 001 and 004.

The state of a run is one of the catalogue, or a stop, a failure or a void with its reason (spec 01 "States and gates").
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum

from cutter import limits
from cutter.catalogue import SKIPPED, State

STOPPED, FAILED, VOIDED = "stopped_", "failed_", "voided_"


class RunState(str):
    """The text of a state, such as `stopped_drift_schema`. A text that is no state has none of the properties."""

    __slots__ = ()

    @property
    def stopped(self) -> bool:
        """A person or an outage stopped the run, and a resume continues it."""
        return self.startswith(STOPPED)

    @property
    def failed(self) -> bool:
        """A gate refused finally, and only a new run can begin again."""
        return self.startswith(FAILED)

    @property
    def voided(self) -> bool:
        """A signed void ended the run, or a person cancelled it before it wrote."""
        return self.startswith(VOIDED)

    @property
    def halted(self) -> bool:
        return self.startswith((STOPPED, FAILED, VOIDED))

    @property
    def terminal(self) -> bool:
        """The run can leave this state only by a void."""
        return self in (State.CLOSEOUT_REPORTED, SKIPPED) or self.failed or self.voided

    @property
    def reason(self) -> str:
        """The text after the first word of a stop, failure or void, such as `drift_schema`. Empty for other states."""
        return self.partition("_")[2] if self.halted else ""

    @property
    def on_order(self) -> bool:
        """A stop or a cancel holds the run, and no fault."""
        return self in ("stopped_stop", "stopped_cancel")

    @property
    def drifted(self) -> bool:
        """The survey of the database found a change that no gate had made."""
        return self.stopped and self.reason.startswith("drift_")

    @property
    def stop_code(self) -> str | None:
        """STOP_DRIFT_<dimension> or STOP_AND_ESCALATE for a state that the seed names so (seed 000 §6, §8)."""
        if self.drifted:
            return f"STOP_DRIFT_{self.reason.removeprefix('drift_')}"
        return "STOP_AND_ESCALATE" if self.over_cap else None

    @property
    def over_cap(self) -> bool:
        """A gate took longer than its cap, or the whole run longer than its own."""
        return self == "stopped_hard_cap" or self.over_soft_cap

    @property
    def over_soft_cap(self) -> bool:
        """A gate took longer than its cap."""
        return self.stopped and self.reason.startswith("soft_cap_")

    @property
    def broken(self) -> bool:
        """A worker failed, and no retry helps."""
        return self.stopped and self.reason.startswith("error_")

    @property
    def unavailable(self) -> bool:
        """A dependency of the run did not answer."""
        return self.stopped and self.reason.startswith("unavailable_")


CANCELLED = "cancelled"
"""The end of the state's name for a run that was cancelled before it wrote. No sentence gives this end."""

_NOT_WORD = re.compile(r"[^a-z0-9]+")
_SPELLED = str.maketrans({"đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l"})


def void_state(reason: str) -> str:
    """`voided_` and the reason's first whole words, at most VOID_WORDS_CHARACTERS_MAX characters of `[a-z0-9_]`."""
    bare = unicodedata.normalize("NFKD", reason.lower().translate(_SPELLED))
    kept = "".join(character for character in bare if not unicodedata.combining(character))
    words, most = _NOT_WORD.sub("_", kept).strip("_"), limits.VOID_WORDS_CHARACTERS_MAX
    if len(words) > most:
        words = words[: most + 1].rpartition("_")[0] or words[:most]
    if words == CANCELLED:
        return f"voided_{CANCELLED}_by_order"
    return f"voided_{words or 'by_order'}"


class BatchState(StrEnum):
    """The nine states, verbatim (seed 001 §3)."""

    PENDING = "batch_pending"
    PLANNING = "batch_planning"
    AWAITING_CUT = "batch_awaiting_cut_authz_set"
    WRITING = "batch_writing"
    AWAITING_LIFECYCLE = "batch_awaiting_lifecycle_authz_set"
    ENACTING = "batch_enacting"
    CLOSEOUT = "batch_closeout"
    FAILED_PARTIAL = "batch_failed_partial"
    VOIDED = "batch_voided"


class WorkstreamState(StrEnum):
    """The seven states of a workstream (seed 004)."""

    PLANNED = "planned"
    READY = "ready"
    EXECUTING = "executing"
    VALIDATING = "validating"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
