"""Pure: what a request shows: units with their text, findings, acceptances, what was written, and every digest of it.

One value, `RequestView`, is built from the pinned bytes. The request document, the page, the JSON form and the terminal
all show that value and name its digest, so that they cannot differ.
"""

from __future__ import annotations

from cutter.request_view.builder import build_view
from cutter.request_view.record import request_record, view_digest, view_record
from cutter.request_view.view import (
    AcceptedFinding,
    Check,
    Digests,
    LeftOut,
    RequestView,
    SealedGate,
    ShownFinding,
    ShownUnit,
    StoredUnit,
)

__all__ = [
    "AcceptedFinding",
    "Check",
    "Digests",
    "LeftOut",
    "RequestView",
    "SealedGate",
    "ShownFinding",
    "ShownUnit",
    "StoredUnit",
    "build_view",
    "request_record",
    "view_digest",
    "view_record",
]
