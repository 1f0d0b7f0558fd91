"""P26, small: hostile rows by each role and past the checks; its judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns import p26_hostile_rows as p26
from tests.support.database import TestCluster


def test_p26_no_hostile_row_breaks_a_reader_or_keeps_a_run_from_its_end(
    cluster: TestCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = p26.run(trials=40, seed=1, out=tmp_path / "p26.jsonl", server=cluster)
    with capsys.disabled():
        print("", *result.lines(), sep="\n")
    assert result.accepted, list(result.lines())
    assert (tmp_path / "p26.jsonl").read_text().count("\n") == result.n + result.control_n


def test_one_reader_that_fails_fails_p26_and_so_do_guards_that_guard_nothing() -> None:
    good = {"arm": "said", "what": "a", "value": 5, "answer": "CU021", "problems": []}
    bad = {**good, "problems": ["status: KeyError"]}
    assert p26.summary([good], [bad]).accepted
    assert not p26.summary([good, bad], [bad]).accepted
    assert not p26.summary([good], [good]).accepted
