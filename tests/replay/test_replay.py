"""Every recorded history replays with today's workflow, sandbox on, and ends as it did."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from temporal.client import DATA_CONVERTER
from temporal.signal_guard import MessageGuard
from tests.replay.record import HISTORIES, expectation
from tests.support.clock_workflow import ClockWorkflow
from tests.support.sandbox import sandbox
from workflows.batch import Batch
from workflows.document_run import DocumentRun
from workflows.short_workflows import RevokeApproval, VoidRun

NAMES = sorted(path.name.removesuffix(".json.gz") for path in HISTORIES.glob("*.json.gz"))
HISTORIES_MIN = 57


def load(name: str) -> tuple[WorkflowHistory, dict[str, object]]:
    expected = json.loads((HISTORIES / f"{name}.expected.json").read_text(encoding="utf-8"))
    text = gzip.decompress((HISTORIES / f"{name}.json.gz").read_bytes()).decode()
    return WorkflowHistory.from_json(str(expected["workflow_id"]), text), expected


def replayer() -> Replayer:
    return Replayer(
        workflows=[DocumentRun, VoidRun, RevokeApproval, Batch], data_converter=DATA_CONVERTER,
        workflow_runner=sandbox(), interceptors=[MessageGuard()],
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
async def test_the_history_replays_and_is_what_its_name_says(name: str) -> None:
    history, expected = load(name)
    await replayer().replay_workflow(history, raise_on_replay_failure=True)
    assert {key: expected[key] for key in expectation(history)} == expectation(history)


def test_the_corpus_is_whole() -> None:
    assert len(NAMES) >= HISTORIES_MIN
    kept = {path.name.split(".")[0] for path in Path(HISTORIES).iterdir()}
    assert kept == set(NAMES)


async def test_a_history_with_another_activity_does_not_replay() -> None:
    """The control: a corpus that replays whatever it holds proves nothing."""
    history, _ = load("clean")
    text = json.dumps(json.loads(history.to_json())).replace("IG_cutplan", "IG_mark")
    changed = WorkflowHistory.from_json(history.workflow_id, text)
    with pytest.raises(NondeterminismError):
        await replayer().replay_workflow(changed, raise_on_replay_failure=True)


@pytest.mark.parametrize("name", NAMES)
def test_no_history_holds_law_text_or_a_secret(name: str) -> None:
    history, _ = load(name)
    text = history.to_json()
    for forbidden in ("Article 1. Scope", "BEGIN PGP", "postgresql://", "password"):
        assert forbidden not in text


async def test_the_sandbox_refuses_another_clock() -> None:
    """The control: workers run without a sandbox, so the replay must find such a call."""
    history, _ = load("clean")
    strict = Replayer(workflows=[ClockWorkflow], data_converter=DATA_CONVERTER, workflow_runner=sandbox())
    with pytest.raises(RuntimeError, match=r"time\.time"):
        await strict.replay_workflow(history, raise_on_replay_failure=True)
