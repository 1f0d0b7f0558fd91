"""P1, its judge and its table of faults: the campaign itself strikes whole batches, which no quick test can."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.campaigns import p01_random_faults as p01
from tests.cases import faults
from tests.cases.trials import Dice


def document(**changes: object) -> dict[str, object]:
    """A document that became law, as the database shows it."""
    return {
        "document_id": "D", "run_id": "r", "state": "closeout_reported", "ended": True, "decided": None, "runs": 1,
        "claims": 11, "sealed": 11, "cut": 1, "enacted_by": 1, "units": p01.UNITS, "addresses": p01.UNITS,
        "enacted": p01.UNITS, "consumed": 2, "approvals": 2, "opened": 2, "unpublished": 0, "again": 0, **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"state": "stopped_unavailable_kb", "sealed": 9, "claims": 9, "enacted_by": 0, "enacted": 0, "consumed": 1,
         "approvals": 1, "opened": 1},
        {"state": "awaiting_cut_authorization", "sealed": 5, "claims": 5, "cut": 0, "enacted_by": 0, "units": 0,
         "addresses": 0, "enacted": 0, "consumed": 0, "approvals": 0, "opened": 0},
        {"state": None, "run_id": None, "decided": "blocked", "runs": 0, "sealed": 0, "claims": 0, "cut": 0,
         "enacted_by": 0, "units": 0, "addresses": 0, "enacted": 0, "consumed": 0, "approvals": 0, "opened": 0},
    ],
    ids=["law", "stopped", "waiting", "never begun"],
)  # fmt: skip
def test_what_is_whole_and_over_or_waits_is_well(changes: dict[str, object]) -> None:
    assert p01.judge(document(**changes)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"units": p01.UNITS - 1, "addresses": p01.UNITS - 1},
        {"units": p01.UNITS + 1},
        {"addresses": p01.UNITS - 1},
        {"enacted": 0},
        {"consumed": 3},
        {"approvals": 1},
        {"opened": 1},
        {"claims": 12},
        {"sealed": 10, "claims": 10},
        {"runs": 2},
        {"unpublished": 1},
        {"state": "marked"},
        {"state": "failed_closeout"},
    ],
    ids=str,
)
def test_what_is_lost_doubled_or_hangs_is_seen(changes: dict[str, object]) -> None:
    assert p01.judge(document(**changes))


def test_a_kind_that_came_too_seldom_or_little_success_fails_p01() -> None:
    law = {"document": "D", "state": "closeout_reported", "again": 0, "problems": []}
    failed = {**law, "state": "failed_mark"}
    wanted = {"worker killed": 2}

    def summary(*rows: dict[str, object], fired: int = 2, blind: tuple[str, ...] = ()) -> bool:
        return p01.summary(
            rows, fired=Counter({"worker killed": fired}), wanted=wanted, blind=blind, skipped=""
        ).accepted  # fmt: skip

    assert summary(law, failed, failed)
    assert not summary(law, failed, failed, failed)
    assert not summary(law, fired=1)
    assert not summary(law, blind=("a run hangs",))
    assert not summary({**law, "problems": ["units: 2 instead of 3"]})


def test_every_kind_strikes_as_often_as_it_must_and_batches_are_small() -> None:
    struck = Counter(p01.strikes(1000, [*faults.KINDS], Dice(1)))
    assert set(struck.values()) == {30}
    assert len(struck) == 10
    assert p01.batches_of(120) == [40, 40, 40]
    assert p01.batches_of(12) == [12]
    assert len(set(p01.cast(0, 50).all)) == 50


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk needs a mount, and that needs root")
def test_a_full_disk_takes_no_byte_until_it_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "DISK_BYTES", 4 * faults.MIB)
    with faults.own_disk(tmp_path) as refused:
        if refused:
            pytest.skip(refused)
        with faults.full(tmp_path):
            assert shutil.disk_usage(tmp_path).free == 0
            with pytest.raises(OSError, match="No space left"):
                (tmp_path / "one").write_bytes(bytes(4096))
        assert shutil.disk_usage(tmp_path).free > faults.MIB
