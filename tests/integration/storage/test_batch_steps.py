"""One step of a batch on the real database: what a halt does to documents that do not move, or hold what it needs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import uuid_utils

from activities.batch.advance import _step, steer_batch
from activities.batch.documents import keep_up
from cutter import limits
from cutter.batch import batch_step, ways
from cutter.batch.item import Outcome
from cutter.catalogue import WorkerRole
from cutter.kb.store import Store
from cutter.messages import BatchStep, SteerInput
from cutter.projections.batch_folder import PAGE, STATE, TRANSITIONS, keep_beside, read_contents
from cutter.projections.run_folder import find_batch, keep_queue
from cutter.storage import batch_views
from cutter.storage import batches as batch_rows
from tests.support.batch import queue_yaml
from tests.support.database import OWNER
from tests.support.runs import Deployment, drive, law

AGE = "update cutter_governance.batch set halted_at = halted_at - %s * interval '1 second'"


@pytest.fixture
def batch_id(deployment: Deployment) -> str:
    """A batch of two whose runs are registered; no workflow drives them."""
    names = [deployment.register(law(2), document_id=f"ICX-{n}") for n in (1, 2)]
    batch_id = str(uuid_utils.uuid7())
    with deployment.database.connect("cutter_operator") as connection:
        options = batch_rows.Options()
        admitted = batch_rows.admit(
            connection, queue_yaml([{"document_id": name} for name in names], batch_id), options
        )
        batch_rows.register(connection, admitted, options, run_caps={"hard_seconds": 60.0}, starter="olga")
    assert {start.document_id for start in step(deployment, batch_id).starts} == set(names)
    return batch_id


def step(deployment: Deployment, batch_id: str) -> BatchStep:
    return steer_batch(deployment.deps[WorkerRole.CUTTER], SteerInput(batch_id=batch_id))


def halt(deployment: Deployment, batch_id: str, kind: str | None) -> None:
    deployment.database.value(
        "select cutter_governance.fn_batch_halt(%s, %s, 'late')", (batch_id, kind), role="cutter_operator"
    )


def test_over_its_cap_a_batch_ends_and_reports_although_no_document_heeds_the_stop(
    deployment: Deployment, batch_id: str
) -> None:
    halt(deployment, batch_id, "hard_cap")
    progress = step(deployment, batch_id)
    assert (len(progress.stops), progress.over, progress.report) == (2, False, "")
    deployment.database.run(AGE, (batch_step.HEARD_BY_SECONDS,))
    ended = step(deployment, batch_id)
    assert (ended.over, ended.state, ended.totals) == (True, "batch_failed_partial", {"planning": 2})
    report = Store(deployment.settings.kb).get(ended.report).decode()
    assert report.count("| planning | pending |") == report.count("`cutter reconcile`") == 2
    assert deployment.database.value("select ended_at is not null from cutter_governance.batch")
    halt(deployment, batch_id, None)
    with deployment.database.connect("cutter_operator") as connection:
        view = batch_views.view(connection, batch_id)
    assert view.halted_seconds is None, "what goes on has its whole time again"
    assert ways.next_command(view, batch_step.summarise(view, attended=True)).startswith(
        "cutter orchestrate resume-batch"
    )


def test_a_law_is_law_by_its_receipt_whatever_became_of_its_run_behind_that(deployment: Deployment) -> None:
    driven = drive(deployment, law(2), until="IG_lifecycle_enact_execute")
    deployment.database.run(
        "select cutter_governance.fn_run_move(%s, 'failed_closeout', 'a test')", (driven.run_id,), role=OWNER
    )
    run_id = deployment.begin(driven.document_id)
    again = deployment.gate("IG_source_pin", run_id)
    assert (again.status, again.code) == ("skipped", "already_enacted")
    deployment.database.run("select cutter_governance.fn_run_outcome(%s, 'skipped')", (run_id,))
    batch_id = str(uuid_utils.uuid7())
    queue = queue_yaml([{"document_id": driven.document_id}], batch_id)
    with deployment.database.connect("cutter_operator") as connection:
        admitted = batch_rows.admit(connection, queue, batch_rows.Options(skip_completed=True))
        assert admitted.law_by == {driven.document_id: driven.run_id}
        assert [item.outcome for item in admitted.items] == [Outcome.SKIPPED]
        batch_rows.register(connection, admitted, batch_rows.Options(), run_caps={"hard_seconds": 60.0}, starter="olga")
    deployment.database.run("update cutter_governance.batch_item set kept_out = true")
    deployment.database.run(
        "update cutter_governance.run set batch_id = %s where run_id = %s", (batch_id, driven.run_id)
    )
    with deployment.database.connect("cutter_operator") as connection:
        view = batch_views.view(connection, batch_id)
    (entry,) = view.items
    assert (entry.run_id, entry.enacted, entry.kept_out) == (driven.run_id, True, False)
    assert batch_step.items_of(view)[0].stands


def test_a_gate_that_holds_its_latch_keeps_back_neither_the_halt_nor_the_others(
    deployment: Deployment, batch_id: str
) -> None:
    """Such as a write of minutes: its own document is told, and latched as soon as the gate is over."""
    halt(deployment, batch_id, "stop")
    with deployment.database.connect(OWNER) as gate:
        gate.execute("set idle_in_transaction_session_timeout = 0")
        gate.execute("select 1 from cutter_governance.stop_latch where run_id = %s for share", (run_of(deployment, 1),))
        progress = step(deployment, batch_id)
        assert [stop.document_id for stop in progress.stops] == ["ICX-1", "ICX-2"]
        assert latched(deployment) == {"ICX-1": False, "ICX-2": True}
        assert look(deployment, batch_id, progress).stops == (), "not again and again"
        named = look(deployment, batch_id, progress, again=True)
        assert [stop.document_id for stop in named.stops] == ["ICX-1", "ICX-2"]
        gate.rollback()
    assert [stop.document_id for stop in look(deployment, batch_id, progress).stops] == ["ICX-1"]
    assert latched(deployment) == {"ICX-1": True, "ICX-2": True}


def test_a_step_that_people_asked_for_reads_what_nobody_named(deployment: Deployment, batch_id: str) -> None:
    progress = step(deployment, batch_id)
    deployment.database.run("update cutter_governance.run set outcome = 'skipped'")
    assert look(deployment, batch_id, progress).totals == progress.totals, "an outcome alone is not named"
    assert step(deployment, batch_id).totals == {"settled": 2, "skipped": 2}


def test_a_batch_that_seems_over_is_read_as_a_whole_first(deployment: Deployment, batch_id: str) -> None:
    database = deployment.database
    database.run("update cutter_governance.run set outcome = 'skipped' where document_id = 'ICX-2'")
    progress = step(deployment, batch_id)
    assert progress.totals == {"planning": 1, "settled": 1, "skipped": 1}
    # An outcome alone is not named, so the view still has the old one.
    database.run("update cutter_governance.run set outcome = null where document_id = 'ICX-2'")
    database.run(
        "update cutter_governance.run set state = 'failed_source_pin', ended_at = clock_timestamp()"
        " where document_id = 'ICX-1'"
    )
    for _ in range(3):
        progress = look(deployment, batch_id, progress)
    assert (progress.over, progress.totals["planning"], progress.totals["failed"]) == (False, 1, 1)


def test_the_folder_of_a_large_batch_lacks_only_what_needs_the_history(
    deployment: Deployment, batch_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with deployment.database.connect("cutter_operator") as connection:
        whole, queue = read_contents(connection, batch_id)
        monkeypatch.setattr(limits, "BATCH_HISTORY_DOCUMENTS_MAX", 1)
        few, same_queue = read_contents(connection, batch_id)
    assert set(whole.files) - set(few.files) == {TRANSITIONS, PAGE}
    assert few.files == {name: whole.files[name] for name in few.files}
    assert (few.links, same_queue) == (whole.links, queue)


def test_the_folder_of_a_large_batch_needs_no_look_of_its_own(
    deployment: Deployment, batch_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BATCH_HISTORY_DOCUMENTS_MAX", 1)
    deps = deployment.deps[WorkerRole.CUTTER]
    with deployment.database.connect("cutter_operator") as connection:
        view = batch_views.in_parts(connection, batch_id)
        whole, _ = read_contents(connection, batch_id)
    monkeypatch.setattr(batch_views, "in_parts", unreachable)
    state = find_batch(deps.settings.batches, batch_id) / STATE
    state.unlink()
    keep_up(deps, view, news=True)
    assert state.read_bytes() == whole.files[STATE]


def test_the_folder_of_a_large_batch_knows_an_end_after_the_look(
    deployment: Deployment, batch_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look moves the batch after it has read it."""
    monkeypatch.setattr(limits, "BATCH_HISTORY_DOCUMENTS_MAX", 1)
    with deployment.database.connect("cutter_operator") as connection:
        view = batch_views.in_parts(connection, batch_id)
    deployment.database.value(
        "select cutter_governance.fn_batch_move(%s, 'batch_voided', 'items')", (batch_id,), role="cutter_read"
    )
    with deployment.database.connect("cutter_operator") as connection:
        contents, _ = read_contents(connection, batch_id, view)
    shown = json.loads(contents.files[STATE])
    assert (contents.archived, shown["state"], shown["ended_utc"] is None) == (True, "batch_voided", False)


def unreachable(*_: object) -> None:
    pytest.fail("all items were read again")


def look(deployment: Deployment, batch_id: str, progress: BatchStep, *, again: bool = False) -> BatchStep:
    """One look, without waiting for a change."""
    deps = deployment.deps[WorkerRole.CUTTER]
    with deps.watches.watching(deps.settings, batch_id) as watch:
        return _step(deps, SteerInput(batch_id=batch_id, seen=progress.seen), watch, again=again)


def run_of(deployment: Deployment, number: int) -> str:
    return str(
        deployment.database.value(f"select run_id from cutter_governance.run where document_id = 'ICX-{number}'")
    )


def latched(deployment: Deployment) -> dict[str, bool]:
    latches: dict[str, bool] = deployment.database.value(
        "select jsonb_object_agg(document_id, stopped) from cutter_governance.run join cutter_governance.stop_latch"
        " using (run_id)"
    )
    return latches


def test_only_its_owner_reads_the_folder_of_a_batch_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        keep_queue(tmp_path / "batches", "b", b"queue")
        keep_beside(tmp_path / "batches" / "b", "SG1-pre-batched-approvals/X.md", b"statement")
    finally:
        os.umask(before)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "batches").rglob("*")}
    assert modes == {"b": "0o700", "queue.yaml": "0o600", "SG1-pre-batched-approvals": "0o700", "X.md": "0o600"}
