"""Orchestration: task queues, workflow ids and their inverses, retry policies, search attributes."""

from __future__ import annotations

from temporalio.common import RetryPolicy, SearchAttributeKey

from cutter.gates.catalogue import WorkerRole

TASK_QUEUES = {role: f"cutter-{role.value}" for role in WorkerRole}
"""One task queue a worker role; the workflow itself runs on the cutter role's."""

WORKFLOW_QUEUE = TASK_QUEUES[WorkerRole.CUTTER]

DOCUMENT_RUN = "DocumentRun"
VOID_RUN = "VoidRun"

ONCE = RetryPolicy(maximum_attempts=1)
"""Retries are the workflow's own: each is a visible row with its reason, none is silent."""

STATE = SearchAttributeKey.for_keyword("CutterState")
GATE = SearchAttributeKey.for_keyword("CutterGate")
DOCUMENT_ID = SearchAttributeKey.for_keyword("CutterDocumentId")
BATCH_ID = SearchAttributeKey.for_keyword("CutterBatchId")
MODE = SearchAttributeKey.for_keyword("CutterMode")
QUEUE = SearchAttributeKey.for_keyword("CutterQueue")
GATE_EXPIRES = SearchAttributeKey.for_datetime("CutterGateExpires")
CANDIDATES = SearchAttributeKey.for_int("CutterCandidates")

SEARCH_ATTRIBUTES = (STATE, GATE, DOCUMENT_ID, BATCH_ID, MODE, QUEUE, GATE_EXPIRES, CANDIDATES)


def document_workflow_id(document_id: str) -> str:
    """The server refuses a second open run of one document, since its id is this."""
    return f"document/{document_id}"


def document_of(workflow_id: str) -> str:
    """Inverse of `document_workflow_id`."""
    return workflow_id.removeprefix("document/")


def void_workflow_id(run_id: str) -> str:
    """The short workflow that voids one run."""
    return f"void/{run_id}"
