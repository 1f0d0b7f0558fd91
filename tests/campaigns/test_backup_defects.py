"""Campaign P18, small: each defect of a backup is caught, and each control arm is fooled."""

from __future__ import annotations

from pathlib import Path

from tests.campaigns import p18_backup_defects


def test_backup_defects_are_caught(tmp_path: Path) -> None:
    """Seed 000 §4."""
    *lines, total = p18_backup_defects.run(10, 1, tmp_path / "p18.jsonl")
    assert total["accepts"], [line for line in lines if not line["caught"]]
