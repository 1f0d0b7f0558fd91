"""What the workflows command is committed: a change of it is a deliberate one, since open runs replay the new code.

The fingerprint is read from the recorded history of a clean run: the kinds of its commands in order, activities and
timers by name. When it changes on purpose, record the histories again (`python -m tests.replay.record`), which writes
the new fingerprint too.
"""

from __future__ import annotations

import ast
import gzip
import json
from pathlib import Path

from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory

from activities.registry import BATCH_FUNCTIONS, CONTROL_FUNCTIONS, GATE_FUNCTIONS
from cutter.catalogue import GATES, WorkerRole

ROOT = Path(__file__).resolve().parents[2]
HISTORIES = ROOT / "tests" / "replay" / "histories"
COMMITTED = Path(__file__).with_name("workflow_fingerprints.json")
RECORDED = {
    "DocumentRun": "clean", "DocumentRun dryrun": "dryrun_rehearsed", "VoidRun": "void_workflow",
    "RevokeApproval": "revoke_workflow",
}  # fmt: skip

COMMANDS = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: "activity",
    EventType.EVENT_TYPE_TIMER_STARTED: "timer",
    EventType.EVENT_TYPE_TIMER_CANCELED: "timer cancelled",
    EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: "search attributes",
    EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED: "signal",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: "completed",
}


def fingerprint(name: str) -> list[str]:
    """The commands of a recorded history, in order."""
    text = gzip.decompress((HISTORIES / f"{name}.json.gz").read_bytes()).decode()
    commands = []
    for event in WorkflowHistory.from_json(name, text).events:
        kind = COMMANDS.get(event.event_type)
        if kind == "activity":
            scheduled = event.activity_task_scheduled_event_attributes
            kind = f"activity {scheduled.activity_type.name} on {scheduled.task_queue.name}"
        if kind is not None:
            commands.append(kind)
    return commands


def fingerprints() -> dict[str, list[str]]:
    return {workflow: fingerprint(name) for workflow, name in RECORDED.items()}


def write() -> None:
    """Commit to what the recorded histories command now."""
    COMMITTED.write_text(json.dumps(fingerprints(), indent=1) + "\n", encoding="utf-8")


def test_the_commands_of_the_workflows_are_those_that_were_committed() -> None:
    """Seed 002 "Migration Notes"."""
    assert fingerprints() == json.loads(COMMITTED.read_text(encoding="utf-8"))


def test_a_clean_run_schedules_each_gate_once_in_the_catalogues_order() -> None:
    scheduled = [entry.split(" ")[1] for entry in fingerprint("clean") if entry.startswith("activity IG_")]
    assert scheduled == [gate.name for gate in GATES]


def test_each_gate_has_its_activity_and_no_other_is_registered_as_one() -> None:
    assert list(GATE_FUNCTIONS) == [gate.name for gate in GATES]
    assert set(CONTROL_FUNCTIONS) == set(WorkerRole)
    names = [function.__name__ for functions in CONTROL_FUNCTIONS.values() for function in functions]
    assert len(names) == len(set(names))
    assert not set(names) & set(GATE_FUNCTIONS)


def test_every_activity_that_a_workflow_names_is_registered() -> None:
    functions = [function for functions in CONTROL_FUNCTIONS.values() for function in functions]
    registered = {function.__name__ for function in (*functions, *BATCH_FUNCTIONS)}
    named = set()
    for path in (ROOT / "workflows").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in ("call", "call_activity", "_ask") and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    named.add(first.value)
    assert named == registered


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_no_gate_function_is_an_activity_by_itself() -> None:
    """They become activities in `build_activities`, with heartbeats and translated errors around them."""
    controls = (f for fs in CONTROL_FUNCTIONS.values() for f in fs)
    for function in (*GATE_FUNCTIONS.values(), *controls, *BATCH_FUNCTIONS):
        assert activity._Definition.from_callable(function) is None
