"""P28, small: a few hostile texts through every input; nothing leaks, and without the escaping they do."""

from __future__ import annotations

from pathlib import Path

from tests.campaigns import p28_hostile_text as p28
from tests.support.database import Database
from tests.support.runs import Keys


def test_p28_no_text_of_a_stranger_is_obeyed_or_hidden(database: Database, keys: Keys, tmp_path: Path) -> None:
    summary = p28.run(strings=3, seed=2, out=tmp_path / "p28.jsonl", database=database, keys=keys)
    assert summary.accepted, list(summary.lines())
    assert summary.n == 3 * len(p28.INPUTS)
    assert (tmp_path / "p28.jsonl").read_text(encoding="utf-8").count("\n") == summary.n
