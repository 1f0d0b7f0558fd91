"""docs/trace.yaml against code, tests and, where they are at hand, the seeds."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cutter.lifecycle.declarations import BY_NAME
from docs.trace import Line, arrows, as_the_seed, lines
from tests.architecture.test_style import PHRASE, WORDS_MAX

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"

MACHINES = ("Task Lifecycle", "Workstream Lifecycle", "Worker State Machine")
SECTIONS = {
    "000": {f"§{number}" for number in range(1, 10)},
    "001": {f"§{number}" for number in range(1, 13)},
    "002": {"State Contract", "Transition Boundaries", "Deterministic Transition Matrix",
            "Queue and Cancellation Controls", "Retry and Failure Budget Policy", "Retry Decision Matrix",
            "Execution Command Boundary", "Migration Notes"},
    "003": {f"§{number}" for number in ("1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "3.1", "3.2", "3.3", "3.4", "4.1",
                                        "4.2", "5", "6.1", "6.2", "7", "8")},
    "004": {*(f'"{name}" {part}' for name in MACHINES
              for part in ("States", "Transitions", "Transition Details", "Invariants")),
            '"Workstream Lifecycle" State Derivation from Tasks', '"Event Schema"', '"Validation"'},
}  # fmt: skip
"""What each seed says something in that must be, with or without a table, diagram or invariant."""

ARROWS = {
    "document_run": ("000 §2", 41),
    "batch": ("001 §3", 11),
    "request": ('002 "Deterministic Transition Matrix"', 25),
    "run": ("003 §2.1", 9),
    "step": ("003 §2.2", 9),
    "approval": ("003 §1.3", 4),
    "task": ('004 "Task Lifecycle" Transitions', 9),
    "workstream": ('004 "Workstream Lifecycle" Transitions', 9),
    "worker": ('004 "Worker State Machine" Transitions', 8),
}
"""Where each seed's diagram stands and how many arrows it has between states, counted by hand. What leads from any
open state into a family, or into one state, counts once for each open state."""

INVARIANTS = {
    "000 §4": 40,
    "003 §2.2": 1,
    '004 "Task Lifecycle" Invariants': 6,
    '004 "Workstream Lifecycle" Invariants': 4,
    '004 "Worker State Machine" Invariants': 4,
}

LISTED = {
    "000 §1": 14, "000 §2": 13, "000 §3": 12, "000 §4": 11, "000 §5": 26, "000 §6": 11, "000 §8": 5, "001 §2": 13,
    "001 §3": 9, "001 §4": 3, "001 §6": 3, "001 §7": 11, "001 §8": 6, "001 §9": 8, "001 §10": 13, "001 §11": 10,
}  # fmt: skip
"""How many names of states, gates, fields, options and documents have a line of their own, counted by hand."""

every_seed = pytest.mark.parametrize("seed", SECTIONS)


@cache
def defined(path: str) -> dict[str, ast.stmt]:
    return dict(names_in(ast.parse((ROOT / path).read_text(encoding="utf-8")).body))


def names_in(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """Everything that a module defines, what stands in a class with the class's name before it."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from names_in(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign):
            yield from ((prefix + target.id, node) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield prefix + node.target.id, node


def exists(place: str) -> bool:
    """Whether a file defines that name; a file that is no code, whether it has that word."""
    path, _, name = place.partition("::")
    if not (ROOT / path).is_file():
        return False
    if path.endswith(".py"):
        return name in defined(path)
    made = r"(function|table|constraint|trigger|index)\s+(only\s+)?([\w]+\.)?" if path.endswith(".sql") else r"(?<!\w)"
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.search(made + re.escape(name.removeprefix("cutter_governance.")) + r"\b", text, re.IGNORECASE) is not None


def test_the_code_that_is_named_exists() -> None:
    assert [place for line in lines() for place in line.code if not exists(place)] == []


def test_code_that_is_not_there_is_missed() -> None:
    assert exists("docs/trace.py::Line.cite")
    assert exists("cutter/storage/sql/functions/runs/fn_run_move.sql::fn_run_move")
    for place in (
        "docs/trace.py::Line.kite",
        "docs/trace2.py::Line",
        "cutter/storage/sql/functions/runs/fn_run_move.sql::fn_run_mov",
    ):
        assert not exists(place)


def uncited(cite: str, test: str) -> str:
    """Why a test does not name a section; empty when it does."""
    path, _, name = test.partition("::")
    name, _, case = name.rstrip("]").partition("[")
    node = defined(path).get(name) if (ROOT / path).is_file() else None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not name.startswith("test_"):
        return "there is no such test"
    docstring = " ".join((ast.get_docstring(node) or "").split())
    if not re.search(rf"{re.escape(cite)}(?!\.?\d)", docstring):
        return "its docstring does not cite the section"
    return "" if not case or case in cases(path, name) else f"it has no case {case}"


@cache
def cases(path: str, name: str) -> frozenset[str]:
    """The words in a test's parameters: their ids, texts and names."""
    test = getattr(importlib.import_module(path.removesuffix(".py").replace("/", ".")), name)
    marks = [mark for mark in test.pytestmark if mark.name == "parametrize"]
    named = [mark.kwargs["ids"] for mark in marks if isinstance(mark.kwargs.get("ids"), list)]
    return frozenset(word for values in [*(list(mark.args[1]) for mark in marks), *named] for word in _words(values))


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif hasattr(value, "values") and hasattr(value, "id"):
        yield from (value.id or "", *_words(value.values))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)
    else:
        yield str(getattr(value, "name", ""))


def test_each_line_has_a_test_that_names_it() -> None:
    """Seed 002 "Migration Notes"."""
    assert [line.cite for line in lines() if not line.tests] == []
    wrong = {(line.cite, test): uncited(line.cite, test) for line in lines() for test in line.tests}
    assert {where: why for where, why in wrong.items() if why} == {}


def test_no_statement_is_in_the_older_dialect() -> None:
    """The page of the trace is not read by the test of style, because names of tests fill it."""
    assert [line.what for line in lines() if PHRASE.search(line.what) or len(line.what.split()) > WORDS_MAX] == []


def test_what_names_nothing_is_seen() -> None:
    here = "tests/architecture/test_trace.py::"
    assert uncited("003 §1.1", f"{here}test_nobody") == "there is no such test"
    assert uncited("003 §1.1", f"{here}exists") == "there is no such test"
    assert uncited("003 §1.1", f"{here}test_what_names_nothing_is_seen").startswith("its docstring")
    matrix = "tests/unit/lifecycle/test_retry.py::test_the_retry_decision_matrix_leads_to_the_seed_s_states"
    assert uncited('002 "Retry Decision Matrix"', f"{matrix}[within budget]") == ""
    assert uncited('002 "Retry Decision Matrix"', f"{matrix}[row 9]") == "it has no case row 9"
    assert uncited('002 "Retry Decision"', matrix).startswith("its docstring")


@every_seed
def test_every_section_that_says_what_must_be_has_its_lines(seed: str) -> None:
    assert {line.section for line in lines() if line.seed == seed} == SECTIONS[seed]


def test_every_arrow_of_each_lifecycle_has_its_line() -> None:
    drawn = Counter((line.cite, line.arrow[0]) for line in lines() if line.arrow)
    assert drawn == {(cite, name): count for name, (cite, count) in ARROWS.items()}
    for name, (_, count) in ARROWS.items():
        extensions = as_the_seed((start, end) for start, end, _ in BY_NAME[name].extensions)
        assert count == len(arrows(name)) == len(set(as_the_seed(BY_NAME[name].edges)) - set(extensions))


def test_every_invariant_has_its_line() -> None:
    assert Counter(line.cite for line in lines() if line.kind == "invariant") == INVARIANTS


def test_every_name_of_a_list_has_its_line() -> None:
    assert Counter(line.cite for line in lines() if line.name) == LISTED


# --- where cutter differs on purpose --------------------------------------------------------------------------------


@cache
def differences() -> frozenset[tuple[str, str]]:
    """(seed, what the seed says) of each row in docs/internals/differences.md."""
    page = (ROOT / "docs" / "internals" / "differences.md").read_text(encoding="utf-8")
    parts = re.split(r"^## Seed (\d{3})", page, flags=re.M)
    return frozenset(
        (seed, row.split(" | ")[1])
        for seed, text in zip(parts[1::2], parts[2::2], strict=True)
        for row in re.findall(r"^\| .+$", text, re.MULTILINE)[2:]
    )


def meant(line: Line) -> list[tuple[str, str]]:
    return [(seed, cell) for seed, cell in differences() if line.differs and seed == line.seed and line.differs in cell]


@pytest.mark.parametrize(
    "line", [line for line in lines() if line.differs], ids=lambda line: f"{line.cite}: {line.differs}"
)
def test_each_line_that_differs_points_to_one_difference(line: Line) -> None:
    assert len(meant(line)) == 1


def test_each_difference_has_a_line_with_its_code_and_tests() -> None:
    assert differences() - {code for line in lines() for code in meant(line)} == set()


# --- the seeds themselves, where they are ---------------------------------------------------------------------------


@cache
def text_of(seed: str) -> str:
    paths = sorted(SEEDS.glob(f"{seed}-*.txt"))
    if not paths:
        pytest.skip(f"the seeds are not here: {SEEDS}")
    return paths[0].read_text(encoding="utf-8")


HEADINGS = {
    "000": re.compile(r"(?<=\n\n)(\d+)\. .+$(?=\n\n)", re.MULTILINE),
    "001": re.compile(r"^(\d+)\. .+$", re.MULTILINE),
    "002": re.compile(r"^([A-Z][A-Za-z0-9]*(?: [A-Za-z]+){1,6})(?: \(AG-[A-Z]+-\d+\))?$", re.MULTILINE),
    "003": re.compile(r"^#{2,3} (\d+(?:\.\d+)?)\)? ", re.MULTILINE),
    "004": re.compile(r"^(#{2,3}) (.+)$", re.MULTILINE),
}


def sections_of(seed: str) -> dict[str, str]:
    """A seed's sections by their names here; what stands below a part of it stands in it."""
    sections: dict[str, str] = {}
    above, text = "", text_of(seed)
    heads = list(HEADINGS[seed].finditer(text))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        if seed == "004":
            above = head[2] if head[1] == "##" else above
            short = next((machine for machine in MACHINES if above.startswith(machine)), above)
            name = f'"{short}"' + (f" {head[2]}" if head[1] == "###" else "")
        else:
            name = head[1] if seed == "002" else f"§{head[1]}"
        sections[name] = text[head.end() : after.start() if after else None]
    return sections


@every_seed
def test_each_section_that_is_cited_is_a_heading_of_the_seed(seed: str) -> None:
    assert SECTIONS[seed] <= set(sections_of(seed))


@every_seed
def test_each_table_diagram_and_invariant_of_a_seed_stands_in_a_section_with_lines(seed: str) -> None:
    bodies = sections_of(seed)
    marked = seed in ("002", "003", "004")
    signs = ("|", "```mermaid", "nvariant") if marked else ("",)
    says = {name for name, body in bodies.items() if any(sign in body for sign in signs)}
    assert says
    assert {name for name in says if "```bash" not in bodies[name]} <= SECTIONS[seed]


@pytest.mark.parametrize("name", sorted(set(ARROWS) - {"approval", "request", "document_run", "batch"}))
def test_the_arrows_are_those_of_the_seed_s_diagram(name: str) -> None:
    seed, _, section = ARROWS[name][0].partition(" ")
    diagram = sections_of(seed)[section].partition("```mermaid")[2].partition("```")[0]
    drawn = re.findall(r"(\w+) --> (\w+)\b", diagram)
    assert sorted(drawn) == sorted(arrows(name))
    assert re.findall(r"\[\*\] --> (\w+)", diagram) == [BY_NAME[name].initial]


@pytest.mark.parametrize("name", ["document_run", "batch"])
def test_the_transitions_are_those_of_the_seed_s_list(name: str) -> None:
    seed, _, section = ARROWS[name][0].partition(" ")
    pairs = re.findall(r"^\s*(\w+) → (\w+)\b", sections_of(seed)[section], re.MULTILINE)
    states = [state for state in BY_NAME[name].states if "<" not in state]
    listed = {(start, end) for start, end in pairs if start in states and end in states}
    assert listed == {(start, end) for start, end in arrows(name) if not end.startswith(FROM_ANYWHERE)}


FROM_ANYWHERE = ("failed_", "stopped_", "batch_failed_partial")
"""What a seed lets any open state lead to."""

DECLARED = {
    "000 §1": r"^  - (\w+)(?= |$)",
    "000 §2": r"\b(IG_\w+)",
    "000 §3": r"(?<=[:,] )(\w+_(?:id|digest|sha|count|snapshot|path))(?=,|\n)",
    "000 §4": r"^(IG_\w+):$",
    "000 §5": r"^(?!run_id_format)(\w+) +: (?:string|ISO8601|uuid|\"|<one|map|list|optional|1$|enum)",
    "000 §6": r"^  (\w+) +: \d+$",
    "001 §3": r"^- (batch_\w+)",
    "001 §10": r"^- (\w+)",
    "001 §11": r"^- (\w+)",
}
"""How a section writes the names that it lists."""


@pytest.mark.parametrize("cite", DECLARED)
def test_each_name_that_a_section_declares_has_its_line(cite: str) -> None:
    seed, _, section = cite.partition(" ")
    declared = set(re.findall(DECLARED[cite], sections_of(seed)[section], re.MULTILINE))
    short = {"IG_cut_leg_a": "IG_cut_leg_a_execute"}
    assert len(declared) > 4
    assert {short.get(name, name) for name in declared} <= {
        re.split(r"[ .]", line.name)[-1] for line in lines() if line.cite == cite
    }


@pytest.mark.parametrize("cite", LISTED)
def test_each_name_of_a_list_stands_in_the_seed_s_section(cite: str) -> None:
    seed, _, section = cite.partition(" ")
    names = [line.name for line in lines() if line.cite == cite and line.name]
    words = [name if name.endswith(".md") else re.split(r"[ .]", name)[-1].lstrip("-") for name in names]
    assert [word for word in words if word not in sections_of(seed)[section]] == []


def test_the_matrix_of_requests_is_the_seed_s() -> None:
    rows = re.findall(r"^(\w+) \| ([\w, ]+) \|$", sections_of("002")["Deterministic Transition Matrix"], re.MULTILINE)
    assert sorted((start, end) for start, targets in rows for end in targets.split(", ")) == sorted(arrows("request"))


@pytest.mark.parametrize("name", MACHINES)
def test_the_tables_of_states_are_the_seed_s(name: str) -> None:
    table = sections_of("004")[f'"{name}" States']
    machine = BY_NAME[name.partition(" ")[0].lower()]
    rows = re.findall(r"^\| `(\w+)` \|.*\| (Yes|No) \|$", table, re.MULTILINE)
    assert {state for state, _ in rows} == set(machine.states)
    assert {state for state, ends in rows if ends == "Yes"} == set(machine.terminal)


@pytest.mark.parametrize("cite", INVARIANTS)
def test_there_are_as_many_invariants_as_in_the_seed(cite: str) -> None:
    seed, _, section = cite.partition(" ")
    item = r"^  - " if seed == "000" else r"^\d\. \*\*|\*\*Invariant:\*\*"
    items = re.findall(item, sections_of(seed)[section], re.MULTILINE)
    assert len(items) == INVARIANTS[cite]
