"""Pure: the report of a run: one self-contained HTML page, without a script and without requests to other servers.

Its first page answers the common questions: which law, how many units, which signers, which findings, and the tree. The
proofs are folded below it. All values come from the run's view and its pinned text, and the template engine escapes
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import zip_longest

from jinja2 import DictLoader, Environment, StrictUndefined, Template, Undefined
from markupsafe import Markup

from cutter.domain.visible import visible
from cutter.projections import run_summary, shown_law
from cutter.projections.run_view import ShownMove, ShownRun, seconds_between, short_time
from cutter.projections.shown_law import PinnedLaw

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
        other_cut=run_summary.other_cut(unlike) if unlike else "", tone=run_summary.tone(view),
        headline=run_summary.headline(view), commands=run_summary.next_commands(view),
        units=run_summary.units_line(view, law), standing=run_summary.standing(view, law),
        open_requests=run_summary.open_requests(view), words=run_summary.GATE_WORDS,
        troubled=[gate.name for gate in gates if run_summary.needs_a_look(gate)], steps=steps(view),
        slowest=max((gate.seconds or 0.0 for gate in gates), default=0.0) or 1.0,
        passed=sum(gate.outcome in run_summary.GOOD for gate in gates),
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
