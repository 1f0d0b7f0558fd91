"""Pure: what the page of a request and the report of a run show alike of a law: its tree and its findings.

The markup is in `shown_law.html.j2`, which both pages import; here are the values that it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cutter.marking import Finding
from cutter.request_view import RequestView, ShownUnit
from cutter.request_view.markdown import UNREAD, line_span, number

TEMPLATE = "shown_law.html.j2"

SEVERITIES = (("red", "bad", "probably cut wrong"), ("amber", "held", "worth a look"), ("info", "open", "a note"))
"""Severity, its colour, and what it means; the most severe first."""

FEW = 20
"""Findings of a severity that the page shows at once; a longer list waits closed, except the red ones."""

SEALED = ("region_sha", "mark_digest", "findings_digest", "writer_digest")
"""Digests of a cut that the gates of a run seal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedLaw:
    """The text that a run has pinned, as PostgreSQL holds it, marked again for a report.

    `view` is None where the text cannot be shown as units, and `why` says why. `refused` are the red findings that
    nobody accepted, if they are the reason. `held` counts the units that PostgreSQL holds now at the addresses of a law
    that was written, by their lifecycle status.
    """

    view: RequestView | None = None
    title: str | None = None
    why: str = ""
    refused: Sequence[Finding] = ()
    held: Mapping[str, int] = field(default_factory=dict)


def differences(pins: Mapping[str, Any], view: RequestView) -> list[str]:
    """The sealed digests that a view of the same text does not have: then it does not show what the run cut."""
    own = view.digests
    return [name for name in SEALED if name in pins and pins[name] != getattr(own, name)]


def parts(view: RequestView, *, linked: bool, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Names and values for the template. `linked`: the text is on the page too, so that entries lead to their place."""
    return {
        "view": view,
        "linked": linked,
        "changes": changes or {},
        "counts": counts(view),
        "noticed": _noticed(view),
        "worst": _worst_first(view),
        "by_address": _by_address(view),
        "severities": SEVERITIES,
        "colours": {name: colour for name, colour, _ in SEVERITIES},
        "few": FEW,
        "number": number,
        "span": line_span,
        "out": [piece for piece in view.left_out if piece.reason not in UNREAD],
    }


def counts(view: RequestView) -> dict[str, int]:
    """Findings by severity, the size of the units, and how many of them have a finding or are stored."""
    severities = [finding.severity for finding in view.findings]
    return {
        **{name: severities.count(name) for name, _, _ in SEVERITIES},  # type: ignore[arg-type]
        "bytes": sum(unit.size for unit in view.units),
        "words": sum(unit.words for unit in view.units),
        "noticed": sum(bool(unit.findings) for unit in view.units),
        "stored": sum(unit.stored is not None for unit in view.units),
    }


def _noticed(view: RequestView) -> frozenset[str]:
    """Addresses of the units with a finding, and of every unit above them."""
    parents = {unit.address: unit.parent_address for unit in view.units}
    found: set[str] = set()
    for unit in view.units:
        address: str | None = unit.address if unit.findings else None
        while address is not None and address not in found:
            found.add(address)
            address = parents[address]
    return frozenset(found)


def _worst_first(view: RequestView) -> dict[str, list[int]]:
    """Places of the findings of each severity that occurs: red ones first, each kind in the order of the lines."""
    places = {
        name: [place for place, finding in enumerate(view.findings) if finding.severity == name]
        for name, _, _ in SEVERITIES
    }
    return {name: found for name, found in places.items() if found}


def _by_address(view: RequestView) -> dict[str, ShownUnit]:
    return {unit.address: unit for unit in view.units}
