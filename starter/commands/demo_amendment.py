"""Orchestration: the last part of `cutter demo`: a law that takes effect later, and what a person reads of both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from rich.console import Console

from cutter import sources
from cutter.catalogue import Role
from cutter.law.law_text import LawText
from cutter.law.views import Comparison, compare
from cutter.settings import Settings
from cutter.storage import enacted_law
from cutter.storage.pools import session
from cutter.types import Json
from starter.commands import demo_batch, law
from starter.console.terminal import line, plain, quoted, say

DAYS_AHEAD = 30
"""So many days after the demo the amended law takes effect, so that both versions can be asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A law with its amended version, as people read both.

    `unit` is the address of the shortest revised unit. `versions` and `days` have two entries: the text in force on the
    day of the demo, and the text that follows.
    """

    document: str
    run_id: str
    unit: str
    comparison: Comparison
    versions: tuple[LawText, LawText]
    days: tuple[date, date]

    def as_json(self) -> Json:
        """The fields that are plain values, for the answer of `cutter demo`."""
        versions = [
            {"version": text.version.version, "effective_from": str(text.version.effective_from)}
            for text in self.versions
        ]
        return {
            "document": self.document, "run_id": self.run_id, "counts": self.comparison.counts, "versions": versions,
        }  # fmt: skip


def registered(settings: Settings, document_id: str, first: Path) -> date | None:
    """Register the next version of the law with the day of its effect; None if the folder has no amended text."""
    amended = first.parent / "amended" / first.name
    if not amended.is_file():
        return None
    day = datetime.now(UTC).date() + timedelta(days=DAYS_AHEAD)
    sources.register(
        settings, amended.read_bytes(), document_id=document_id, docprefix=document_id,
        profile=demo_batch.profile_of(amended.name), options=demo_batch.OPTIONS, effective=day,
    )  # fmt: skip
    say(f"registered {document_id}: amended/{amended.name}, as `cutter source add --effective {day}` does")
    return day


def looked_at(settings: Settings, document_id: str, run_id: str, day: date) -> Amendment:
    """Read both versions as the commands of `cutter law` do."""
    with session(settings, Role.OPERATOR) as connection:
        known = enacted_law.versions(connection, document_id)
        old, new = (enacted_law.text_of(connection, version) for version in known)
    comparison = compare(old.units, new.units)
    revised = [change.unit for change in comparison.different if change.change == "revised"]
    unit = min(revised, key=lambda unit: unit.words).address
    return Amendment(
        document=document_id, run_id=run_id, unit=unit, comparison=comparison, versions=(old, new),
        days=(datetime.now(UTC).date(), day),
    )  # fmt: skip


def show(amendment: Amendment, console: Console) -> None:
    """The word diff, and the law on both days; each below the command that shows it."""
    document, name = amendment.document, amendment.unit.partition("/")[2]
    old, new = amendment.versions
    console.print()
    console.print(line(f"amended law {document}", "bold"), soft_wrap=True)
    console.print(line(f"$ cutter law diff {document}", "dim"), soft_wrap=True)
    law.print_comparison(console, old.version, new.version, amendment.comparison)
    for day, text in zip(amendment.days, amendment.versions, strict=True):
        console.print()
        console.print(line(f"$ cutter law show {document} {name} --at {day}", "dim"), soft_wrap=True)
        revised = next(unit for unit in text.units if unit.address == amendment.unit)
        console.print(quoted(plain(revised.body.rstrip("\n"))))
        console.print(line(f"$ cutter law tree {document} --at {day}", "dim"), soft_wrap=True)
        top = ", ".join(unit.title for depth, unit in text.outline() if depth == 0)
        console.print(line(f"{len(text.units)} units: {top}"))
