"""A batch's view is a record of what the database answered, whatever the rows hold."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cutter.batch import batch_step
from cutter.batch.view import BatchRecord, BatchView, FailedRun, ItemRecord
from tests.unit.batch.views import failed_run, item, view

JSON = some.none() | some.booleans() | some.integers() | some.text() | some.lists(some.text())
FREE = ("reason", "actor", "scope", "queue_code", "queue_kb_id", "source_uri", "request_kb_id")
"""Fields of an item whose text somebody else has written."""


def answer(**changed: Any) -> dict[str, Any]:
    made = asdict(view(item("ICX-A", "marked"), item("ICX-B", kept_out=True, failed_run=failed_run("ictr-x", None))))
    first, *others = made["items"]
    return {**made, "items": [{**first, **changed}, *others]}


@given(some.fixed_dictionaries(dict.fromkeys(FREE, JSON)))
def test_what_a_row_holds_is_kept_as_it_is_and_the_batch_is_steered(free: dict[str, Any]) -> None:
    batch_view = BatchView.of(answer(**free))
    assert {name: getattr(batch_view.items[0], name) for name in FREE} == free
    assert batch_step.summarise(batch_view, attended=True).totals


def test_a_view_is_the_same_when_it_is_read_again() -> None:
    batch_view = view(item("ICX-A", "marked"), item("ICX-B", kept_out=True, failed_run=failed_run("ictr-x", "b")))
    assert BatchView.of(asdict(batch_view)) == batch_view
    assert batch_view.items[1].failed_run == FailedRun(run_id="ictr-x", batch_id="b")


def test_columns_that_nobody_reads_are_left_out() -> None:
    made = answer(kind="of a later version")
    made["batch"]["again_at"] = None
    assert BatchView.of(made) == BatchView.of(answer())


@pytest.mark.parametrize("name", [field.name for field in fields(ItemRecord)])
def test_a_field_that_the_database_does_not_answer_is_named(name: str) -> None:
    made = answer()
    del made["items"][0][name]
    with pytest.raises(KeyError, match=name):
        BatchView.of(made)


@pytest.mark.parametrize("name", [field.name for field in fields(BatchRecord)])
def test_a_column_that_the_batch_lacks_is_named(name: str) -> None:
    made = answer()
    del made["batch"][name]
    with pytest.raises(KeyError, match=name):
        BatchView.of(made)
