"""Every shape that was once cut wrong, in four laws or more: cut as a reader expects, or refused with the line."""

from __future__ import annotations

import pytest

from cutter.marking import Marking, MarkRefusal, Options, load_profile, mark
from tests.golden.failure_shapes import ALL, SHAPES, Shape

CASES = [pytest.param(shape, id=f"{kind}: {name}") for kind, shapes in SHAPES.items() for name, shape in shapes.items()]


@pytest.mark.parametrize("shape", CASES)
def test_the_law_is_cut_as_a_reader_expects_or_refused_with_the_line(shape: Shape) -> None:
    options = Options(**ALL)  # type: ignore[arg-type]
    result = mark(shape.text.encode(), profile=load_profile(shape.profile), docprefix="LAW", options=options)
    if shape.red is None:
        assert isinstance(result, Marking), result
        assert [unit.address.removeprefix("LAW/") for unit in result.candidates] == shape.tree.split()
        result.prove(shape.text.encode())
    else:
        assert isinstance(result, MarkRefusal), [unit.address for unit in result.candidates]
        assert shape.red in [(finding.name, finding.line) for finding in result.findings]
        each = " ".join(f"--accept {finding.name}" for finding in result.findings)
        assert f"{each} --because TEXT" in result.message


@pytest.mark.parametrize("kind", SHAPES)
def test_each_shape_has_at_least_four_laws(kind: str) -> None:
    assert len(SHAPES[kind]) >= 4
