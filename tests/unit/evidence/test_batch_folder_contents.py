"""A batch's folder has a place for each thing that the seed puts there."""

from __future__ import annotations

import pytest

from cutter.batch.view import BatchFacts
from cutter.projections.batch_folder import contents
from tests.unit.evidence.batches import ALL, BATCH_ID, Facts, run_id


@pytest.mark.parametrize("queue", ["error_queue", "quarantine_queue", "human_review_queue"])
def test_what_waits_in_a_queue_has_its_document_and_its_run_there(queue: str) -> None:
    """Seed 001 §8."""
    facts = Facts()
    facts.add("ICX-1", gates=1, state="failed_mark")
    facts.queue(facts.items[0], queue)
    run = facts.items[0]["run_id"]
    kb_id = f"knowledge/dev/batches/{BATCH_ID}/{queue}/{run}.md"
    folder = contents(BatchFacts.of(facts.whole()), [("queue_entry", kb_id, "# about it\n")])
    assert folder.files[f"{queue}/{run}/{run}.md"] == b"# about it\n"
    assert folder.links[f"{queue}/{run}/run"] == run


def test_each_run_is_reached_from_the_folder_and_the_report_stands_in_it() -> None:
    """Seed 001 §8."""
    facts = Facts()
    facts.add("ICX-1", gates=ALL, state="closeout_reported")
    facts.add("ICX-2", gates=2, state="marked")
    folder = contents(BatchFacts.of(facts.whole()), [("batch_report", "knowledge/x/batch_report.md", "# report\n")])
    assert {name: run for name, run in folder.links.items() if name.startswith("runs/")} == {
        f"runs/{run}": run for run in (run_id(1), run_id(2))
    }
    assert folder.files["batch_report.md"] == b"# report\n"
