"""IO: what follows a signing session: the next command, and the time that people have for the second signature."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cutter import limits
from cutter.catalogue import Sovereign
from cutter.domain.timestamps import readable
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.approver.session_requests import Asked
from starter.approver.session_signatures import Signatures


def after(signatures: Signatures, approved: Sequence[Asked]) -> Json:
    """The next command. After SG_1 it is the session for SG_2, with the time that people have for it."""
    if signatures.before:
        return {}
    batch_id, cut = signatures.batch_id, [request for request in approved if request.gate == Sovereign.CUT]
    if not cut:
        return {"next": f"cutter status {batch_id}"}
    run = run_rows.sidecar(signatures.settings, cut[0].document.request.run_id).run
    seconds = float(run.caps.get("ttl_lifecycle_seconds") or limits.TTL_SG2_HOURS * 3600)
    return {**second_signature(seconds, datetime.now(UTC)), "next": f"cutter approve --batch {batch_id}"}


def second_signature(seconds: float, now: datetime) -> Json:
    """What follows SG_1, and until when. `seconds` is the time for SG_2, which begins with its request."""
    until = readable(now + timedelta(seconds=seconds))
    return {
        "then": "the approved documents are written and verified now; after that they wait for your second signature",
        "SG_2": f"open for {seconds / 3600:g} hours after its request: sign before {until}",
    }
