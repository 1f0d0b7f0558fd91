"""Pure: a simple model of laws that change: what is enacted of a law, and what is in force on a day.

The model knows nothing of units that persist, versions or differences. It keeps the whole text of each enactment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta

from tests.cases.trials import Dice

TEXT, CORRECTION, REPEAL = "text", "correction", "repeal"
NAMES = ("ALPHA", "BETA", "GAMMA", "DELTA", "EPSILON")
SENTENCES = ("A rule.", "Another rule.", "A third rule.")
HEAD = "LAW"

Units = dict[str, str]
"""Address to text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a person registers. Without a day, a correction holds from the day of its base, anything else from today."""

    kind: str
    articles: tuple[tuple[str, str], ...] = ()
    effective: date | None = None

    def markdown(self) -> bytes:
        articles = (f"\n## {name.title()}\n\n{sentence}\n" for name, sentence in self.articles)
        return f"# Law\n\nPreamble.\n{''.join(articles)}".encode()

    def units(self, document_id: str) -> Units:
        """The units that a person expects of the text."""
        if self.kind == REPEAL:
            return {}
        articles = {f"{document_id}/{name}": f"## {name.title()}\n\n{sentence}" for name, sentence in self.articles}
        return {f"{document_id}/{HEAD}": "# Law\n\nPreamble.", **articles}


@dataclass(frozen=True, slots=True, kw_only=True)
class Enacted:
    """The whole law after one enactment, and the day from which it holds."""

    run_id: str
    kind: str
    day: date
    units: Units


@dataclass(slots=True, kw_only=True)
class Law:
    """One document and its enactments, oldest first."""

    document_id: str
    enacted: list[Enacted] = field(default_factory=list)

    @property
    def newest(self) -> Units:
        return self.enacted[-1].units if self.enacted else {}

    def in_force(self, day: date) -> Units:
        """The newest enactment that holds on that day."""
        return next((enactment.units for enactment in reversed(self.enacted) if enactment.day <= day), {})

    def day_of(self, change: Change, today: date) -> date:
        """The day from which the change would hold."""
        if change.kind == CORRECTION and self.enacted:
            return self.enacted[-1].day
        return change.effective or today

    def refuses(self, change: Change, today: date) -> bool:
        """Whether no run can enact the change: it changes no unit, or it would hold before its base."""
        early = bool(self.enacted) and self.day_of(change, today) < self.enacted[-1].day
        return early or change.units(self.document_id) == self.newest

    def enact(self, change: Change, run_id: str, today: date) -> None:
        kind = "first_cut" if not self.enacted else "revision" if change.kind == TEXT else change.kind
        day, units = self.day_of(change, today), change.units(self.document_id)
        self.enacted.append(Enacted(run_id=run_id, kind=kind, day=day, units=units))

    def days(self) -> set[date]:
        """Days on which the law begins or ends, and the days before and after them."""
        near = (timedelta(days=-1), timedelta(), timedelta(days=1))
        return {enactment.day + step for enactment in self.enacted for step in near}


def drawn(law: Law, dice: Dice, today: date) -> Change:
    """A change that somebody might ask for; some of them are refused."""
    kinds = [TEXT] * 5 + [CORRECTION] * 3 + [REPEAL] if law.enacted else [TEXT]
    kind = dice.choose(kinds)
    names = sorted(NAMES, key=lambda _: dice.below(1000))[: dice.between(1, len(NAMES))]
    articles = tuple((name, dice.choose(SENTENCES)) for name in names)
    base = law.enacted[-1].day if law.enacted else today - timedelta(days=30)
    effective = base + timedelta(days=dice.between(-1, 12)) if dice.below(4) else None
    return Change(
        kind=kind, articles=() if kind == REPEAL else articles, effective=None if kind == CORRECTION else effective
    )
