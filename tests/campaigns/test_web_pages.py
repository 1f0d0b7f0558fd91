"""Web pages against the local Temporal server, small: none has an effect, and without the guards they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns import p30_web_pages


@pytest.mark.chromium
def test_no_web_page_reaches_the_local_temporal_server(tmp_path: Path) -> None:
    result = p30_web_pages.run(rounds=1, seed=1, out=tmp_path / "p30.jsonl")
    assert result.failures == 0, list(result.lines())
    for kind in p30_web_pages.KINDS:
        assert result.counts[f"control: rebound page, {kind}: took effect"] >= 2, list(result.lines())
    for kind in ("signal", "terminate", "start"):
        assert result.counts[f"control: foreign page, {kind}: took effect"] >= 1, list(result.lines())
