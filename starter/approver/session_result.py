"""IO: the result of a signing session, with its form as a command's answer."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.types import Json
from starter.approver.session_signatures import Handover
from starter.approver.signing_sequel import Sequel

ACCEPTED = "accepted"
"""The status of a session whose signed statements were taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult:
    """The result of a signing session of a batch.

    `rejections` has a text for each rejection, with the document and its run's reply. `left_out` names the other
    documents, each with the reason. `handover` is None if nothing was handed to the batch.
    """

    batch_id: str
    approvals: int
    rejections: tuple[str, ...]
    left_out: tuple[str, ...]
    handover: Handover | None
    sequel: Sequel

    @property
    def signed(self) -> int:
        """The number of signed requests."""
        return self.approvals + len(self.rejections)

    @property
    def status(self) -> str:
        """accepted or refused: the batch's reply to the approvals. A session without approvals is accepted."""
        return ACCEPTED if self.handover is None else self.handover.status

    def as_json(self) -> Json:
        """The fields of the result, in the order of a command's answer."""
        handed = {} if self.handover is None else self.handover.as_json()
        rejections = list(self.rejections)
        return {
            "batch_id": self.batch_id, "signed": self.signed, "approvals": self.approvals,
            "rejections": len(rejections), "status": self.status, **handed,
            **({"rejected": rejections} if rejections else {}), **self.sequel.as_json(),
            "left_out": list(self.left_out),
        }  # fmt: skip
