"""Orchestration: task queues, workflow ids and their inverses, retry policies, search attributes."""

from __future__ import annotations

from dataclasses import replace

from temporalio.common import Priority, RetryPolicy, SearchAttributeKey

from cutter.catalogue import WorkerRole
from cutter.domain.task_priority import Urgency

TASK_QUEUES = {role: f"cutter-{role.value}" for role in WorkerRole}
"""One task queue a worker role; the workflow itself runs on the cutter role's."""

WORKFLOW_QUEUE = TASK_QUEUES[WorkerRole.CUTTER]

BATCH_QUEUE = "cutter-batch"
"""Activities of batches, some of which wait long: they must not hold the slots that gates need."""

DEPLOYMENT = "cutter"
"""The worker deployment whose versions are our builds, where builds are pinned."""

DOCUMENT_RUN = "DocumentRun"
BATCH = "Batch"
VOID_RUN = "VoidRun"
REVOKE_APPROVAL = "RevokeApproval"
BATCH_STARTER = "BatchStarter"
RECONCILE = "Reconcile"
RECONCILE_SCHEDULE = "cutter-reconcile"

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

ITEMS = SearchAttributeKey.for_int("CutterItems")
SETTLED = SearchAttributeKey.for_int("CutterSettled")

SEARCH_ATTRIBUTES = (
    STATE, GATE, DOCUMENT_ID, BATCH_ID, MODE, QUEUE, GATE_EXPIRES, CANDIDATES, ITEMS, SETTLED
)  # fmt: skip


def priority(urgency: Urgency, tenant: str = "", weight: float = 1.0) -> Priority:
    """The order of a workflow's tasks in a queue that is not empty, with those of its children and activities.

    First the more urgent ones, of equally urgent ones each tenant's in turn, by its weight. A workflow without a tenant
    is nobody's.
    """
    if not tenant:
        return Priority(priority_key=urgency)
    return Priority(priority_key=urgency, fairness_key=tenant, fairness_weight=weight)


def sooner(before: Priority, urgency: Urgency) -> Priority:
    """The same tenant's turn, at another urgency."""
    return replace(before, priority_key=urgency)


def document_workflow_id(document_id: str) -> str:
    """The server refuses a second open run of one document, since its id is this."""
    return f"document/{document_id}"


def document_of(workflow_id: str) -> str:
    """Inverse of `document_workflow_id`."""
    return workflow_id.removeprefix("document/")


def batch_workflow_id(batch_id: str) -> str:
    """The parent workflow of a batch."""
    return f"batch/{batch_id}"


def void_workflow_id(run_id: str) -> str:
    """The short workflow that voids one run."""
    return f"void/{run_id}"


def revoke_workflow_id(approval_sha256: str) -> str:
    """The short workflow that takes one approval back."""
    return f"revoke/{approval_sha256}"
