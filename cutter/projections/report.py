"""Pure: the report of a run as one HTML page, and the tree and findings of a law, which a request's page shows too.

A page needs no script and no other servers. The first page of a report answers the common questions: which law, how
many units, which signers, which findings, and the tree. The proofs are folded below it. All values come from the run's
view and its pinned text, and the template engine escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import zip_longest
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined, Template, Undefined
from markupsafe import Markup

from cutter.catalogue import Sovereign, State
from cutter.domain.amounts import counted
from cutter.domain.next_step import AWAITING, THEN, Needs
from cutter.domain.run_state import RunState
from cutter.domain.visible import visible
from cutter.marking import Finding
from cutter.projections.run_view import ShownGate, ShownMove, ShownRun, seconds_between, short_time
from cutter.request_view.forms import UNREAD, line_span, number
from cutter.request_view.view import RequestView

LAW_TEMPLATE = "shown_law.html.j2"

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
        "counts": {
            **{name: len(positions) for name, positions in places.items()},
            "bytes": sum(unit.size for unit in view.units),
            "words": sum(unit.words for unit in view.units),
            "noticed": sum(bool(unit.findings) for unit in view.units),
            "stored": sum(unit.stored is not None for unit in view.units),
        },
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


GATE_WORDS = {Sovereign.CUT.value: "SG_1: write the units", Sovereign.LIFECYCLE.value: "SG_2: make them effective"}
"""The decision at each sovereign gate, in words."""

GOOD, RUNNING = ("passed", "rehearsed"), ("", "running")
"""The outcomes of gates that need no attention."""


def tone(view: ShownRun) -> str:
    """The kind of the run's state, for its colour: good, bad, held or open."""
    state = RunState(view.state)
    if view.state == State.CLOSEOUT_REPORTED or view.outcome in ("rehearsed", "skipped"):
        return "good"
    if state.failed:
        return "bad"
    return "held" if state.stopped or state.voided else "open"


def headline(view: ShownRun) -> str:
    """One sentence about the state of the run, without the reason."""
    state = RunState(view.state)
    if view.outcome == "rehearsed":
        return "This was a rehearsal: nothing was written."
    if view.outcome == "skipped":
        return "This run did nothing."
    if view.state == State.CLOSEOUT_REPORTED:
        return "The law is enacted, and the run is closed."
    if state == "failed_rejected":
        return "An approver rejected this run."
    if state.failed:
        at = next((f" at {gate.name}" for gate in reversed(view.gates) if needs_a_look(gate)), "")
        enacts = next((gate for gate in view.gates if gate.name == "IG_lifecycle_enact_execute"), None)
        enacted = enacts is not None and enacts.outcome == "passed"
        return f"The law is enacted, but the run has failed{at}." if enacted else f"This run has failed{at}."
    if state.voided:
        return "This run is voided."
    if state.stopped:
        return "This run is stopped."
    if view.stop:
        return "A person has ordered a stop, and the run has not stopped yet."
    if state in AWAITING:
        return "This run waits for a signed approval." if view.needs == Needs.APPROVAL else "This run is approved."
    return "This run is at work."


def needs_a_look(gate: ShownGate) -> bool:
    """True if the newest attempt of a gate did not end well."""
    return gate.outcome not in (*GOOD, *RUNNING)


def standing(view: ShownRun, law: PinnedLaw) -> str:
    """One sentence about the units that PostgreSQL holds now."""
    if not view.wrote:
        return "Nothing of it is written."
    if RunState(view.state).voided:
        return "The void has withdrawn the drafts."
    now = ", ".join(f"{counted(number, 'unit')} ({status})" for status, number in law.held.items())
    return f"PostgreSQL holds {now}." if now else "PostgreSQL holds none of them now."


TEMPLATE = "report.html.j2"
STYLE = "report.css"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskBar:
    """What `cutter desk` adds to a page that is also a file: its script in the head, and its navigation."""

    head: Markup
    body: Markup


NO_LAW = PinnedLaw(why="The text of the run was not read.")


def render(view: ShownRun, law: PinnedLaw = NO_LAW, *, bar: DeskBar | None = None) -> bytes:
    """The page of a run's view (`projections.run_view.run_view`) and its law, in UTF-8.

    One view gives the same bytes. `bar` is the navigation of `cutter desk`, which shows the page with its own policy.
    """
    unlike = differences(view.digests, law.view) if law.view else []
    cut = law.view if not unlike else None
    other_cut = (
        f"This version of cutter cuts the text in another way than this run did: {', '.join(unlike)} of the gates "
        "differ. Type `cutter workers` for the builds, and make this report with the build of the run."
    )
    # The number of units is that of the shown cut, or that of the sealed plan.
    count = len(law.view.units) if law.view else view.digests.get("candidate_count")
    gates, commands = view.gates, str(view.next).split(THEN)
    page = template(TEMPLATE, LAW_TEMPLATE).render(
        parts(cut, linked=False) if cut else {"view": None},
        bar=bar, run=view, law=law,
        other_cut=other_cut if unlike else "", tone=tone(view),
        headline=headline(view), commands=commands if commands != [f"cutter report {view.run_id}"] else [],
        units="not known yet" if count is None else counted(int(count), "unit"), standing=standing(view, law),
        open_requests=[request for request in view.requests if request.status == "requested"], words=GATE_WORDS,
        troubled=[gate.name for gate in gates if needs_a_look(gate)], steps=steps(view),
        slowest=max((gate.seconds or 0.0 for gate in gates), default=0.0) or 1.0,
        passed=sum(gate.outcome in GOOD for gate in gates),
    )  # fmt: skip
    return page.encode()


def steps(view: ShownRun) -> list[tuple[ShownMove, float | None]]:
    """The timeline: every transition, with the seconds that the reached state lasted. None for the last state."""
    begun = ShownMove(at=view.created_utc, from_state="", to="pending", trigger="registered", severity="info",
                      reason=None)  # fmt: skip
    return [
        (move, seconds_between(move.at, after.at) if after else None)
        for move, after in zip_longest([begun, *view.timeline], view.timeline)
    ]


def duration(seconds: float | None) -> str:
    """A time for people, such as 0.53 s, 4 min 10 s or 2 h 5 min. Empty for None."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _shown(value: object) -> object:
    """The value that a template puts into the page. Hidden characters of a text become visible; markup stays."""
    return value if isinstance(value, Markup | Undefined) else visible(str(value))


def page_file(name: str) -> str:
    """The text of a file of the pages: a template, a style sheet or a script."""
    return (resources.files("cutter.projections") / "pages" / name).read_text(encoding="utf-8")


@cache
def template(name: str, *more: str) -> Template:
    """The template of a page. Each page contains the style sheet that all pages share.

    `more` names further files of the pages that the template includes.
    """
    files = {file: page_file(file) for file in (name, STYLE, *more)}
    environment = Environment(
        loader=DictLoader(files), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, finalize=_shown,
    )  # fmt: skip
    environment.filters["moment"] = short_time
    environment.filters["duration"] = duration
    return environment.get_template(name)
