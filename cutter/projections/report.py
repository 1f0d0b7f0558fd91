"""Pure: the report of a run: one self-contained HTML page, without a script and without requests to other servers.

Its first page answers the common questions: which law, how many units, which signers, which findings, and the tree. The
proofs are folded below it. All values come from the run's view and its pinned text, and the template engine escapes
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import zip_longest

from jinja2 import DictLoader, Environment, StrictUndefined, Template, Undefined
from markupsafe import Markup

from cutter.catalogue import Sovereign, State
from cutter.domain.amounts import counted
from cutter.domain.next_step import AWAITING, THEN, Needs
from cutter.domain.run_record import RequestRecord
from cutter.domain.run_state import RunState
from cutter.domain.visible import visible
from cutter.projections import shown_law
from cutter.projections.run_view import ShownGate, ShownMove, ShownRun, seconds_between, short_time
from cutter.projections.shown_law import PinnedLaw

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
        return f"The law is enacted, but the run has failed{at}." if enacted(view) else f"This run has failed{at}."
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


def enacted(view: ShownRun) -> bool:
    return any(gate.name == "IG_lifecycle_enact_execute" and gate.outcome == "passed" for gate in view.gates)


def next_commands(view: ShownRun) -> list[str]:
    """The next commands, in order. Without commands that only lead to this report again."""
    commands = str(view.next).split(THEN)
    return [] if commands == [f"cutter report {view.run_id}"] else commands


def units_line(view: ShownRun, law: PinnedLaw) -> str:
    """The number of units of the run in words: those of the shown cut, or those of the sealed plan."""
    count = len(law.view.units) if law.view else view.digests.get("candidate_count")
    return "not known yet" if count is None else counted(int(count), "unit")


def standing(view: ShownRun, law: PinnedLaw) -> str:
    """One sentence about the units that PostgreSQL holds now."""
    if not view.wrote:
        return "Nothing of it is written."
    if RunState(view.state).voided:
        return "The void has withdrawn the drafts."
    now = ", ".join(f"{counted(number, 'unit')} ({status})" for status, number in law.held.items())
    return f"PostgreSQL holds {now}." if now else "PostgreSQL holds none of them now."


def other_cut(unlike: Sequence[str]) -> str:
    """The reason why the report shows no units: this build cuts the text in another way than the run did."""
    return (
        f"This version of cutter cuts the text in another way than this run did: {', '.join(unlike)} of the gates "
        "differ. Type `cutter workers` for the builds, and make this report with the build of the run."
    )


def open_requests(view: ShownRun) -> list[RequestRecord]:
    return [request for request in view.requests if request.status == "requested"]


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
    unlike = shown_law.differences(view.digests, law.view) if law.view else []
    cut = law.view if not unlike else None
    gates = view.gates
    page = template(TEMPLATE, shown_law.TEMPLATE).render(
        shown_law.parts(cut, linked=False) if cut else {"view": None},
        bar=bar, run=view, law=law,
        other_cut=other_cut(unlike) if unlike else "", tone=tone(view),
        headline=headline(view), commands=next_commands(view),
        units=units_line(view, law), standing=standing(view, law),
        open_requests=open_requests(view), words=GATE_WORDS,
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
