"""Only `RunState` knows how the text of a stop, a failure or a void begins; every other module asks it."""

from __future__ import annotations

import ast

import pytest

from cutter.domain.run_state import FAILED, STOPPED, VOIDED
from tests.architecture.test_rows import modules

OWNER = "cutter/domain/run_state.py"
FAMILIES = (STOPPED, FAILED, VOIDED)


def beginnings(source: str) -> list[str]:
    """The texts by which a module tells a family of states: each by itself, or tested as a beginning.

    An f-string that makes a state is none.
    """
    tree = ast.parse(source)
    made = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    literals = []
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if text in FAMILIES and id(node) not in made:
                literals.append(text)
            case ast.Call(func=ast.Attribute(attr="startswith" | "removeprefix"), args=[asked, *_]):
                texts = [each.value for each in ast.walk(asked) if isinstance(each, ast.Constant)]
                literals += [text for text in texts if str(text).startswith(FAMILIES) and text not in FAMILIES]
    return literals


def test_no_other_module_tells_a_family_by_its_beginning() -> None:
    literals = {name: beginnings(source) for name, source in modules().items()}
    assert {name: texts for name, texts in literals.items() if texts and name != OWNER} == {}
    assert literals[OWNER]


@pytest.mark.parametrize(
    "wrong", ['x = ("stopped_", 1)', 'state.startswith("stopped_drift_")', 'a.removeprefix("failed_")']
)
def test_a_beginning_is_found(wrong: str) -> None:
    assert beginnings(wrong)
