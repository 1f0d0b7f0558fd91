"""The numbers that seed 001 gives for batches and nights are the ones in force."""

from __future__ import annotations

import pytest

from cutter import limits
from cutter.batch.triage import SIDECAR_LINES
from cutter.storage.batches import Options

BY_DAY, BY_NIGHT = Options(), Options.overnight()


@pytest.mark.parametrize(
    ("number", "actual", "seeds"),
    [
        ("default_max_concurrent", BY_DAY.lanes, 4),
        ("documents per batch", BY_DAY.items_max, 100),
        ("overnight --max-concurrent", BY_NIGHT.lanes, 2),
        ("hard_cap_minutes", BY_NIGHT.hard_cap_minutes, 360),
        ("per_doc_hard_cap", limits.HARD_CAP_MINUTES, 60),
        ("ttl", limits.PRE_BATCHED_HOURS, 12),
        ("sidecar_snapshot_truncated", SIDECAR_LINES, 50),
    ],
)
def test_each_number_is_the_seeds(number: str, actual: float, seeds: float) -> None:
    """Seed 001 §2, 001 §5, 001 §7, 001 §10, 001 §12."""
    assert actual == seeds, number


def test_a_batch_goes_on_after_a_failure_by_default_and_a_night_quarantines() -> None:
    """Seed 001 §6, 001 §7, 001 §12."""
    assert (BY_DAY.policy, BY_DAY.unattended) == ("default", False)
    assert (BY_NIGHT.policy, BY_NIGHT.unattended) == ("quarantine", True)
