"""P4, its judge: the campaign itself waits for Temporal to miss workers, which no quick test can."""

from __future__ import annotations

from tests.campaigns import p04_zombie_workers as p04


def row(**changes: object) -> dict[str, object]:
    return {
        "fenced": True, "gate": "IG_mark", "kind": p04.KINDS[0].name, "attempts": 2, "stale_write": False,
        "problems": [], **changes,
    }  # fmt: skip


def test_one_stale_write_or_a_sleeper_without_a_successor_fails_p04() -> None:
    fooled = row(fenced=False, stale_write=True)
    assert p04.summary([row(), fooled]).accepted
    assert not p04.summary([row(), row(stale_write=True), fooled]).accepted
    assert not p04.summary([row(), row(attempts=1), fooled]).accepted
    assert not p04.summary([row(), row(problems=["IG_closeout: nobody slept"]), fooled]).accepted
    assert not p04.summary([row(), row(fenced=False)]).accepted


def test_a_run_in_which_nobody_slept_is_a_failure() -> None:
    assert not p04.summary([{**p04.NOTHING, "fenced": True, "problems": ["nobody"]}, row(fenced=False)]).accepted
