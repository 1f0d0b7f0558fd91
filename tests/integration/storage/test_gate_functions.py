"""fn_gate_attempt, open, close, refuse: role, predecessor, fence, payload, stop, mode, lane, surveys, COMMIT."""

from __future__ import annotations

from typing import LiteralString

import psycopg
import pytest
from psycopg.types.json import Jsonb

from cutter.catalogue import GATES, PLANNED
from tests.cases.tampering import KINDS, Tampering, quiet
from tests.integration.storage.conftest import ENACT, LEG_A, LEG_B, VERIFY, At
from tests.support import gate_calls as gates
from tests.support.database import OWNER, ROLES, Connection
from tests.support.gate_calls import meanwhile, one
from tests.support.runs import Deployment, drive, law

STOP = "select cutter_governance.fn_stop_set(%s, 'stop', 'a reason', 'someone')"


READINGS: LiteralString = "pg_stat_get_xact_function_calls('cutter_governance.fn_rows_fingerprint'::regproc)"
"""How often this transaction read all rows of a law, if `track_functions` is on."""


def sealed_by(at: At, gate: str) -> int:
    return int(
        at.database.value(
            "select count(*) from cutter_governance.gate_receipt where run_id = %s and gate = %s", (at.run_id, gate)
        )
    )


def test_a_gate_that_did_its_declared_work_is_committed_with_its_receipt(at_cut: At) -> None:
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    assert set(at_cut.create(connection)) == {"created"}
    receipt = at_cut.close(connection, number)["receipt"]
    connection.commit()
    assert at_cut.units() == at_cut.stage.units
    assert at_cut.run()["state"] == "cut_leg_a_committed"
    stored = at_cut.database.value(
        "select encode(sha256(convert_to(prev_hash || sealed_body, 'UTF8')), 'hex')"
        " from cutter_governance.gate_receipt where run_id = %s and gate = %s",
        (at_cut.run_id, LEG_A),
    )
    assert receipt["receipt_hash"] == stored


@pytest.mark.parametrize("gate", [gate.name for gate in GATES])
@pytest.mark.parametrize("role", ["cutter_read", "cutter_backup", "cutter_exec", "cutter_verify"])
def test_a_gate_is_its_own_role_s_alone(at_cut: At, gate: str, role: str) -> None:
    owner = next(entry.role.value for entry in GATES if entry.name == gate)
    connection = at_cut.connect(role)
    answer = gates.open_gate(connection, gate, at_cut.run_id, number=1, payload_sha256="x")
    assert (answer.get("code") == "wrong_role") == (role != owner)
    connection.rollback()
    answered = one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 't', 60)", (at_cut.run_id, gate))
    if answered["status"] != "sealed":
        assert (answered["status"] == "wrong_role") == (role != owner)


def test_a_gate_that_is_not_known_opens_for_nobody(at_cut: At) -> None:
    answer = gates.open_gate(at_cut.connect(), "IG_other", at_cut.run_id, number=1, payload_sha256="x")
    assert answer["code"] == "wrong_role"


def test_a_run_that_is_not_known_opens_nothing(at_cut: At) -> None:
    unknown = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
    connection = at_cut.connect()
    answer = gates.open_gate(connection, LEG_A, unknown, number=1, payload_sha256="x")
    assert (answer["status"], answer["code"]) == ("refused", "unknown_run")
    assert one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 't', 60)", (unknown, LEG_A)) == {
        "status": "unknown_run"
    }


@pytest.mark.parametrize("gate", [LEG_B, ENACT])
def test_a_gate_needs_the_sealed_receipt_of_the_one_before_it(at_cut: At, gate: str) -> None:
    """Seed 000 §3."""
    assert at_cut.open(at_cut.connect(), gate)["code"] == "predecessor_not_sealed"


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_an_older_snapshot_opens_no_gate(at_cut: At, isolation: str) -> None:
    """It would not see a revocation, a newer attempt or a newer policy."""
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    connection.execute(f"set transaction isolation level {isolation}")
    answer = at_cut.open(connection, number=number, payload_sha256="x")
    assert (answer["status"], answer["code"]) == ("refused", "isolation")


# --- attempts and the fence -----------------------------------------------------------------------------------------


def test_attempts_are_numbered_and_stay_visible(at_cut: At) -> None:
    connection = at_cut.connect()
    assert [gates.attempt(connection, LEG_A, at_cut.run_id) for _ in range(3)] == [1, 2, 3]


def test_an_attempt_names_who_has_it_and_until_when(at_cut: At) -> None:
    """Seed 003 §1.2, 003 §3.2: the step, the number of its try, the lease's owner and its end."""
    connection = at_cut.connect()
    one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 'exec-1', 90)", (at_cut.run_id, LEG_A))
    row = connection.execute(
        "select gate, n, lease_owner, round(extract(epoch from lease_expires_at - started_at))"
        " from cutter_governance.gate_attempt where run_id = %s and gate = %s",
        (at_cut.run_id, LEG_A),
    ).fetchall()
    assert row == [(LEG_A, 1, "exec-1", 90)]


@pytest.mark.parametrize(("of_run", "lease"), [(4, 4), (600, 90), (None, 90), ("x", 90)])
def test_the_lease_of_an_attempt_ends_at_the_stricter_cap(at_cut: At, of_run: int | str | None, lease: int) -> None:
    """Seed 000 §6: the cap of the run, or the worker's."""
    caps = {} if of_run is None else {"soft_seconds": {"cut_leg_a": of_run}}
    at_cut.database.run("update cutter_governance.run set caps = %s where run_id = %s", (Jsonb(caps), at_cut.run_id))
    connection = at_cut.connect()
    one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 'exec-1', 90)", (at_cut.run_id, LEG_A))
    left = "select round(extract(epoch from lease_expires_at - started_at)) from cutter_governance.gate_attempt"
    assert one(connection, f"{left} where run_id = %s and gate = %s", (at_cut.run_id, LEG_A)) == lease


def test_an_older_attempt_does_not_open(at_cut: At) -> None:
    """Seed 003 §3.2."""
    connection = at_cut.connect()
    older = gates.attempt(connection, LEG_A, at_cut.run_id)
    gates.attempt(connection, LEG_A, at_cut.run_id)
    assert at_cut.open(connection, number=older)["code"] == "stale_attempt"


def test_an_attempt_that_was_never_registered_does_not_open(at_cut: At) -> None:
    """Seed 003 §3.2."""
    assert at_cut.open(at_cut.connect(), number=7)["code"] == "stale_attempt"


def test_a_zombie_is_refused_when_it_closes_and_its_successor_goes_on(at_cut: At) -> None:
    """Seed 003 §3.3."""
    zombie, successor = at_cut.connect(), at_cut.connect()
    old = at_cut.opened(zombie)
    at_cut.create(zombie)
    new = gates.attempt(successor, LEG_A, at_cut.run_id)
    digest = gates.payload(successor, LEG_A, at_cut.run_id)
    assert at_cut.open(successor, number=new, payload_sha256=digest)["status"] == "lane_busy"
    successor.rollback()
    assert at_cut.close(zombie, old)["code"] == "stale_attempt"
    with pytest.raises(psycopg.Error, match="not sealed"):
        zombie.commit()
    assert at_cut.open(successor, number=new, payload_sha256=digest)["status"] == "opened"
    at_cut.create(successor)
    assert at_cut.close(successor, new)["status"] == "sealed"
    successor.commit()
    assert at_cut.units() == at_cut.stage.units


def test_a_successor_waits_for_the_claim_that_a_zombie_holds(at_enact: At) -> None:
    """Seed 003 §3.3."""
    zombie, successor = at_enact.connect(), at_enact.connect()
    old = at_enact.opened(zombie, ENACT)
    new = gates.attempt(successor, ENACT, at_enact.run_id)
    digest = gates.payload(successor, ENACT, at_enact.run_id)
    with meanwhile(successor, lambda: at_enact.open(successor, ENACT, number=new, payload_sha256=digest)) as answer:
        assert not answer.done()
        assert at_enact.close(zombie, old, {"units_enacted": 3}, ENACT)["code"] == "stale_attempt"
        zombie.rollback()
    assert answer.result()["status"] == "opened"


def test_a_sealed_answer_comes_before_fence_latch_and_approval(at_end: At) -> None:
    """The approval may have expired and the run been stopped since: what is sealed stays sealed. Seed 000 §7.

    Seeds 002 "Migration Notes", 003 §1.4, 003 §3.1, 003 §4.2.
    """
    connection = at_end.connect()
    digest = gates.payload(connection, LEG_A, at_end.run_id)
    at_end.database.value(STOP, (at_end.run_id,), role="cutter_operator")
    answer = gates.open_gate(connection, LEG_A, at_end.run_id, number=1, payload_sha256=digest)
    assert answer["status"] == "sealed"
    connection.rollback()
    registered = one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 't', 60)", (at_end.run_id, LEG_A))
    assert registered["status"] == "sealed"
    assert registered["receipt"]["receipt_hash"] == answer["receipt"]["receipt_hash"]


def test_another_payload_is_a_conflict_and_overwrites_nothing(at_end: At) -> None:
    """Seed 003 §1.2."""
    connection = at_end.connect()
    before = sealed_by(at_end, LEG_A)
    answer = gates.open_gate(connection, LEG_A, at_end.run_id, number=1, payload_sha256="0" * 64)
    assert answer["status"] == "conflict"
    connection.commit()
    assert sealed_by(at_end, LEG_A) == before


def test_opening_twice_in_one_transaction_is_refused(at_cut: At) -> None:
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    answer = one(
        connection,
        "select cutter_governance.fn_gate_open(%s, %s, %s, 'x')",
        (at_cut.run_id, LEG_A, number),
    )
    assert answer["code"] == "open_already"


def test_a_transaction_opens_one_gate(deployment: Deployment) -> None:
    first, second = (drive(deployment, law(2), until="IG_source_pin").run_id for _ in range(2))
    connection = deployment.database.connect("cutter_read")
    numbers = [gates.attempt(connection, "IG_mark", run_id) for run_id in (first, second)]
    assert gates.open_gate(connection, "IG_mark", first, number=numbers[0], payload_sha256="a")["status"] == "opened"
    with pytest.raises(psycopg.errors.UniqueViolation, match="opened_xid"):
        gates.open_gate(connection, "IG_mark", second, number=numbers[1], payload_sha256="b")


# --- the stop latch -------------------------------------------------------------------------------------------------


def test_a_stop_waits_for_the_open_transaction_and_then_holds(at_cut: At) -> None:
    writer, stopper = at_cut.connect(), at_cut.connect("cutter_operator")
    number = at_cut.opened(writer)
    at_cut.create(writer)
    with meanwhile(stopper, lambda: one(stopper, STOP, (at_cut.run_id,))) as answer:
        assert not answer.done()
        assert at_cut.close(writer, number)["status"] == "sealed"
        writer.commit()
    assert answer.result() == {"status": "stopped", "state": "cut_leg_a_committed", "wrote": True}
    stopper.commit()
    after = gates.open_gate(at_cut.connect("cutter_read"), "IG_structural_verify", at_cut.run_id)
    assert (after["status"], after["kind"]) == ("stopped", "stop")


def test_an_outage_s_stop_waits_for_the_open_gate_so_that_none_seals_over_it(at_cut: At) -> None:
    """So a file of transitions has no gate that seals from a stopped state."""
    writer, verifier, stopper = at_cut.connect(), at_cut.connect("cutter_read"), at_cut.connect("cutter_read")
    number = at_cut.opened(writer)
    at_cut.create(writer)
    assert at_cut.close(writer, number)["status"] == "sealed"
    writer.commit()
    number = at_cut.opened(verifier, "IG_structural_verify")
    stop = "select cutter_governance.fn_run_stop(%s, 'stopped_unavailable_database', 'away')"
    with meanwhile(stopper, lambda: one(stopper, stop, (at_cut.run_id,))) as answer:
        assert not answer.done()
        assert at_cut.close(verifier, number, {}, "IG_structural_verify")["status"] == "sealed"
        verifier.commit()
    stopper.commit()
    moved = at_cut.database.value(
        "select array_agg(body::jsonb ->> 'from_state' order by seq desc) from cutter_governance.audit_event"
        " where run_id = %s and kind = 'transition'",
        (at_cut.run_id,),
    )
    assert moved[:2] == ["structural_verified", "cut_leg_a_committed"]


def test_a_stop_that_came_first_keeps_the_gate_shut(at_cut: At) -> None:
    writer, stopper = at_cut.connect(), at_cut.connect("cutter_operator")
    number, digest = gates.attempt(writer, LEG_A, at_cut.run_id), gates.payload(writer, LEG_A, at_cut.run_id)
    one(stopper, STOP, (at_cut.run_id,))
    with meanwhile(writer, lambda: at_cut.open(writer, number=number, payload_sha256=digest)) as answer:
        assert not answer.done()
        stopper.commit()
    assert answer.result()["status"] == "stopped"
    with pytest.raises(psycopg.Error, match="not sealed"):
        writer.commit()
    assert at_cut.units() == 0


def test_a_run_in_a_stopped_state_opens_nothing_until_it_is_resumed(at_cut: At) -> None:
    """Whoever may schedule activities could otherwise go on behind a stop that only a signature lifts.
    Seed 002 "State Contract".
    """
    at_cut.database.value(
        "select cutter_governance.fn_run_stop(%s, 'stopped_hard_cap', 'too long')", (at_cut.run_id,), role="cutter_read"
    )
    answer = at_cut.open(at_cut.connect())
    assert (answer["status"], answer["kind"]) == ("stopped", "hard_cap")


# --- mode, lane, rehearsal ------------------------------------------------------------------------------------------


def test_a_rehearsal_writes_in_its_transaction_and_can_never_be_committed(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe", mode="dryrun").run_id
    connection = deployment.database.connect("cutter_exec")
    answer = gates.open_gate(connection, LEG_A, run_id, rehearse=True)
    assert answer["status"] == "opened"
    closed = gates.close_gate(connection, LEG_A, run_id, answer["attempt"], {"units_created": 0})
    assert closed["status"] == "sealed"
    with pytest.raises(psycopg.Error, match="a rehearsal may not be committed") as refused:
        connection.commit()
    assert refused.value.sqlstate == "CU009"


def test_a_dry_run_opens_no_writing_gate_for_real(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe", mode="dryrun").run_id
    answer = gates.open_gate(deployment.database.connect("cutter_exec"), LEG_A, run_id)
    assert answer["code"] == "mode_forbids_write"


def test_a_live_run_rehearses_nothing(at_cut: At) -> None:
    assert at_cut.open(at_cut.connect(), rehearse=True)["code"] == "mode_forbids_rehearsal"


def test_one_leg_a_at_a_time_holds_the_write_lane(at_cut: At) -> None:
    """Seed 001 §5."""
    holder, second = at_cut.connect("postgres"), at_cut.connect()
    number = gates.attempt(second, LEG_A, at_cut.run_id)
    holder.execute("select from cutter_governance.lane where name = 'write' for update")
    assert at_cut.open(second, number=number, payload_sha256="x")["status"] == "lane_busy"
    second.commit()
    assert sealed_by(at_cut, LEG_A) == 0


def test_a_leg_a_waits_a_moment_for_a_short_one(at_cut: At) -> None:
    holder, second = at_cut.connect("postgres"), at_cut.connect()
    number = gates.attempt(second, LEG_A, at_cut.run_id)
    digest = gates.payload(second, LEG_A, at_cut.run_id)
    holder.execute("select from cutter_governance.lane where name = 'write' for update")
    with meanwhile(second, lambda: at_cut.open(second, number=number, payload_sha256=digest)) as opened:
        holder.rollback()
        assert opened.result()["status"] == "opened"
    assert second.execute("show lock_timeout").fetchone() == ("20s",)


def test_only_some_wait_for_the_write_lane(at_cut: At) -> None:
    """A long leg A must leave the worker's slots to other gates."""
    holder, late = at_cut.connect("postgres"), at_cut.connect()
    number = gates.attempt(late, LEG_A, at_cut.run_id)
    holder.execute("select from cutter_governance.lane where name = 'write' for update")
    for seat in range(1, 5):
        holder.execute("select pg_advisory_xact_lock(hashtext('cutter.lane.write'), %s)", (seat,))
    with meanwhile(late, lambda: at_cut.open(late, number=number, payload_sha256="x")) as opened:
        assert opened.done(), "it waits for the lane"
        assert opened.result()["status"] == "lane_busy"


def test_a_run_that_is_over_opens_nothing(at_cut: At) -> None:
    at_cut.database.run("update cutter_governance.run set ended_at = now() where run_id = %s", (at_cut.run_id,))
    connection = at_cut.connect()
    answer = one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 't', 60)", (at_cut.run_id, LEG_A))
    assert answer["status"] == "ended"
    assert at_cut.open(connection, number=1, payload_sha256="x")["code"] == "run_ended"


# --- closing --------------------------------------------------------------------------------------------------------


def test_an_open_gate_that_was_not_sealed_cannot_be_committed(at_cut: At) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    at_cut.create(connection)
    with pytest.raises(psycopg.Error, match="not sealed") as refused:
        connection.commit()
    assert refused.value.sqlstate == "CU009"
    assert at_cut.units() == 0


def test_a_refused_opening_cannot_be_committed_either(at_cut: At) -> None:
    connection = at_cut.connect()
    assert at_cut.open(connection, number=7)["status"] == "refused"
    with pytest.raises(psycopg.Error, match="not sealed"):
        connection.commit()


@pytest.mark.parametrize("gate", [gate.name for gate in GATES[len(PLANNED) :]])
def test_a_gate_whose_opening_was_refused_is_not_closed(at_cut: At, gate: str) -> None:
    """Its claim stands in the transaction of whoever ignores the answer; it is worth nothing."""
    connection = at_cut.connect(next(entry.role.value for entry in GATES if entry.name == gate))
    answer = at_cut.open(connection, gate, approvals=[])
    assert answer["status"] in ("refused", "approval_refused"), answer
    closed = gates.close_gate(connection, gate, at_cut.run_id, answer["attempt"], {})
    assert closed == {"status": "refused", "code": "not_open_here"}
    with pytest.raises(psycopg.Error, match="not sealed"):
        connection.commit()
    assert (at_cut.run()["state"], at_cut.run()["ended_at"]) == ("awaiting_cut_authorization", None)


def test_a_receipt_that_no_opening_made_cannot_be_committed(at_cut: At) -> None:
    """Whoever made it: at COMMIT it follows the receipt before it."""
    connection = at_cut.connect(OWNER)
    connection.execute(
        "insert into cutter_governance.gate_receipt (run_id, gate, attempt, role, payload_sha256, prev_hash,"
        " before_pins, after_pins, result, sealed_at, sealed_body, receipt_hash) values (%s, 'IG_closeout', 1,"
        " 'cutter_read', 'x', '', '{}', '{}', '{}', now(), 'b', encode(sha256('b'), 'hex'))",
        (at_cut.run_id,),
    )
    with pytest.raises(psycopg.Error, match="it was never opened"):
        connection.commit()


def test_a_gate_that_a_stop_kept_shut_is_not_closed_and_lets_no_row_in(at_cut: At) -> None:
    at_cut.database.run(STOP, (at_cut.run_id,), role="cutter_operator")
    connection = at_cut.connect()
    answer = at_cut.open(connection)
    assert answer["status"] == "stopped"
    assert at_cut.close(connection, answer["attempt"])["code"] == "not_open_here"
    with pytest.raises(psycopg.Error, match="no gate of its run is open") as refused:
        at_cut.create(connection)
    assert refused.value.sqlstate == "CU007"


def test_a_refused_gate_lets_no_row_of_its_record_in(at_cut: At) -> None:
    connection = at_cut.connect()
    assert at_cut.open(connection, LEG_B)["status"] == "refused"
    with pytest.raises(psycopg.Error, match="none of IG_leg_b_record is open"):
        connection.execute(
            "insert into cutter_governance.review_decision (review_decision_id, run_id, type, actor, created_by)"
            " values (gen_random_uuid(), %s, 'cut', 'x', 'x')",
            (at_cut.run_id,),
        )


def test_only_the_transaction_that_opened_a_gate_closes_it(at_cut: At) -> None:
    first, other = at_cut.connect(), at_cut.connect()
    number = at_cut.opened(first)
    assert at_cut.close(other, number)["code"] == "not_open_here"


def test_a_second_survey_outside_the_declared_effect_is_drift(at_cut: At) -> None:
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    at_cut.create(connection)
    drift = at_cut.close(connection, number, {"units_created": at_cut.stage.units + 1})["drift"]
    assert drift["dimension"] == "row_count"
    assert drift["diff"] == ["value: 4 → 3"]


def test_a_gate_without_an_effect_may_change_nothing(at_cut: At) -> None:
    writer = at_cut.connect()
    number = at_cut.opened(writer)
    at_cut.create(writer)
    at_cut.close(writer, number)
    writer.commit()
    reader = at_cut.connect("cutter_read")
    answer = gates.open_gate(reader, "IG_structural_verify", at_cut.run_id)
    at_cut.database.run("create function public.extra() returns integer language sql as 'select 1'")
    closed = gates.close_gate(reader, "IG_structural_verify", at_cut.run_id, answer["attempt"], {})
    assert (closed["status"], closed["drift"]["dimension"]) == ("drift", "functions")
    assert closed["drift"]["diff"] == ["public.extra(): appeared"]


def at_structural_verify(at: At, connection: Connection) -> int:
    """Cut the units, then open the next gate, which has no effect. Returns its attempt."""
    writer = at.connect()
    number = at.opened(writer)
    at.create(writer)
    at.close(writer, number)
    writer.commit()
    return int(gates.open_gate(connection, "IG_structural_verify", at.run_id)["attempt"])


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.dimension.startswith("row_") and not kind.at], ids=lambda kind: kind.name
)
def test_a_row_that_changes_while_a_gate_is_open_is_drift(at_cut: At, kind: Tampering) -> None:
    """Also a body that is changed with its hash, and a draft that appears next to the law."""
    reader = at_cut.connect("cutter_read")
    number = at_structural_verify(at_cut, reader)
    superuser = at_cut.database.connect("postgres")
    kind.apply(superuser, prefix=at_cut.docprefix, run=at_cut.run_id)
    superuser.commit()
    closed = gates.close_gate(reader, "IG_structural_verify", at_cut.run_id, number, {})
    assert (closed["status"], closed["drift"]["dimension"]) == ("drift", kind.dimension)
    assert closed["drift"]["diff"]


def test_rows_that_nothing_changed_are_not_read_again(at_cut: At) -> None:
    """A survey reads every text of a law, so a gate without an effect relies on the survey of the gate before it."""
    at_cut.database.run(f"alter database {at_cut.database.name} set track_functions = 'all'")
    reader = at_cut.connect("cutter_read")
    number = at_structural_verify(at_cut, reader)
    receipt = gates.close_gate(reader, "IG_structural_verify", at_cut.run_id, number, {})["receipt"]
    assert one(reader, f"select {READINGS}") is None
    assert receipt["before_pins"] == receipt["after_pins"]


def verified(at: At) -> Connection:
    """Cut the units, and seal the gate after that. Returns a connection of leg B's role."""
    reader = at.connect("cutter_read")
    number = at_structural_verify(at, reader)
    gates.close_gate(reader, "IG_structural_verify", at.run_id, number, {})
    reader.commit()
    return at.connect()


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.dimension.startswith("row_") and not kind.at], ids=lambda kind: kind.name
)
def test_a_row_that_changes_between_two_gates_is_drift(at_cut: At, kind: Tampering) -> None:
    writer = verified(at_cut)
    superuser = at_cut.database.connect("postgres")
    kind.apply(superuser, prefix=at_cut.docprefix, run=at_cut.run_id)
    superuser.commit()
    opened = gates.open_gate(writer, LEG_B, at_cut.run_id)
    assert (opened["status"], opened["drift"]["dimension"]) == ("drift", kind.dimension)


def test_a_gate_that_changes_the_law_reads_all_rows(at_cut: At) -> None:
    """Also if the row versions are those of the gate before it."""
    at_cut.database.run(f"alter database {at_cut.database.name} set track_functions = 'all'")
    writer = at_cut.connect()
    at_cut.opened(writer)
    assert one(writer, f"select {READINGS}") == 1


def test_exactly_one_decision_is_recorded_by_leg_b(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_structural_verify").run_id
    connection = deployment.database.connect("cutter_exec")
    answer = gates.open_gate(connection, LEG_B, run_id)
    closed = gates.close_gate(connection, LEG_B, run_id, answer["attempt"], {})
    assert (closed["status"], closed["drift"]["dimension"]) == ("drift", "review_decision")


def test_leg_b_that_left_rows_out_cannot_be_committed(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_structural_verify").run_id
    connection = deployment.database.connect("cutter_exec")
    answer = gates.open_gate(connection, LEG_B, run_id)
    connection.execute(
        "insert into cutter_governance.review_decision (review_decision_id, run_id, type, actor, created_by)"
        " values (gen_random_uuid(), %s, 'cut', 'x', 'x')",
        (run_id,),
    )
    assert gates.close_gate(connection, LEG_B, run_id, answer["attempt"], {})["status"] == "sealed"
    with pytest.raises(psycopg.Error, match="no change set as approved and signed") as refused:
        connection.commit()
    assert refused.value.sqlstate == "CU010"


@pytest.mark.parametrize("table", ["manifest_unit_block", "cut_change_set_affected_row"])
def test_leg_b_without_one_of_its_rows_is_not_whole(at_end: At, table: LiteralString) -> None:
    superuser = at_end.connect("postgres")
    asked: LiteralString = "select cutter_governance.fn_leg_b_problem(r) from cutter_governance.run r"
    assert one(superuser, asked) is None
    with quiet(superuser, f"cutter_governance.{table}"):
        superuser.execute(
            f"delete from cutter_governance.{table} where ctid = (select min(ctid) from cutter_governance.{table})"
        )
    assert "affected rows for" in one(superuser, asked)


def test_a_verification_without_its_result_cannot_be_committed(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until=LEG_B).run_id
    connection = deployment.database.connect("cutter_verify")
    answer = gates.open_gate(connection, VERIFY, run_id)
    assert gates.close_gate(connection, VERIFY, run_id, answer["attempt"], {})["status"] == "sealed"
    with pytest.raises(psycopg.Error, match="no passing, signed verify_result"):
        connection.commit()


def test_the_first_gate_pins_the_registered_source_and_no_other(deployment: Deployment) -> None:
    mine, other = deployment.register(law(2)), deployment.register(law(3))
    run_id = deployment.begin(mine)
    connection = deployment.database.connect("cutter_read")
    rows: dict[str, dict[str, str]] = dict(
        connection.execute(
            "select d.doc_code, jsonb_build_object('docprefix', d.address_docprefix, 'source_document_id', d.id,"
            " 'source_version_id', v.id) from public.source_document d join public.source_version v"
            " on v.source_document_ref = d.source_document_ref"
        ).fetchall()
    )
    answer = gates.open_gate(connection, "IG_source_pin", run_id)
    for wrong in (
        rows[other],
        {**rows[mine], "docprefix": other},
        {**rows[mine], "source_version_id": rows[other]["source_version_id"]},
        {},
    ):
        closed = gates.close_gate(connection, "IG_source_pin", run_id, answer["attempt"], wrong)
        assert closed["code"] == "pins_not_registered"
    closed = gates.close_gate(connection, "IG_source_pin", run_id, answer["attempt"], rows[mine])
    assert closed["status"] == "sealed"


def test_a_later_gate_does_not_pin_anew_what_an_earlier_one_pinned(at_cut: At) -> None:
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    at_cut.create(connection)
    closed = at_cut.close(connection, number, {"units_created": at_cut.stage.units, "writer_digest": "0" * 64})
    assert closed["code"] == "pins_contradict"


def test_a_result_without_pins_is_not_sealed(at_cut: At) -> None:
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    answer = one(connection, "select cutter_governance.fn_gate_close(%s, %s, %s, '{}')", (at_cut.run_id, LEG_A, number))
    assert answer["code"] == "result_without_pins"


# --- refusing -------------------------------------------------------------------------------------------------------


REFUSE = "select cutter_governance.fn_gate_refuse(%s, %s, %s, 'failed', 'why', null, %s)"


def test_a_refusal_is_kept_with_its_attempt_and_moves_the_run(at_cut: At) -> None:
    """Seeds 000 §2, 000 §3, 004 "Task Lifecycle" Transition Details."""
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    connection.execute(REFUSE, (at_cut.run_id, LEG_A, number, "failed_cut_leg_a"))
    connection.commit()
    assert at_cut.run()["state"] == "failed_cut_leg_a"
    assert at_cut.run()["last_error"]["reason"] == "why"


@pytest.mark.parametrize(
    "state", ["closeout_reported", "voided_x", "failed_X", "lifecycle_enacted", f"stopped_{'x' * 81}"]
)
def test_a_refusal_moves_a_run_nowhere_but_into_a_stop_or_failure(at_cut: At, state: str) -> None:
    connection = at_cut.connect()
    before = at_cut.run()["state"]
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    connection.execute(REFUSE, (at_cut.run_id, LEG_A, number, state))
    connection.commit()
    assert at_cut.run()["state"] == before


def test_an_older_attempt_fails_no_run(at_cut: At) -> None:
    connection = at_cut.connect()
    older = gates.attempt(connection, LEG_A, at_cut.run_id)
    gates.attempt(connection, LEG_A, at_cut.run_id)
    connection.execute(REFUSE, (at_cut.run_id, LEG_A, older, "failed_cut_leg_a"))
    connection.commit()
    assert at_cut.run()["state"] == "awaiting_cut_authorization"


def test_a_gate_asked_for_out_of_its_order_fails_no_run(at_cut: At) -> None:
    connection = at_cut.connect()
    asked = one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 'test', 60)", (at_cut.run_id, ENACT))
    assert asked["status"] == "predecessor_not_sealed"
    with pytest.raises(psycopg.Error, match="the gate before it is not sealed") as refused:
        connection.execute(REFUSE, (at_cut.run_id, ENACT, 1, "failed_lifecycle_enact"))
    connection.rollback()
    assert refused.value.sqlstate == "CU022"
    assert at_cut.run()["state"] == "awaiting_cut_authorization"


def test_a_sealed_gate_fails_no_run(at_end: At) -> None:
    at_end.database.run("update cutter_governance.run set ended_at = null")
    connection = at_end.connect()
    connection.execute(REFUSE, (at_end.run_id, LEG_A, 1, "failed_cut_leg_a"))
    connection.commit()
    assert at_end.run()["state"] == "closeout_reported"


PEOPLE = ("directus", "cutter_operator", "cutter_api", "cutter_desk")
"""Roles that may call no function of a gate at all."""


@pytest.mark.parametrize("role", [role for role in ROLES if role not in ("cutter_exec", *PEOPLE)])
def test_a_gate_is_refused_by_its_own_role_alone(at_cut: At, role: str) -> None:
    with pytest.raises(psycopg.Error, match="may not refuse") as refused:
        at_cut.connect(role).execute(REFUSE, (at_cut.run_id, LEG_A, 1, "failed_cut_leg_a"))
    assert refused.value.sqlstate == "CU006"
