"""P20 and P21, small: a night of eight documents with a kill and an outage; approvals that end as they are needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.campaigns import p20_the_night as p20
from tests.campaigns import p21_ttl_edge as p21
from tests.support.stack import Stack


def test_p20_in_the_morning_the_right_documents_are_law_and_nothing_is_doubled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "p20.jsonl"
    summary = p20.run(documents=8, poisoned=1, lanes=4, kills=1, outages=1, plain=False, seed=1, out=out, seconds=300)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert summary.accepted, [row["problems"] for row in rows if row["problems"]]
    assert [row["at_last"] for row in rows if "document" in row].count("enacted") == 6


def test_the_cast_has_each_document_once() -> None:
    for count, poisoned, plain in ((30, 2, False), (8, 1, False), (100, 10, True)):
        made = p20.cast(count, poisoned, plain=plain)
        assert len(made.all) == len(set(made.all)) == len(made.expected()) == count
    assert (len(p20.cast(100, 10, plain=True).good), len(p20.cast(30, 2, plain=False).late)) == (90, 4)


async def test_p21_what_ends_before_it_is_needed_writes_nothing(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = await p21.play(stack, trials=6, seed=1)
    summary = p21.summary(rows)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.failures == 0, rows


def test_an_edge_that_nothing_met_shows_nothing() -> None:
    inside = {"covered": True, "problems": []}
    assert p21.summary([inside, {"covered": False, "problems": []}]).accepted
    assert not p21.summary([inside, inside]).accepted
    assert not p21.summary([{"covered": False, "problems": []}]).accepted
    assert not p21.summary([inside, {"covered": False, "problems": ["late"]}]).accepted
