"""IO: what follows a signing session: the next command, and the time that people have for the second signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cutter import limits
from cutter.catalogue import Sovereign
from cutter.domain.timestamps import readable
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.approver.session_requests import Asked
from starter.approver.session_signatures import Signatures

WRITTEN_NOW = "the approved documents are written and verified now; after that they wait for your second signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequel:
    """What follows a session. `next` is the next command.

    After SG_1 `then` says what happens to the documents, and `second_signature` until when people can sign at SG_2.
    A text that does not apply is empty.
    """

    next: str = ""
    then: str = ""
    second_signature: str = ""

    def as_json(self) -> Json:
        """The texts that apply, in the order of a command's answer."""
        texts = {"then": self.then, "SG_2": self.second_signature, "next": self.next}
        return {name: text for name, text in texts.items() if text}


def after(signatures: Signatures, approved: Sequence[Asked]) -> Sequel:
    """The next command. After SG_1 it is the session for SG_2, with the time that people have for it. After a rehearsal
    it starts the night.
    """
    if signatures.before:
        return Sequel(next="cutter orchestrate batch --queue QUEUE --overnight")
    batch_id, cut = signatures.batch_id, [request for request in approved if request.gate == Sovereign.CUT]
    if not cut:
        return Sequel(next=f"cutter status {batch_id}")
    run = run_rows.sidecar(signatures.settings, cut[0].document.request.run_id).run
    seconds = float(run.caps.get("ttl_lifecycle_seconds") or limits.TTL_SG2_HOURS * 3600)
    return Sequel(
        next=f"cutter approve --batch {batch_id}", then=WRITTEN_NOW,
        second_signature=second_signature(seconds, datetime.now(UTC)),
    )  # fmt: skip


def second_signature(seconds: float, now: datetime) -> str:
    """How long SG_2 is open, and until when. `seconds` is the time for SG_2, which begins with its request."""
    until = readable(now + timedelta(seconds=seconds))
    return f"open for {seconds / 3600:g} hours after its request: sign before {until}"
