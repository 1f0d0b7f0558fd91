"""Pure: the page of the lifecycles: diagrams, extensions, views, events and what a file of them is held to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from cutter.catalogue import GATES, State
from cutter.lifecycle.declarations import LIFECYCLES, TASKS_FAILED, Lifecycle, Rule
from cutter.lifecycle.events import FIELDS, SEVERITIES
from cutter.lifecycle.views import Activity, RunFacts, request_status, run_status, task_state

TITLES = {
    "document_run": "Document run",
    "batch": "Batch",
    "request": "Request",
    "run": "Run",
    "step": "Step",
    "approval": "Approval",
    "task": "Task",
    "workstream": "Workstream",
    "worker": "Worker",
}

HEAD = """
Each run and each batch has one authoritative state and several views of this state. Gates, database functions and
workflows decide about the steps of a run or a batch. The tables on this page show the legal transitions, which
`cutter/lifecycle/lifecycles.toml` declares. `IllegalTransition` names the source, the target and the allowed targets.
Terminal states never change, except by the extensions below.

The database has the states of runs, batches, approvals and workers as rows. These are views:

- A **request** is one continuous attempt to move a run, `<run id>#<n>`. A resume after the last retry begins the next
  request.
- A **run** and its **steps** are the document run and its gates in the words of seed 003.
- A **task** is the same run in the words of seed 004.
- A **workstream** is one continuous attempt at a batch's queue file, `<batch id>#<n>`. Its tasks are the runs that were
  registered in it.

`cutter status RUN --as request|run|task` and `cutter status BATCH --as workstream` show them.
""".strip()

FACTS = (
    ("accepted, not started", RunFacts()),
    ("a gate runs", RunFacts(begun=True, queued=False, activity=Activity.RUNNING)),
    ("waits to retry a dependency", RunFacts(begun=True, queued=False, activity=Activity.RETRYING)),
    ("waits at a sovereign gate",
     RunFacts(begun=True, queued=False, asked=True, state=State.AWAITING_CUT_AUTHORIZATION.value)),
    ("the closeout runs",
     RunFacts(begun=True, queued=False, passed=len(GATES) - 1, validating=True, activity=Activity.RUNNING)),
    ("`closeout_reported`", RunFacts(begun=True, queued=False, passed=11, state=State.CLOSEOUT_REPORTED.value)),
    ("failed, rejected, denied by policy", RunFacts(begun=True, queued=False, state="failed_mark", failed=True)),
    ("retries used up (`stopped_unavailable_*`)",
     RunFacts(begun=True, queued=False, state="stopped_unavailable_kb", exhausted=True)),
    ("resumed after that, no gate begun yet", RunFacts(begun=True, queued=True, request=2)),
    ("stopped by a person, drift, expiry, a cap or a flood",
     RunFacts(begun=True, queued=False, state="stopped_stop")),
    ("voided", RunFacts(begun=True, queued=False, state="voided_cancelled")),
    ("voided after it had failed", RunFacts(begun=True, queued=False, state="voided_x", failed=True)),
    ("the end of a rehearsal, or of a run of an enacted law", RunFacts(begun=True, queued=False, outcome="rehearsed")),
)  # fmt: skip

METADATA = (
    ("document_run", "–", "no_skipped_gate", "a stopped run continues from the state of its last sealed gate"),
    ("document_run", "–", "enacted_law_is_never_voided", "no void after `lifecycle_enacted`"),
    ("task", "`worker_id`", "worker_assignment, capacity_limit",
     "only while it runs, and the same until it leaves `running`; an unresponsive or closed worker has none"),
    ("task", "`retry_count`, `max_retries`, `retryable`", "retry_limit",
     "0 ≤ retry_count ≤ max_retries; `running → retrying` needs one left; `running → failed` none, unless it has "
     "`\"retryable\": false`"),
    ("task", "`created_at`, `started_at`, `completed_at`", "timestamp_ordering", "in this order"),
    ("task", "`dependencies` or `depends_on`", "dependency_satisfaction",
     "`pending → queued` when each of these tasks is `completed`"),
    ("task", "`workstream_id`, `critical`, `replaces`", "those of the workstream",
     "whose task it is; a task that another one replaces does not count"),
    ("workstream", "–", "task_state_consistency", "`validating` only when every task of it is `completed`"),
    ("workstream", "–", "completion_requirement", "`completed` only when every task of it is"),
    ("workstream", "–", "failure_propagation", "never `completed` when a critical task failed"),
    ("workstream", "`archived`", "archive_preservation", "a failed one is kept: not `false`"),
    ("worker", "`task_count` or `active_tasks`, `max_concurrent_tasks`", "capacity_limit",
     "a busy worker has at most so many, an idle one none"),
    ("worker", "`heartbeat_at` or `last_heartbeat_at`", "health_monitoring",
     "none between leaving `idle` or `busy` and the event"),
    ("worker", "`task_count` or `active_tasks`", "graceful_shutdown",
     "no task runs when it leaves, unless it was unresponsive"),
    ("worker", "`held_resources`", "resource_cleanup", "empty when it leaves"),
    ("run, step", "`run_id` of steps; `steps`, `steps_succeeded` of runs", "succeeded_iff_every_step",
     "a run is `succeeded` if and only if every step of it is"),
)  # fmt: skip
"""Entity, keys, the findings' names, the rule."""

EVENTS = f"""
Every transition is one event: one JSON object on a line, with exactly these fields:
{", ".join(f"`{field}`" for field in FIELDS)}.

- `timestamp` is RFC 3339 with a zone.
- `event_type` is `<lifecycle>_state_transition`.
- `severity` is one of {", ".join(SEVERITIES)}. A retry, a stop or a cancel is a warning. A failure is an error, and the
  failure of a workstream is critical.
- `entity_id` names the entity within its lifecycle.
- `metadata` is an object. In an event of a view, its field `cause` has the recorded change that caused the event.
- `duration_seconds` is the time that the entity was in the state that it leaves. The files of runs and batches have it
  for views, and `cutter transitions export` has it for every entity.
- In a task, `started_by_worker` names the worker that started it. `worker_id` is in the steps, because each step has
  its own worker.

A workstream fails with the trigger `critical_task_failed` if a critical task failed. Under the failure policy `strict`,
every task is critical. `{TASKS_FAILED}` is ours. Under the other failure policies a batch can end without a critical
failure, when nothing runs and a task did not complete. The seed's derivation would leave it in `executing` without end.

`transitions.jsonl` in a run's folder has the transitions of the document run, its request, run, steps, task and
approvals. In a batch's folder it has those of the batch, its workstreams and its tasks. Both are projections: `cutter
rebuild` makes the same bytes. The audit chain also has the transitions of document runs, batches, approvals and
workers.

`cutter verify FILE` and `scripts/validate/validate_state_transitions.py FILE` check such files, from
cutter and from other programs. `-` reads standard input. Each finding has its line and its name. The check needs
constant memory. It refuses an empty file, because its name may be a mistake, or its content may be lost. An empty line
is a finding.

- `schema`: the fields and their kinds, no repeated key, at most 1 MiB a line.
- `transition`, `monotonic_progress`: the lifecycle allows the transition, and no event leaves a terminal state.
- `single_active_state`: an event begins in the state in which the entity's last event ended.
- `first_transition`: an entity's first event begins in the first state of its lifecycle.
- `last_transition`: an entity ends together with its owner. A request, a task and the steps end with their run. A run
  and its document run end with each other. A workstream ends with its batch.
- `trigger`: the transition's own trigger, or a word that `cutter/lifecycle` declares for it.
- `severity`: as the seed asks. A retried task is a warning. A failed task and a worker that does not answer are errors.
  A failed workstream is critical.
- `monotonic_timestamps`: no event is earlier than the one before it.
- The invariants below, if the metadata carry the needed values.
""".strip()


def page(made: str) -> str:
    """The whole page. `made` is the sentence about the maker of the page."""
    parts = ["# Lifecycles", "", made, "", HEAD, "", "## What each view says", "", *_views(), ""]
    for lifecycle in LIFECYCLES:
        parts += [f"## {TITLES[lifecycle.name]}", "", f"Seed {lifecycle.seed}.", "", *diagram(lifecycle), ""]
    parts += ["## Extensions", "", "Transitions that a seed's own text needs and its diagram lacks.", "",
              "| lifecycle | from | to | reason |", "| --- | --- | --- | --- |", *_extensions(), "",
              "## Events", "", EVENTS, "", "| of | metadata | finding | rule |", "| --- | --- | --- | --- |",
              *(f"| {' | '.join(row)} |" for row in METADATA), ""]  # fmt: skip
    return "\n".join(parts)


def _views() -> Iterator[str]:
    yield "| the document run | request (002) | run (003) | task (004) |"
    yield "| --- | --- | --- | --- |"
    for name, facts in FACTS:
        flag = ", flagged stopped" if facts.stopped else ""
        yield f"| {name} | {request_status(facts)} | {run_status(facts)} | {task_state(facts)}{flag} |"


def diagram(lifecycle: Lifecycle) -> Iterator[str]:
    """A mermaid state diagram; what leads from or to many states is drawn once, from or to their common name."""
    yield "```mermaid"
    yield "stateDiagram-v2"
    for state in lifecycle.states:
        if state.endswith(">"):
            yield f'    state "{state.replace("<", "‹").replace(">", "›")}" as {_node(state)}'
    groups = dict.fromkeys(name for rule in lifecycle.rules for name in (rule.whence, rule.whither) if name)
    for name in groups:
        yield f'    state "{name}" as {_node(name)}'
    yield f"    [*] --> {_node(lifecycle.initial)}"
    for rule in lifecycle.rules:
        yield from _arrows(rule)
    for state in lifecycle.terminal:
        yield f"    {_node(state)} --> [*]"
    yield "```"


def _arrows(rule: Rule) -> Iterator[str]:
    label = f"{rule.trigger} (extension)" if rule.extension else rule.trigger
    for source in (rule.whence,) if rule.whence else rule.sources:
        for target in (rule.whither,) if rule.whither else rule.targets:
            yield f"    {_node(source)} --> {_node(target)}: {label}"


def _node(name: str) -> str:
    return name.replace("<", "").replace(">", "").replace(" ", "_").replace("-", "_")


def _extensions() -> Iterator[str]:
    """One row a lifecycle and reason, with each transition in it."""
    for lifecycle in LIFECYCLES:
        for reason, edges in groupby(
            sorted(lifecycle.extensions, key=lambda extension: extension[2]), key=lambda extension: extension[2]
        ):
            pairs = list(edges)
            sources = ", ".join(dict.fromkeys(f"`{source}`" for source, _, _ in pairs))
            targets = ", ".join(dict.fromkeys(f"`{target}`" for _, target, _ in pairs))
            yield f"| {lifecycle.name} | {sources} | {targets} | {reason} |"
