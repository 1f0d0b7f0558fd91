"""Pure: a run's report: one self-contained HTML page, without script and without any request to elsewhere.

Everything in it comes from the run's view and is escaped by the template engine; law text is not part of a view.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from jinja2 import DictLoader, Environment, StrictUndefined, Template, Undefined
from markupsafe import Markup

from cutter.domain.run_state import RunState
from cutter.domain.visible import visible
from cutter.projections.run_view import seconds_between, short_time
from cutter.types import Json

TEMPLATE = "report.html.j2"
STYLE = "report.css"


def render(view: Json) -> bytes:
    """The page of a run's view (`projections.run_view.run_view`), as UTF-8; the same view gives the same bytes."""
    page = template(TEMPLATE).render(run=view, tone=tone(view), steps=steps(view), slowest=_slowest(view))
    return page.encode()


def tone(view: Json) -> str:
    """The kind of the run's state, for its colour: good, bad, held or open."""
    state = str(view["state"])
    if state == "closeout_reported" or view["outcome"] in ("rehearsed", "skipped"):
        return "good"
    if RunState(state).failed:
        return "bad"
    return "held" if RunState(state).stopped or RunState(state).voided else "open"


def steps(view: Json) -> list[Json]:
    """The timeline: every move with how long the state before it lasted."""
    found: list[Json] = [
        {"at": view["created_utc"], "to": "pending", "trigger": "registered", "reason": None, "lasted": None}
    ]
    for move in view["timeline"]:
        found[-1]["lasted"] = seconds_between(found[-1]["at"], move["at"])
        found.append({key: move[key] for key in ("at", "to", "trigger", "reason")} | {"lasted": None})
    return found


def duration(seconds: float | None) -> str:
    """Seconds as people read them: 0.53 s, 4 min 10 s, 2 h 5 min; empty for None."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _slowest(view: Json) -> float:
    return max((gate["seconds"] or 0.0 for gate in view["gates"]), default=0.0) or 1.0


def _shown(value: object) -> object:
    """What an expression of a template puts into the page: a text with nothing hidden; a macro's page as it is."""
    return value if isinstance(value, Markup | Undefined) else visible(str(value))


@cache
def template(name: str) -> Template:
    """A page's template in this package; all pages share one style sheet, which is inside the page."""
    folder = resources.files("cutter.evidence")
    environment = Environment(
        loader=DictLoader({one: (folder / one).read_text(encoding="utf-8") for one in (name, STYLE)}), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, finalize=_shown,
    )  # fmt: skip
    environment.filters["moment"] = short_time
    environment.filters["duration"] = duration
    return environment.get_template(name)
