"""Pure: everything that a request shows: units with their text, findings, acceptances, written rows, and all digests.

`build_view` makes one value, `RequestView`, from the pinned bytes. The request document, the page, the JSON form and
the terminal all show this value and name its digest. So they cannot differ from each other.
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
