"""Pure: the state of a run: one of the catalogue's, or a stop, failure or void with its reason."""

from __future__ import annotations

from cutter.catalogue import SKIPPED, State

STOPPED, FAILED, VOIDED = "stopped_", "failed_", "voided_"


class RunState(str):
    """The text of a state, such as `stopped_drift_schema`. For a value that is no state every question is False."""

    __slots__ = ()

    @property
    def stopped(self) -> bool:
        """A person or an outage stopped the run; a resume continues it."""
        return self.startswith(STOPPED)

    @property
    def failed(self) -> bool:
        """A gate refused for good; a new run begins again."""
        return self.startswith(FAILED)

    @property
    def voided(self) -> bool:
        """The run was ended by a signed void, or cancelled before it wrote."""
        return self.startswith(VOIDED)

    @property
    def halted(self) -> bool:
        """Stopped, failed or voided."""
        return self.startswith((STOPPED, FAILED, VOIDED))

    @property
    def terminal(self) -> bool:
        """Only a void leaves such a state."""
        return self in (State.CLOSEOUT_REPORTED, SKIPPED) or self.failed or self.voided

    @property
    def reason(self) -> str:
        """What follows the first word of a stop, failure or void, such as `drift_schema`; else empty."""
        return self.partition("_")[2] if self.halted else ""

    @property
    def drifted(self) -> bool:
        """The database's own survey found a change that no gate had made."""
        return self.stopped and self.reason.startswith("drift_")

    @property
    def over_cap(self) -> bool:
        """A gate ran over its cap, or the whole run over its own."""
        return self == "stopped_hard_cap" or (self.stopped and self.reason.startswith("soft_cap_"))

    @property
    def broken(self) -> bool:
        """A worker failed in a way that no retry mends."""
        return self.stopped and self.reason.startswith("error_")

    @property
    def unavailable(self) -> bool:
        """Something that the run needs did not answer."""
        return self.stopped and self.reason.startswith("unavailable_")
