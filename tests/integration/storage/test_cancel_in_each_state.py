"""AG-ORCH-02: what a cancel does in each of the fourteen states, and in those that are off the way."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from cutter.catalogue import GATES, State
from cutter.lifecycle.declarations import DOCUMENT_RUN
from cutter.types import Json
from tests.support.database import Connection
from tests.support.gate_calls import one
from tests.support.runs import Deployment, drive, law

CANCEL = "select cutter_governance.fn_stop_set(%s, 'cancel', 'wrong text', 'someone')"
MOVE = "select cutter_governance.fn_run_stop(%s, %s, 'wrong text')"
STATE = "select state from cutter_governance.run where run_id = %s"
LATCH = "select to_jsonb(l) from cutter_governance.stop_latch l where run_id = %s"
ENDED = "voided_cancelled"


def states(made: Deployment) -> Iterator[tuple[str, str]]:
    """(state, run id) of one run as it goes through all fourteen states."""
    document_id = made.register(law(2))
    run_id = made.begin(document_id)
    yield State.PENDING.value, run_id
    for gate in GATES:
        if gate.sovereign is not None:
            made.request(run_id, gate.sovereign)
            yield gate.from_state.value, run_id
        drive(made, document_id=document_id, run_id=run_id, until=gate.name)
        yield gate.to_state.value, run_id


def cancelled(connection: Connection, run_id: str) -> tuple[str, Json, str]:
    """What the cancel answers, the latch, and the state after it took effect; nothing of it is kept."""
    answer = one(connection, CANCEL, (run_id,))
    latch: Json = one(connection, LATCH, (run_id,))
    target = "stopped_cancel" if answer.get("wrote") else ENDED
    if answer.get("wrote"):
        with pytest.raises(psycopg.Error, match="neither a stop nor a failure"), connection.transaction():
            connection.execute(MOVE, (run_id, ENDED))
    moved = one(connection, MOVE, (run_id, target))["state"]
    connection.rollback()
    return answer["status"], latch, moved


def test_a_cancel_ends_what_has_written_nothing_stops_what_has_and_changes_nothing_that_ended(
    deployment: Deployment,
) -> None:
    """Seed 002 "Queue and Cancellation Controls"."""
    cancelled_states = []
    with deployment.database.connect("cutter_read") as connection:
        for state, run_id in states(deployment):
            assert one(connection, STATE, (run_id,)) == state
            connection.rollback()
            status, latch, moved = cancelled(connection, run_id)
            wrote = len(cancelled_states) > list(State).index(State.AWAITING_CUT_AUTHORIZATION)
            if state == State.CLOSEOUT_REPORTED:
                assert (status, latch["stopped"], moved) == ("ended", False, state)
            else:
                assert (status, latch["kind"], latch["reason"]) == ("stopped", "cancel", "wrong text")
                assert moved == ("stopped_cancel" if wrote else ENDED)
                DOCUMENT_RUN.check(state, moved)
            cancelled_states.append(state)
    assert cancelled_states == [state.value for state in State]


def test_a_stopped_run_is_cancelled_too_and_a_failed_or_cancelled_one_stays_what_it_is(deployment: Deployment) -> None:
    """Seed 002 "Queue and Cancellation Controls"."""
    with deployment.database.connect("cutter_read") as connection:
        for before, status, moved in (
            ("stopped_stop", "stopped", ENDED),
            ("stopped_unavailable_database", "stopped", ENDED),
            ("failed_mark", "ended", "failed_mark"),
        ):
            run_id = deployment.begin(deployment.register(law(2)))
            assert one(connection, MOVE, (run_id, before))["state"] == before
            connection.commit()
            assert (cancelled(connection, run_id)[0], cancelled(connection, run_id)[2]) == (status, moved)
        run_id = deployment.begin(deployment.register(law(2)))
        connection.execute(CANCEL, (run_id,))
        assert one(connection, MOVE, (run_id, ENDED))["state"] == ENDED
        connection.commit()
        status, latch, moved = cancelled(connection, run_id)
        assert (status, latch["reason"], moved) == ("ended", "wrong text", ENDED)
