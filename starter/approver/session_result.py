"""IO: the result of a signing session, with its form as a command's answer."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.types import Json
from starter.approver.session_signatures import Handover
from starter.approver.signing_sequel import Sequel

ACCEPTED = "accepted"
"""The status of a session whose signed statements were taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedOnScreen:
    """The number of approvals that a session on the screen handed over, and a text for each rejection: the document and
    its run's reply.
    """

    approvals: int
    rejections: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult:
    """The result of a signing session: the number of signed requests, and the documents that it left out, with why.

    `handover` is None if nothing was approved. `on_screen` is None if the session asked line by line.
    """

    batch_id: str
    signed: int
    left_out: tuple[str, ...]
    handover: Handover | None
    sequel: Sequel
    on_screen: SignedOnScreen | None = None

    @property
    def status(self) -> str:
        """accepted or refused: the batch's reply to the approvals. A session without approvals is accepted."""
        return ACCEPTED if self.handover is None else self.handover.status

    def as_json(self) -> Json:
        """The fields of the result, in the order of a command's answer."""
        handed = {} if self.handover is None else self.handover.as_json()
        begin, left_out = {"batch_id": self.batch_id, "signed": self.signed}, list(self.left_out)
        if self.on_screen is None:
            return {**begin, "left_out": left_out, **handed, **self.sequel.as_json()}
        rejections = list(self.on_screen.rejections)
        return {
            **begin, "approvals": self.on_screen.approvals, "rejections": len(rejections), "status": self.status,
            **handed, **({"rejected": rejections} if rejections else {}), **self.sequel.as_json(), "left_out": left_out,
        }  # fmt: skip
