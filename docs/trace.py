"""IO: the page that says, for each table, matrix, arrow, invariant and rule of a seed, which code and which tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cutter.catalogue import seed_state
from cutter.lifecycle.declarations import BY_NAME

FILE = Path(__file__).with_suffix(".yaml")

HEAD = """
Each line names one statement of a seed, the code that implements it, and the tests that prove it. The lines cover
tables, matrices, diagrams, lists, invariants and rules of all five seeds. A line cites its section as the tests'
docstrings do: by number, or by its heading in quotes. A line of seed 004 also gives the part of the section. If cutter
differs on purpose, the line links to [the differences](differences.md), which give the reason.

`tests/architecture/test_trace.py` checks every line. The code and the tests exist, each test cites the section, and
each arrow of a diagram and each difference has its line. If the seeds are at hand, the test compares the lines with
their tables, diagrams, lists and invariants.

Some words of the seeds have another name here. Seed 002: to create and stop a deployment is to start and stop a batch;
to place and cancel an order is to write and void a law. Seed 003: a workspace is a tenant.
[Lifecycles](../reference/lifecycles.md) explains each state.
""".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that a seed says. `code` and `tests` are `path::name`, a test's with its case in brackets, if any.

    `arrow` is (lifecycle, from, to) where it is one of a diagram, `name` the seed's own word where it is one of a list.
    `differs` is the seed's cell in docs/internals/differences.md where cutter does something else on purpose.
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
    fields: dict[str, Any] = {"seed": seed, "section": section, "code": _many(row.pop("code"))}
    first, *more = _many(row.pop("test"))
    if (lifecycle := row.pop("edges", None)) is not None:
        for source, target in arrows(lifecycle):
            proven = (f"{first}[{lifecycle}: {source} -> {target}]", *more)
            arrow = (lifecycle, source, target)
            yield Line(**fields, kind="arrow", what=f"{source} → {target}", tests=proven, arrow=arrow)
    elif (names := row.pop("each", None)) is not None:
        what = row.pop("what")
        for name in names:
            yield Line(**fields, kind="list", what=f"{what} `{name}`", tests=(f"{first}[{name}]", *more), name=name)
    else:
        kind, differs = row.pop("kind", "rule"), row.pop("differs", "")
        yield Line(**fields, kind=kind, what=row.pop("what"), tests=(first, *more), differs=differs)
    if row:
        raise ValueError(f"{FILE.name}: {seed} {section}: there is no {', '.join(row)}")


def arrows(name: str) -> list[tuple[str, str]]:
    """(from, to) of each transition of a lifecycle that its seed has itself; a gate of ours adds none."""
    edges = (edge for edge, rule in BY_NAME[name].edges.items() if not rule.extension)
    return list(dict.fromkeys(as_the_seed(edges)))


def as_the_seed(edges: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Transitions between the seed's own states: without those that only enter the state of a gate of ours."""
    for before, after in edges:
        edge = (seed_state(before), seed_state(after))
        if before == after or edge[0] != edge[1]:
            yield edge


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
    code = ", ".join(_link(place) for place in line.code)
    tests = ", ".join(_link(test) for test in line.tests)
    what = line.what.replace("<", "\\<") + (" ([differs](differences.md))" if line.differs else "")
    return f"| {line.cite} | {line.kind} | {what} | {code} | {tests} |"


def _link(place: str) -> str:
    path, _, name = place.partition("::")
    return f"[`{name}`](../../{path})"
