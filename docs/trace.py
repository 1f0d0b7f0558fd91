"""IO: the page that says, for each table, matrix, arrow, invariant and rule of a seed, which code and which tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cutter.lifecycle.declared import BY_NAME

FILE = Path(__file__).with_suffix(".yaml")

HEAD = """
What the five seeds say in tables, matrices, diagrams, lists, invariants and stated rules; beside it the code that does
it and the tests that prove it. A section is cited as the tests' docstrings cite it: by its number, or by its heading in
quotes, of seed 004 with the part of it behind. Where cutter differs on purpose, the line says so and
[differences.md](differences.md) says why. `tests/architecture/test_trace.py` holds every line: code and tests exist,
each test cites the section, and every arrow of a seed's diagram and every difference has its line. Where the seeds
themselves are at hand, it compares the lines with their tables, diagrams, lists and invariants.

Words of the seeds that are something else here: a deployment's create and stop are a batch's start and stop, an order's
place and cancel are a write and a void (002); a workspace is the tenant (003). [lifecycles.md](lifecycles.md) says what
each state is here.
""".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that a seed says. `code` and `tests` are `path::name`, a test's with its case in brackets, if any.

    `arrow` is (lifecycle, from, to) where it is one of a diagram, `name` the seed's own word where it is one of a list.
    `differs` is the seed's cell in docs/differences.md where cutter does something else on purpose.
    """

    seed: str
    section: str
    kind: str
    what: str
    code: tuple[str, ...]
    tests: tuple[str, ...]
    arrow: tuple[str, str, str] | None = None
    name: str = ""
    differs: str = ""

    @property
    def cite(self) -> str:
        """The section as a test's docstring cites it."""
        plain = self.section[0] not in '§"'
        return f'{self.seed} "{self.section}"' if plain else f"{self.seed} {self.section}"


@cache
def lines() -> tuple[Line, ...]:
    """Every line of trace.yaml, a diagram's arrows one by one."""
    seeds = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return tuple(
        line
        for seed, sections in seeds.items()
        for section, rows in sections.items()
        for row in rows
        for line in _lines(seed, section, row)
    )


def _lines(seed: str, section: str, row: dict[str, Any]) -> Iterator[Line]:
    said: dict[str, Any] = {"seed": seed, "section": section, "code": _many(row.pop("code"))}
    first, *more = _many(row.pop("test"))
    if (lifecycle := row.pop("edges", None)) is not None:
        for one, other in arrows(lifecycle):
            proven = (f"{first}[{lifecycle}: {one} -> {other}]", *more)
            arrow = (lifecycle, one, other)
            yield Line(**said, kind="arrow", what=f"{one} → {other}", tests=proven, arrow=arrow)
    elif (names := row.pop("each", None)) is not None:
        what = row.pop("what")
        for name in names:
            yield Line(**said, kind="list", what=f"{what} `{name}`", tests=(f"{first}[{name}]", *more), name=name)
    else:
        kind, differs = row.pop("kind", "rule"), row.pop("differs", "")
        yield Line(**said, kind=kind, what=row.pop("what"), tests=(first, *more), differs=differs)
    if row:
        raise ValueError(f"{FILE.name}: {seed} {section}: there is no {', '.join(row)}")


def arrows(name: str) -> list[tuple[str, str]]:
    """(from, to) of each transition of a lifecycle that its seed has itself."""
    return [edge for edge, rule in BY_NAME[name].edges.items() if not rule.extension]


def _many(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def page(made: str) -> str:
    """The whole page; `made` says how it is made."""
    parts = ["# Trace", "", made, "", HEAD, ""]
    for seed in dict.fromkeys(line.seed for line in lines()):
        parts += [f"## Seed {seed}", "", "| seed, section | kind | what | code | tests |"]
        parts += ["| --- | --- | --- | --- | --- |"]
        parts += [_row(line) for line in lines() if line.seed == seed]
        parts.append("")
    return "\n".join(parts)


def _row(line: Line) -> str:
    code = ", ".join(_link(one) for one in line.code)
    tests = ", ".join(_link(one) for one in line.tests)
    what = line.what.replace("<", "\\<") + (" ([differs](differences.md))" if line.differs else "")
    return f"| {line.cite} | {line.kind} | {what} | {code} | {tests} |"


def _link(place: str) -> str:
    path, _, name = place.partition("::")
    return f"[`{name}`](../{path})"
