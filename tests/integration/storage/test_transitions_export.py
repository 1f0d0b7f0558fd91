"""Every transition of a database as one stream: whole, in order, and valid by our own check."""

from __future__ import annotations

import io
import json
import tracemalloc
from contextlib import closing
from dataclasses import asdict
from typing import Any

import pytest
import uuid_utils
from psycopg import IsolationLevel

from activities.batch.advance import steer_batch
from activities.run.approval_requests import end_request
from activities.run.course import escalate, void_run
from cutter import limits
from cutter.approvals import schema
from cutter.batch.view import BatchFacts
from cutter.catalogue import Sovereign, WorkerRole
from cutter.lifecycle.declarations import TASK
from cutter.lifecycle.events import Event, lines, read
from cutter.lifecycle.history import batch_events, run_events
from cutter.lifecycle.validation import Validation
from cutter.messages import EndRequestInput, EscalateInput, SteerInput, VoidInput
from cutter.projections.transitions_corpus import Follower, Spool, gathered
from cutter.projections.transitions_file import check
from cutter.storage import batches as batch_rows
from cutter.storage import runs as run_rows
from cutter.storage.records import query
from cutter.storage.runs import caps_of
from starter.commands.audit import _snapshot
from tests.support.batch import queue_yaml
from tests.support.runs import Deployment, drive, law

BEAT = "select cutter_governance.fn_worker_beat(%s, 'build', 10, '[]', %s)"


def worker(deployment: Deployment, name: str, *states: str) -> None:
    for state in states:
        deployment.database.value(BEAT, (name, state), role="cutter_exec")


def rejected(deployment: Deployment) -> str:
    run_id = drive(deployment, law(2), until="IG_write_verify").run_id
    _, verdict = deployment.approve(run_id, Sovereign.LIFECYCLE, decision=schema.REJECT)
    order = EndRequestInput(
        run_id=run_id, gate=Sovereign.LIFECYCLE.value, status="rejected", approval_sha256=verdict.approval_sha256
    )
    end_request(deployment.deps[WorkerRole.CUTTER], order)
    return run_id


def voided(deployment: Deployment) -> str:
    """Stopped by its cap while it waited for people, then voided."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    deployment.request(run_id, Sovereign.CUT)
    stop = EscalateInput(run_id=run_id, state="stopped_hard_cap", reason="too slow", gate="")
    escalate(deployment.deps[WorkerRole.CUTTER], stop)
    kb_id, gate = deployment.sign_order(run_id, schema.VOID)
    assert deployment.judge(run_id, gate, kb_id).accepted
    assert void_run(deployment.deps[WorkerRole.EXEC], VoidInput(run_id=run_id, kb_id=kb_id)).code == "voided"
    return run_id


def batch(deployment: Deployment) -> str:
    """One of two documents enacted, the other one still pending."""
    names = [deployment.register(law(2), document_id=f"ICX-{n}") for n in (1, 2)]
    batch_id = str(uuid_utils.uuid7())
    with deployment.database.connect("cutter_operator") as connection:
        options = batch_rows.Options()
        admitted = batch_rows.admit(
            connection, queue_yaml([{"document_id": name} for name in names], batch_id), options
        )
        batch_rows.register(
            connection, admitted, options, run_caps=asdict(caps_of(deployment.settings)), starter="olga"
        )
    starts = steer_batch(deployment.deps[WorkerRole.CUTTER], SteerInput(batch_id=batch_id)).starts
    first = next(start for start in starts if start.document_id == names[0])
    drive(deployment, run_id=first.run_id, document_id=names[0])
    steer_batch(deployment.deps[WorkerRole.CUTTER], SteerInput(batch_id=batch_id))
    return batch_id


@pytest.fixture
def corpus(deployment: Deployment) -> Deployment:
    worker(deployment, "exec-1", "initializing", "idle", "busy")
    drive(deployment, law(2))
    worker(deployment, "exec-1", "idle", "shutdown")
    rejected(deployment)
    voided(deployment)
    batch(deployment)
    drive(deployment, law(2), until="IG_mark")
    return deployment


def exported(deployment: Deployment) -> list[str]:
    with _snapshot(deployment.settings) as connection:
        spool = gathered(connection)
    try:
        return list(spool.ordered())
    finally:
        spool.close()


def test_the_stream_of_everything_is_valid(corpus: Deployment) -> None:
    """Seed 004 "Event Schema", "Validation"."""
    stream = exported(corpus)
    validation = Validation()
    data = io.BytesIO("".join(f"{line}\n" for line in stream).encode())
    assert list(check(data, validation)) == []
    assert validation.events == len(stream)
    kinds = {json.loads(line)["event_type"].removesuffix("_state_transition") for line in stream}
    assert kinds == {
        "document_run", "batch", "request", "run", "step", "approval", "task", "workstream", "worker"
    }  # fmt: skip


def test_who_follows_the_stream_gets_each_transition_once_and_in_the_order_of_time(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 004 "Event Schema": one file that others follow."""
    monkeypatch.setattr(limits, "TRANSITIONS_MARGIN_SECONDS", 0)
    followed: list[str] = []
    with closing(Follower()) as follower:

        def look() -> int:
            with _snapshot(deployment.settings) as connection:
                lines_of_look = list(follower.look(connection))
            followed.extend(lines_of_look)
            return len(lines_of_look)

        worker(deployment, "exec-1", "initializing", "idle", "busy")
        run_id = drive(deployment, law(2), until="IG_mark").run_id
        assert look() > 0
        assert look() == 0, "nothing has changed"
        slow = deployment.database.value(
            "select cutter_governance.fn_gate_attempt(%s, 'IG_cutplan', 'slow', 60)", (run_id,), role="cutter_read"
        )
        assert slow["status"] == "registered", slow
        rejected(deployment)
        assert look() == 0, "the attempt may still commit a transition of an earlier time"
        drive(deployment, run_id=run_id, document_id="-", until="IG_cutplan")
        deployment.database.run("update cutter_governance.gate_attempt set lease_expires_at = started_at")
        batch(deployment)
        assert look() > 0
        voided(deployment)
        look()
    assert followed == exported(deployment)
    assert list(check(io.BytesIO("".join(f"{line}\n" for line in followed).encode()), Validation())) == []


def test_the_stream_holds_each_transition_of_each_run_batch_and_worker_once(corpus: Deployment) -> None:
    """Seed 004 "Event Schema"."""
    rows = corpus.database.value("select jsonb_agg(jsonb_build_array(run_id, batch_id)) from cutter_governance.run")
    expected: list[Event] = []
    with corpus.database.connect("cutter_operator") as connection:
        for run_id, batch_id in rows:
            events = run_events(run_rows.sidecar(corpus.settings, run_id))
            expected += [event for event in events if batch_id is None or event.event_type != TASK.event_type]
        for batch_id in {batch_id for _, batch_id in rows if batch_id}:
            row = connection.execute(query("batch_facts"), {"batch_id": batch_id, "history": True}).fetchone()
            assert row is not None
            expected += batch_events(BatchFacts.of(row[0]))
        workers = connection.execute("select body from cutter_governance.audit_event where chain = 'workers'")
        bodies = [json.loads(str(body)) for (body,) in workers]
    expected += [read(json.dumps({name: body[name] for name in Event.__slots__}).encode()) for body in bodies]
    stream = [read(line.encode()) for line in exported(corpus)]
    assert sorted(map(named, stream)) == sorted(map(named, expected))


def named(event: Event) -> tuple[Any, ...]:
    return (event.timestamp, event.event_type, event.entity_id, event.from_state, event.to_state, event.trigger)


def test_every_transition_but_a_first_one_says_how_long_its_entity_was_there(corpus: Deployment) -> None:
    """Seed 004 "Workstream Lifecycle" Transition Details."""
    entities: set[tuple[str, str]] = set()
    for line in exported(corpus):
        event = read(line.encode())
        if (event.event_type, event.entity_id) in entities:
            assert event.metadata["duration_seconds"] >= 0, line
        entities.add((event.event_type, event.entity_id))


def test_what_is_written_while_it_reads_is_not_in_it(deployment: Deployment) -> None:
    """One snapshot: else a batch could speak of runs that the stream lacks."""
    drive(deployment, law(2), until="IG_mark")
    before = exported(deployment)
    with deployment.database.connect("cutter_operator") as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.execute("select 1 from cutter_governance.run").fetchall()
        drive(deployment, law(2), until="IG_mark")
        spool = gathered(connection)
    assert list(spool.ordered()) == before
    assert len(exported(deployment)) > len(before)


def test_memory_does_not_grow_with_the_number_of_events() -> None:
    event = Event(timestamp="2026-11-21T09:00:00.000000Z", event_type=TASK.event_type, severity="info", entity_id="t",
                from_state="pending", to_state="queued", trigger="scheduler_assigned")  # fmt: skip
    spool = Spool()
    tracemalloc.start()
    try:
        for _ in range(20):
            spool.add(event for _ in range(1000))
        count = sum(1 for _ in spool.ordered())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 20_000
    assert peak < len(lines([event])) * 1000, "less than a twentieth of the text was held at once"
