"""The build id of a worker covers every kind of file that the packages of a worker hold."""

from __future__ import annotations

from pathlib import Path

from cutter.versions import KINDS, PARTS

ROOT = Path(__file__).resolve().parents[2]


def test_a_build_id_covers_each_kind_of_file() -> None:
    files = [file for part in PARTS for file in (ROOT / part).rglob("*") if file.is_file()]
    assert {file.suffix for file in files if "__pycache__" not in file.parts} <= set(KINDS)
