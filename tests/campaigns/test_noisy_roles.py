"""P29, small: directus makes each kind of noise, and the guards decide whether a run passes; its judge."""

from __future__ import annotations

import psycopg
import pytest

from cutter.stack.processes import until
from tests.campaigns import p29_noisy_roles as p29
from tests.campaigns.noise import noisy
from tests.support.database import own_cluster
from tests.support.stack import Kit


async def test_p29_a_document_becomes_law_under_the_noise_of_others(
    temporal_address: str, kit: Kit, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, without = await p29.play(
        temporal_address, kit, seconds=1, roles=("directus",), control=("settings",),
        kinds=("locks", "connections", "notifications", "settings"),
    )  # fmt: skip
    summary = p29.summary(rows, without)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, (rows, without)


CHANGED = """
    create table changed (batch_id text);
    create trigger t after insert on changed for each row execute function cutter_governance.fn_batch_notify()
"""


def test_no_commit_meets_a_queue_of_notifications_that_a_role_has_filled() -> None:
    with own_cluster(max_notify_queue_pages="64") as cluster, cluster.database() as database:
        database.run(CHANGED)
        with noisy(database.url("directus"), "directus", "notifications"):
            until(lambda: database.value("select pg_notification_queue_usage()") >= 0.5, seconds=60)
            database.run("insert into changed values ('b')")
            with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="too many notifications"):
                database.run(FILLING)


FILLING = "do $$ begin for n in 1 .. 100 loop perform pg_notify('x', n || repeat('x', 7000)); end loop; end $$"


def test_a_run_that_does_not_become_law_or_a_control_that_does_fails_p29() -> None:
    law = {"role": "directus", "kind": "locks", "state": "closeout_reported", "during": True, "after": 0.0}
    stalled = {**law, "state": "awaiting_cut_authorization", "during": False}
    assert p29.summary([law], [stalled]).accepted
    assert not p29.summary([law], [law]).accepted
    assert not p29.summary([stalled], [stalled]).accepted
    for reader in ("directus", "cutter_api", "cutter_desk"):
        assert not p29.summary([{**law, "role": reader, "during": False}], [stalled]).accepted
    assert p29.summary([{**law, "role": "cutter_exec", "during": False}], [stalled]).accepted
