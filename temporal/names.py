"""Orchestration: task queues, workflow ids, retry policies, search attributes."""

from __future__ import annotations

from dataclasses import replace

from temporalio.common import Priority, RetryPolicy, SearchAttributeKey

from cutter.catalogue import WorkerRole
from cutter.domain.task_priority import Urgency

TASK_QUEUES = {role: f"cutter-{role.value}" for role in WorkerRole}
"""One task queue for each worker role. The workflows run on the queue of the cutter role."""

WORKFLOW_QUEUE = TASK_QUEUES[WorkerRole.CUTTER]

BATCH_QUEUE = "cutter-batch"
"""The task queue for activities of batches. Some of them wait long and must not take the slots of gates."""

DEPLOYMENT = "cutter"
"""The worker deployment. If builds are pinned, each build is one of its versions."""

DOCUMENT_RUN = "DocumentRun"
BATCH = "Batch"
VOID_RUN = "VoidRun"
REVOKE_APPROVAL = "RevokeApproval"
RECONCILE = "Reconcile"
RECONCILE_SCHEDULE = "cutter-reconcile"

ONCE = RetryPolicy(maximum_attempts=1)
"""Temporal retries nothing. The workflow itself retries, so that each retry is a visible row with its reason."""

STATE = SearchAttributeKey.for_keyword("CutterState")
GATE = SearchAttributeKey.for_keyword("CutterGate")
DOCUMENT_ID = SearchAttributeKey.for_keyword("CutterDocumentId")
BATCH_ID = SearchAttributeKey.for_keyword("CutterBatchId")
MODE = SearchAttributeKey.for_keyword("CutterMode")
QUEUE = SearchAttributeKey.for_keyword("CutterQueue")
GATE_EXPIRES = SearchAttributeKey.for_datetime("CutterGateExpires")
CANDIDATES = SearchAttributeKey.for_int("CutterCandidates")
PROGRESS = SearchAttributeKey.for_keyword("CutterProgress")

SEARCH_ATTRIBUTES = (STATE, GATE, DOCUMENT_ID, BATCH_ID, MODE, QUEUE, GATE_EXPIRES, CANDIDATES, PROGRESS)
"""A namespace with SQL visibility has room for ten keywords and three integers, and other programs may need some."""

SEARCH_ATTRIBUTE_TYPES = {key.name: key.indexed_value_type.name.title() for key in SEARCH_ATTRIBUTES}
"""The type of each search attribute by its name, as the tools of Temporal write it."""


def priority(urgency: Urgency, tenant: str = "", weight: float = 1.0) -> Priority:
    """The priority of a workflow's tasks in a task queue, and of the tasks of its children and activities.

    More urgent tasks come first. For equal urgency the tenants take turns by their weights. An empty tenant means that
    the workflow belongs to none.
    """
    if not tenant:
        return Priority(priority_key=urgency)
    return Priority(priority_key=urgency, fairness_key=tenant, fairness_weight=weight)


def sooner(before: Priority, urgency: Urgency) -> Priority:
    """The priority of the same tenant with another urgency."""
    return replace(before, priority_key=urgency)


def document_workflow_id(document_id: str) -> str:
    """The id of a document's workflow. Because it names the document, the server refuses a second open run of it."""
    return f"document/{document_id}"


def batch_workflow_id(batch_id: str) -> str:
    """The id of the parent workflow of a batch."""
    return f"batch/{batch_id}"


def void_workflow_id(run_id: str) -> str:
    """The id of the short workflow that voids one run."""
    return f"void/{run_id}"


def revoke_workflow_id(approval_sha256: str) -> str:
    """The id of the short workflow that revokes one approval."""
    return f"revoke/{approval_sha256}"
