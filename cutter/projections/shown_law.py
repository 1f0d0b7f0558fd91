"""Pure: the tree and the findings of a law, for the page of a request and for the report of a run.

Both pages import the markup in `shown_law.html.j2`. This module gives the values for this markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cutter.marking import Finding
from cutter.request_view.markdown import UNREAD, line_span, number
from cutter.request_view.view import RequestView

TEMPLATE = "shown_law.html.j2"

SEVERITIES = (("red", "bad", "probably cut wrong"), ("amber", "held", "worth a look"), ("info", "open", "a note"))
"""Each severity with its colour and its meaning. The most severe comes first."""

FEW = 20
"""The most findings of a severity whose list is open at first. A longer list is closed, except the red findings."""

SEALED = ("region_sha", "mark_digest", "findings_digest", "writer_digest")
"""The digests of a cut that the gates of a run seal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedLaw:
    """The pinned text of a run, which was read from PostgreSQL and marked again for a report.

    If the text cannot be shown as units, `view` is None and `why` gives the reason. If the reason is red findings that
    nobody accepted, `refused` has them. `held` counts the units that PostgreSQL now holds at the addresses of a written
    law, by lifecycle status.
    """

    view: RequestView | None = None
    title: str | None = None
    why: str = ""
    refused: Sequence[Finding] = ()
    held: Mapping[str, int] = field(default_factory=dict)


def differences(pins: Mapping[str, Any], view: RequestView) -> list[str]:
    """The names of sealed digests that differ in this view of the same text. If any differs, the view shows another
    cut.
    """
    own = view.digests
    return [name for name in SEALED if name in pins and pins[name] != getattr(own, name)]


def parts(view: RequestView, *, linked: bool, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The names and values for the template. `linked` is true if the page has the text, so that entries link to it."""
    # The addresses of the units with a finding, and of every unit above such a unit.
    parents = {unit.address: unit.parent_address for unit in view.units}
    noticed: set[str] = set()
    for unit in view.units:
        address: str | None = unit.address if unit.findings else None
        while address is not None and address not in noticed:
            noticed.add(address)
            address = parents[address]
    places = {
        name: [place for place, finding in enumerate(view.findings) if finding.severity == name]
        for name, _, _ in SEVERITIES
    }
    return {
        "view": view,
        "linked": linked,
        "changes": changes or {},
        "counts": counts(view),
        "noticed": frozenset(noticed),
        "worst": {name: positions for name, positions in places.items() if positions},
        "by_address": {unit.address: unit for unit in view.units},
        "severities": SEVERITIES,
        "colours": {name: colour for name, colour, _ in SEVERITIES},
        "few": FEW,
        "number": number,
        "span": line_span,
        "out": [piece for piece in view.left_out if piece.reason not in UNREAD],
    }


def counts(view: RequestView) -> dict[str, int]:
    """The number of findings by severity, the size of the units, and the number of units with a finding and stored."""
    severities = [finding.severity for finding in view.findings]
    return {
        **{name: severities.count(name) for name, _, _ in SEVERITIES},  # type: ignore[arg-type]
        "bytes": sum(unit.size for unit in view.units),
        "words": sum(unit.words for unit in view.units),
        "noticed": sum(bool(unit.findings) for unit in view.units),
        "stored": sum(unit.stored is not None for unit in view.units),
    }
