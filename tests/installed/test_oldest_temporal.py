"""The demo, and a run that is stopped, resumed and reset, on the oldest supported Temporal server (`make nightly`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cutter.stack import temporal
from cutter.types import Json
from cutter.versions import TEMPORAL_MIN, text
from tests.support.laws import law
from tests.support.processes import ROOT, Stack, stack, wait

LOCK = Path(__file__).with_name("oldest-temporal.lock")
DOCUMENT = "ICX-LAW-2026-001"
CUT, LIFECYCLE, ENDED = "awaiting_cut_authorization", "awaiting_lifecycle_authorization", "closeout_reported"
WRITTEN = "select count(*) from public.unit_version"


@pytest.fixture(autouse=True)
def oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH begins with the program of the oldest server, so cutter takes this one."""
    uv = Path(sys.executable).with_name("uv")
    subprocess.run(
        [uv, "--quiet", "pip", "install", "--python", sys.executable, "--target", tmp_path, "--require-hashes",
         "-r", LOCK], cwd=ROOT, check=True,
    )  # fmt: skip
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    resolution = temporal.resolve(address=None)
    assert resolution.how is temporal.How.PATH
    assert resolution.version.startswith(f"Server {text(TEMPORAL_MIN)}.")


def test_the_demo_cuts_a_law_a_batch_and_an_amendment() -> None:
    with stack("od") as alone:
        done = alone.cutter("demo")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "state: closeout_reported" in done.stdout
    assert "batch state: batch_closeout · enacted 3 · settled 3" in done.stdout
    assert "amended law" in done.stdout


def test_a_run_that_was_stopped_and_resumed_is_enacted_and_a_reset_changes_nothing() -> None:
    with stack("os") as made:
        made.up()
        made.approver()
        made.add(DOCUMENT, law(3))
        run_id = made.json("run", DOCUMENT, "--wait", code=3)["run_id"]
        made.cutter("stop", DOCUMENT, "--reason", "to resume it")
        _until(made, run_id, "stopped_stop")
        home = str(made.state / "demo" / "gpg")
        signed = made.cutter("approve", run_id, "--decision", "resume", "--reason", "go on", "--yes",
                             "--gpg-home", home)  # fmt: skip
        assert signed.returncode == 0, signed.stderr[-2000:]
        for state in (CUT, LIFECYCLE):
            _until(made, run_id, state)
            made.signal(DOCUMENT, made.approve(run_id))
        _until(made, run_id, ENDED)
        written = made.value(WRITTEN)
        first = _execution(made)["runId"]
        made.temporal(
            *("workflow", "reset", "-w", f"document/{DOCUMENT}", "--type", "FirstWorkflowTask", "--reason", "a try")
        )
        assert _execution(made)["runId"] != first
        wait(lambda: made.json_of_workflow(DOCUMENT)["workflowExecutionInfo"]["status"].endswith("COMPLETED"),
             seconds=90, what="the end of the reset execution")  # fmt: skip
        assert made.value(WRITTEN) == written
        assert made.state_of(run_id) == ENDED


def _until(made: Stack, run_id: str, state: str) -> None:
    wait(lambda: made.waits_in(run_id) == state, seconds=90, what=f"{run_id} in {state}")


def _execution(made: Stack) -> Json:
    execution: Json = made.json_of_workflow(DOCUMENT)["workflowExecutionInfo"]["execution"]
    return execution
