"""docs/reference/invariants.md names every invariant of every gate, and each has its tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutter.catalogue import GATES
from cutter.gates.report import PROBE, PROBE_RULES, parted
from tests.unit.gates.passing import PASSING

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "reference" / "invariants.md").read_text(encoding="utf-8")

SEED_ROWS = {
    "IG_source_pin": 3, "IG_mark": 2, "IG_cutplan": 4, "IG_backup": 4, "IG_grant_probe": 4, "IG_cut_leg_a_execute": 5,
    "IG_structural_verify": 3, "IG_leg_b_record": 4, "IG_write_verify": 3, "IG_lifecycle_enact_execute": 5,
    "IG_closeout": 3,
}  # fmt: skip
"""Lines of each gate's list in seed 000 §4."""


def sections() -> dict[str, str]:
    parts = re.split(r"^## (\S+)$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def names_on_the_page(gate: str) -> set[str]:
    return set(re.findall(r"`([a-z0-9_]+)`", "\n".join(table(gate))))


def table(gate: str) -> list[str]:
    return [line for line in sections()[gate].splitlines() if line.startswith("| ") and "---" not in line][1:]


def names_in_the_code(gate: str, *, after_commit: bool = False) -> set[str]:
    wanted = f"{gate} after COMMIT"
    reports = [
        evaluate(evidence)
        for report, (evidence, evaluate) in PASSING.items()
        if report == wanted or (not after_commit and report.split(" ")[0] == gate)
    ]
    return {item.name for report in reports for item in report.invariants}


def test_the_page_has_the_gates_in_their_order() -> None:
    assert list(sections()) == [gate.name for gate in GATES]


@pytest.mark.parametrize("gate", [gate.name for gate in GATES])
def test_the_page_names_exactly_what_the_gate_reports(gate: str) -> None:
    assert names_on_the_page(gate) == names_in_the_code(gate)


@pytest.mark.parametrize("gate", [gate.name for gate in GATES])
def test_the_page_marks_as_ours_what_the_sidecar_keeps_apart(gate: str) -> None:
    ours = [row for row in table(gate) if "*ours*" in row]
    _, added = parted(gate, ((name, True) for name in names_in_the_code(gate)))
    assert set(re.findall(r"`([a-z0-9_]+)`", "\n".join(ours))) == set(added)


def test_the_seeds_numbers_cover_the_eleven_booleans_and_the_one_that_we_added() -> None:
    """Seed 000 §4: the 11-bool probe matches OD-W2..OD-W9."""
    assert list(PROBE) == list(PROBE_RULES) == [f"OD-W{number}" for number in range(2, 10)]
    named = [name for names in PROBE.values() for name in names]
    assert len(named) == len(set(named)) == 12
    assert {*named, "revision_rows_match_plan"} == names_in_the_code("IG_structural_verify")
    evidence, evaluate = PASSING["IG_structural_verify"]
    assert [note.split(" ")[0] for note in evaluate(evidence).notes] == list(PROBE)


@pytest.mark.parametrize("gate", [gate.name for gate in GATES])
def test_every_line_of_the_seed_has_a_row(gate: str) -> None:
    """Seed 000 §4."""
    rows = [row for row in table(gate) if "*ours*" not in row]
    assert len(rows) == SEED_ROWS.get(gate, 0)
    assert all("`" in row.split("|")[2] for row in rows)


@pytest.mark.parametrize("gate", [gate.name for gate in GATES])
def test_the_mark_for_after_commit_stands_where_it_should(gate: str) -> None:
    marked = set(re.findall(r"`([a-z0-9_]+)` †", sections()[gate]))
    assert marked == names_in_the_code(gate, after_commit=True)


@pytest.mark.parametrize("gate", [gate.name for gate in GATES])
def test_each_invariant_has_a_passing_and_a_violating_test_named_after_it(gate: str) -> None:
    link = re.search(r"\]\(\.\./\.\./(tests/unit/gates/\S+)\)", sections()[gate])
    assert link is not None
    tests = (ROOT / link[1]).read_text(encoding="utf-8")
    for name in names_in_the_code(gate):
        assert f"def test_{name}_holds(" in tests, name
        assert f"def test_{name}_violated_when_" in tests, name


@pytest.mark.parametrize("gate", [gate.name for gate in GATES])
def test_the_gate_s_docstrings_name_its_invariants(gate: str) -> None:
    """A reader of the module alone sees the whole list, in the seed's words."""
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "cutter" / "gates").glob("*.py")
        if f'GATE = "{gate}"' in path.read_text(encoding="utf-8")
    )
    documented = " ".join(re.findall(r'"""(.*?)"""', source, flags=re.DOTALL))
    for name in names_in_the_code(gate):
        assert re.search(rf"\b{name}\b", documented), name
