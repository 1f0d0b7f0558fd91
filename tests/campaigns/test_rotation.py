"""The nightly rotation of the campaigns: the oldest record comes first, and an hour is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.campaigns import __main__ as campaigns
from tests.campaigns.table import CAMPAIGNS


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records of every campaign: the first is of the newest day, and each takes 100 s."""
    monkeypatch.setattr(campaigns, "RESULTS", tmp_path)
    for campaign in CAMPAIGNS:
        note(tmp_path, campaign.id, on="2026-10-20", seconds=100)
    note(tmp_path, CAMPAIGNS[0].id, on="2026-11-25", seconds=100)
    return tmp_path


def note(folder: Path, campaign: str, *, on: str, seconds: int) -> None:
    record = {"id": campaign, "command": "python", "exit": 0, "seconds": seconds, "on": on, "lines": []}
    (folder / f"{campaign.lower()}.json").write_text(json.dumps(record))


def test_the_campaign_that_never_ran_is_first_and_the_newest_is_last(records: Path) -> None:
    (records / "p16.json").unlink()
    rotated = [campaign.id for campaign in campaigns.due(1_000_000)]
    assert rotated[0] == "P16"
    assert rotated[-1] == CAMPAIGNS[0].id
    assert "hosts" not in rotated, "it needs root"


def test_the_first_one_runs_however_long_it_takes_and_the_others_fit_into_the_time(records: Path) -> None:
    note(records, "P2", on="2026-10-01", seconds=4000)
    note(records, "P3", on="2026-10-02", seconds=4000)
    rotated = [campaign.id for campaign in campaigns.due(3600)]
    assert rotated[0] == "P2"
    assert "P3" not in rotated
    assert len(rotated) > 1


@pytest.mark.usefixtures("records")
def test_the_page_names_the_rows_that_are_more_than_four_weeks_older() -> None:
    rows = [line for line in campaigns.page().splitlines() if line.startswith("| P")]
    assert "more than four weeks" not in rows[0]
    assert all("more than four weeks" in row for row in rows[1:])
