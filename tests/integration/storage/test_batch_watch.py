"""A worker's view of a batch between two steps: the changes that it hears, and what it reads again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import LiteralString

import psycopg
import pytest
import uuid_utils

from activities.worker import batch_watch
from activities.worker.batch_watch import Watch, Watches
from cutter import limits
from cutter.batch.view import BatchView
from cutter.catalogue import Role, WorkerRole
from cutter.errors import Unavailable
from cutter.stack.processes import until
from cutter.storage import batch_views
from cutter.storage import batches as batch_rows
from cutter.storage.runs import mint_run_id
from tests.support.batch import queue_yaml
from tests.support.database import OWNER
from tests.support.runs import Deployment, law

NAMES = ("ICX-1", "ICX-2", "ICX-3")


@pytest.fixture
def batch_id(deployment: Deployment) -> str:
    """A batch of three of which the first one has a run."""
    for name in NAMES:
        deployment.register(law(2), document_id=name)
    batch_id = str(uuid_utils.uuid7())
    with deployment.database.connect("cutter_operator") as connection:
        options = batch_rows.Options()
        admitted = batch_rows.admit(
            connection, queue_yaml([{"document_id": name} for name in NAMES], batch_id), options
        )
        batch_rows.register(connection, admitted, options, run_caps={"hard_seconds": 60.0}, starter="olga")
    deployment.database.run(
        "select cutter_governance.fn_batch_item_start(%s, 'ICX-1', %s, 'olga')", (batch_id, mint_run_id())
    )
    return batch_id


@pytest.fixture
def watches() -> Iterator[Watches]:
    kept = Watches()
    yield kept
    kept.close()


def look(deployment: Deployment, watch: Watch, *, whole: bool = False) -> BatchView:
    with deployment.deps[WorkerRole.CUTTER].pool(Role.READ).connection() as connection:
        return watch.seen(connection, whole=whole)


def new_items(before: BatchView, after: BatchView) -> list[str]:
    """The documents whose items were read again."""
    kept = {id(item) for item in before.items}
    return [item.document_id for item in after.items if id(item) not in kept]


CHANGES: dict[str, LiteralString] = {
    "a run moves": """
        select cutter_governance.fn_run_move(run_id, 'failed_source_pin', 'a test') from cutter_governance.run""",
    "an item is decided": "update cutter_governance.batch_item set decided = 'busy' where document_id = 'ICX-1'",
    "an item enters a queue": """
        select cutter_governance.fn_queue_enter(batch_id, 'ICX-1', 'error_queue', 'pending', 'X', 'x',
            'knowledge/dev/batches/' || batch_id || '/x.md', 'x')
        from cutter_governance.batch""",
    "a run says why it stopped": """
        insert into cutter_governance.outbox (run_id, kind, subject, kb_id, body)
        select run_id, 'stop_route', 'IG_mark',
            'a-' || right(run_id, 12) || '/SG3-stop-route-report-x.md', 'x'
        from cutter_governance.run""",
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_look_reads_only_the_document_that_has_changed(
    deployment: Deployment, batch_id: str, watches: Watches, change: LiteralString
) -> None:
    with watches.watching(deployment.settings, batch_id) as watch:
        before = look(deployment, watch)
        deployment.database.run(change, role=OWNER)
        assert watch.hear(5.0)
        after = look(deployment, watch)
    assert new_items(before, after) == ["ICX-1"]
    with deployment.database.connect("cutter_operator") as connection:
        assert after.items == batch_views.view(connection, batch_id).items


def test_a_request_that_is_put_is_heard_too(deployment: Deployment, batch_id: str, watches: Watches) -> None:
    deployment.database.run(
        "insert into cutter_governance.outbox (run_id, kind, subject, kb_id, body)"
        " select run_id, 'request', 'SG_cut_authz', 'a-' || right(run_id, 12) || '/SG1-cut-authz-request-x.md', 'x'"
        " from cutter_governance.run",
        role=OWNER,
    )
    with watches.watching(deployment.settings, batch_id) as watch:
        before = look(deployment, watch)
        deployment.database.run(
            "update cutter_governance.outbox set done_at = clock_timestamp(), sha256 = repeat('0', 64)", role=OWNER
        )
        assert watch.hear(5.0)
        assert new_items(before, look(deployment, watch)) == ["ICX-1"]


def test_what_changes_between_two_steps_is_seen_by_the_next_one(
    deployment: Deployment, batch_id: str, watches: Watches
) -> None:
    with watches.watching(deployment.settings, batch_id) as watch:
        before = look(deployment, watch)
    deployment.database.run(CHANGES["a run moves"], role=OWNER)
    with watches.watching(deployment.settings, batch_id) as again:
        assert again is watch
        assert until(lambda: again.hear(0.1) or bool(again.changed), seconds=5)
        after = look(deployment, again)
    assert new_items(before, after) == ["ICX-1"]


def test_what_changes_during_a_look_wakes_the_next_one(deployment: Deployment, batch_id: str, watches: Watches) -> None:
    with watches.watching(deployment.settings, batch_id) as watch:
        before = look(deployment, watch)
        deployment.database.run(CHANGES["a run moves"], role=OWNER)
        watch.touch(["ICX-1"])
        assert new_items(before, look(deployment, watch)) == ["ICX-1"]
        assert watch.hear(5.0)


def test_the_same_decision_again_is_not_named(deployment: Deployment, batch_id: str, watches: Watches) -> None:
    """A document that stays busy would otherwise wake its batch with each of the batch's own looks."""
    with watches.watching(deployment.settings, batch_id) as watch:
        deployment.database.run(CHANGES["an item is decided"], role=OWNER)
        assert watch.hear(5.0)
        deployment.database.run(CHANGES["an item is decided"], role=OWNER)
        assert not watch.hear(1.0)


def test_a_change_of_the_batch_itself_and_a_request_of_people_read_everything_again(
    deployment: Deployment, batch_id: str, watches: Watches
) -> None:
    with watches.watching(deployment.settings, batch_id) as watch:
        before = look(deployment, watch)
        assert new_items(before, look(deployment, watch)) == []
        deployment.database.run("select cutter_governance.fn_batch_halt(%s, 'stop', 'x')", (batch_id,), role=OWNER)
        assert watch.hear(5.0)
        halted = look(deployment, watch)
        assert (halted.batch.halted, len(new_items(before, halted))) == ("stop", 3)
        assert len(new_items(halted, look(deployment, watch, whole=True))) == 3


def test_facts_that_nobody_names_are_read_after_a_while(
    deployment: Deployment, batch_id: str, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STEER_POLL_SECONDS", 0)
    monkeypatch.setattr(limits, "WHOLE_LOOK_SHARE", 0)
    with watches.watching(deployment.settings, batch_id) as watch:
        before = look(deployment, watch)
        assert len(new_items(before, look(deployment, watch))) == 3


def test_a_batch_is_read_in_parts(deployment: Deployment, batch_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with deployment.database.connect("cutter_operator") as connection:
        whole = batch_views.view(connection, batch_id)
        monkeypatch.setattr(limits, "BATCH_PART_ITEMS", 2)
        assert batch_views.in_parts(connection, batch_id).items == whole.items
        assert len(batch_views.view(connection, batch_id, ["ICX-2", "ICX-9"]).items) == 1


def test_too_many_changes_read_everything_again(
    deployment: Deployment, batch_id: str, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watches.watching(deployment.settings, batch_id) as watch:
        look(deployment, watch)
        monkeypatch.setattr(limits, "BATCH_PART_ITEMS", 2)
        before = look(deployment, watch)
        for number in range(3):
            deployment.database.run("select pg_notify('cutter_batch', %s)", (f"{batch_id} invented-{number}",))
        assert until(lambda: len(watch.changed) == 3 or (watch.hear(0.1) and False), seconds=5)
        assert len(new_items(before, look(deployment, watch))) == 3
        assert watch.changed == set()


def test_a_flood_of_notifications_is_read_in_parts(
    deployment: Deployment, batch_id: str, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "WATCH_READS", 0)
    with watches.watching(deployment.settings, batch_id) as watch:
        deployment.database.run("select pg_notify('cutter_batch', %s)", (f"{batch_id} ICX-1",))
        assert not watch.hear(0.5)
        monkeypatch.setattr(limits, "WATCH_READS", 1)
        assert watch.hear(5.0)


def test_other_batches_are_not_heard(deployment: Deployment, batch_id: str, watches: Watches) -> None:
    with watches.watching(deployment.settings, batch_id) as watch:
        deployment.database.run("select pg_notify('cutter_batch', %s)", (f"{uuid_utils.uuid7()} ICX-1",))
        assert not watch.hear(1.0)


def test_after_a_failure_nothing_is_kept(deployment: Deployment, batch_id: str, watches: Watches) -> None:
    used = []
    with suppress(RuntimeError), watches.watching(deployment.settings, batch_id) as watch:
        used.append(watch)
        look(deployment, watch)
        raise RuntimeError
    assert used[0].connection.closed
    with watches.watching(deployment.settings, batch_id) as another:
        assert another.view is None


def test_a_look_that_fails_leaves_no_view_that_lacks_changes(
    deployment: Deployment, batch_id: str, watches: Watches
) -> None:
    with watches.watching(deployment.settings, batch_id) as watch:
        look(deployment, watch)
        deployment.database.run(CHANGES["a run moves"], role=OWNER)
        assert watch.hear(5.0)
        with deployment.database.connect("cutter_read") as broken:
            broken.close()
            with pytest.raises(psycopg.Error):
                watch.seen(broken)
        (first, *_) = look(deployment, watch).items
    assert first.state == "failed_source_pin"


def test_a_broken_connection_is_replaced(deployment: Deployment, batch_id: str, watches: Watches) -> None:
    with watches.watching(deployment.settings, batch_id) as watch:
        look(deployment, watch)
    deployment.database.run(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where query = 'listen cutter_batch' and datname = current_database()"
    )
    assert until(lambda: _is_broken(watch), seconds=10)
    with watches.watching(deployment.settings, batch_id) as another:
        assert another is not watch
        assert len(look(deployment, another).items) == 3


def _is_broken(watch: Watch) -> bool:
    try:
        watch.hear(0.1)
    except Unavailable:
        return True
    return False


def test_a_watch_that_no_step_takes_is_closed(
    deployment: Deployment, batch_id: str, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_watch.limits, "WATCH_KEPT_SECONDS", 0.05)
    with watches.watching(deployment.settings, batch_id) as watch:
        look(deployment, watch)
    assert until(lambda: watch.connection.closed, seconds=5)


def test_an_old_connection_is_replaced(
    deployment: Deployment, batch_id: str, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network can lose a connection without an error."""
    with watches.watching(deployment.settings, batch_id) as watch:
        pass
    monkeypatch.setattr(limits, "STEER_SECONDS", 0)
    with watches.watching(deployment.settings, batch_id) as another:
        assert another is not watch
    assert watch.connection.closed


def test_the_oldest_watch_makes_room(
    deployment: Deployment, batch_id: str, watches: Watches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BATCH_SLOTS", 2)
    kept = []
    for name in (batch_id, str(uuid_utils.uuid7()), str(uuid_utils.uuid7())):
        with watches.watching(deployment.settings, name) as watch:
            kept.append(watch)
    assert [kept_watch.connection.closed for kept_watch in kept] == [True, False, False]


def test_of_two_steps_at_once_one_watch_is_kept(deployment: Deployment, batch_id: str, watches: Watches) -> None:
    with (
        watches.watching(deployment.settings, batch_id) as first,
        watches.watching(deployment.settings, batch_id) as second,
    ):
        assert second is not first
    assert [first.connection.closed, second.connection.closed] == [False, True]
