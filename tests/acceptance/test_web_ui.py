"""What a person sees in the Temporal Web UI, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.catalogue import GATES, PLANNED
from tests.support import browser
from tests.support.laws import law
from tests.support.processes import Stack

DOCUMENT = "SEEN-1"
HEADING = "Zqtitle"
LAST = f"{PLANNED[-1].number} of {len(GATES)} · {PLANNED[-1].phase}"
"""What the history says of the last gate before people are asked."""


@pytest.mark.chromium
def test_the_runs_page_shows_its_state_and_the_command_that_moves_it_but_no_text(
    standing: Stack, tmp_path: Path
) -> None:
    program = browser.required()
    standing.add(DOCUMENT, law(5, heading=HEADING))
    standing.json("run", DOCUMENT, "--wait", code=3)
    ui = (standing.state / "temporal.ui").read_text(encoding="ascii").strip()
    execution = standing.json_of_workflow(DOCUMENT)["workflowExecutionInfo"]["execution"]["runId"]
    address = f"{ui}/namespaces/default/workflows/document%2F{DOCUMENT}/{execution}"
    with browser.page(program, tmp_path / "browser") as page:
        page.listen()
        page.go(f"{address}/history")
        history = page.until_text(LAST, seconds=40)
        assert LAST in history
        page.go(f"{address}/user-metadata")
        details = page.until_text(f"cutter approve {DOCUMENT}", seconds=40)
        assert f"cutter approve {DOCUMENT}" in details
        assert f"{DOCUMENT} · live" in details, "the static summary"
        assert "awaiting_cut_authorization" in details
        assert f"✓ {PLANNED[-1].number} {PLANNED[-1].name}" in details
        for shown in (history, details):
            assert HEADING not in shown
        abroad = [asked for asked in page.asked if not asked.startswith((ui, "data:", "blob:"))]
        assert not abroad, "the Web UI asks only its own server"
