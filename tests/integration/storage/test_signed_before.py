"""Approvals that are signed before the night, in SQL: what they cover, the decisions that they name, who has signed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, LiteralString

import pytest
from psycopg.types.json import Jsonb

from cutter.types import Json
from tests.support.database import Connection
from tests.support.gate_calls import one
from tests.support.runs import Stage

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
BATCH = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
OTHER_BATCH = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5c"
OTHER_ID = "00000000-0000-4000-8000-000000000001"
OTHER_SHA, REHEARSED_SHA = "f" * 64, "e" * 64
REHEARSED = "ictr-20261121T090000Z-0199f1de-7c3d-7e4f-8a9b-00000000000d"
NEIGHBOUR = "ictr-20261121T090000Z-0199f1de-7c3d-7e4f-8a9b-00000000000e"

COVERS = """
select cutter_governance.fn_tuple_covers(%s, jsonb_populate_record(r, %s), q)
from cutter_governance.run r join cutter_governance.approval_request q using (run_id)
where r.run_id = %s and q.gate = %s
"""
PREPARE = "select cutter_governance.fn_decisions_prepare(%s, %s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """A run before its enactment, as the item of a batch that was rehearsed; a transaction that is rolled back."""

    connection: Connection
    run_id: str
    document_id: str

    def value(self, statement: LiteralString, *parameters: Any) -> Any:
        return one(self.connection, statement, parameters)

    def force(self, table: str, change: LiteralString, *parameters: Any) -> None:
        """A change that the table's triggers would refuse."""
        self.connection.execute(f"alter table {table} disable trigger all")
        assert self.connection.execute(change, parameters).rowcount == 1

    def statement(self, gate: str, changed: Json | None = None) -> Json:
        """What was signed in the afternoon for that gate, some of its words changed."""
        row: Json = self.value(
            "select jsonb_build_object('batch_id', r.batch_id, 'document_id', r.document_id,"
            " 'source_version_id', r.source_version_id, 'writer_digest', q.tuple -> 'writer_digest',"
            " 'candidate_count', q.tuple ->> 'candidate_count',"
            " 'findings_digest', q.tuple -> 'findings_digest', 'accepted_findings', q.tuple -> 'accepted_findings',"
            " 'gate', q.gate, 'binding', 'tuple',"
            " 'request_sha256', (select request_sha256 from cutter_governance.approval_request where run_id = %s))"
            " from cutter_governance.run r join cutter_governance.approval_request q using (run_id)"
            " where r.run_id = %s and q.gate = %s",
            REHEARSED, self.run_id, gate,
        )  # fmt: skip
        return {**row, **(changed or {})}

    def covers(self, gate: str, substitute: Json | None = None, **run: Any) -> bool:
        """fn_tuple_covers for this run, some of its fields changed."""
        statement = self.statement(gate) if substitute is None else substitute
        return bool(self.value(COVERS, Jsonb(statement), Jsonb(run), self.run_id, gate))

    def prepared(self, **changed: Any) -> str:
        """A prepared decision; its id."""
        group = self.value("select lifecycle_group from cutter_governance.policy_epoch")
        row = {"batch": BATCH, "document": self.document_id, "actor": group, "hours": 0, **changed}
        return str(self.value(
            "insert into cutter_governance.prepared_decision (review_decision_id, batch_id, document_id, actor,"
            " created_by, created_at) select gen_random_uuid(), b.batch, b.document, b.actor, 'a test',"
            " clock_timestamp() - make_interval(hours => b.hours)"
            " from jsonb_to_record(%s) as b (batch text, document text, actor text, hours integer)"
            " returning review_decision_id",
            Jsonb(row),
        ))  # fmt: skip

    def decision(self) -> str:
        """Of the open request of SG_2."""
        return str(self.value(
            "select review_decision_id from cutter_governance.approval_request"
            " where run_id = %s and gate = 'SG_lifecycle_authz' and status = 'requested'", self.run_id,
        ))  # fmt: skip

    def requested_anew(self) -> str:
        """The decision of SG_2's next request."""
        self.connection.execute(
            "update cutter_governance.approval_request set status = 'expired'"
            " where run_id = %s and status = 'requested'",
            (self.run_id,),
        )
        answer = self.value(
            "select cutter_governance.fn_request_open(%s, %s, 60, gen_random_uuid())", self.run_id, LIFECYCLE
        )
        assert answer["status"] == "opened", answer
        return str(answer["request"]["review_decision_id"])


def as_rehearsed_batch(connection: Connection, run_id: str) -> None:
    """Make a run the item of a batch; with the batch's rehearsal, and another open item's run of the same batch."""
    for name in (BATCH, f"{BATCH}-dryrun"):
        connection.execute(
            "insert into cutter_governance.batch (batch_id, queue_sha256, mode, policy, unattended, lanes,"
            " hard_cap_seconds, caps, created_by, starter)"
            " values (%s, repeat('0', 64), %s, 'default', true, 2, 3600, '{}', 'olga', 'olga')",
            (name, "dryrun" if name.endswith("-dryrun") else "live"),
        )
    connection.execute("update cutter_governance.run set batch_id = %s where run_id = %s", (BATCH, run_id))
    connection.execute(
        "insert into cutter_governance.batch_item (batch_id, document_id, position, priority, tenant)"
        " select batch_id, document_id, 1, 1, tenant from cutter_governance.run where run_id = %s",
        (run_id,),
    )
    for copy, mode, batch in ((REHEARSED, "dryrun", f"{BATCH}-dryrun"), (NEIGHBOUR, "live", BATCH)):
        connection.execute(
            "insert into cutter_governance.run (run_id, document_id, source_version_id, mode, state, outcome, starter,"
            " batch_id) select %s, case %s when 'dryrun' then document_id else 'ICX-NEIGHBOUR' end, source_version_id,"
            " %s, 'grants_probed', case %s when 'dryrun' then 'rehearsed' end, starter, %s"
            " from cutter_governance.run where run_id = %s",
            (copy, mode, mode, mode, batch, run_id),
        )
    connection.execute(
        "insert into cutter_governance.approval_request (run_id, gate, n, tuple, nonce, challenge, requested_at,"
        " expires_at, kb_id, request_sha256, after_pins, pin_seq)"
        " select %s, gate, 1, tuple, nonce, 'of the rehearsal', requested_at, expires_at, 'rehearsed.md', %s,"
        " after_pins, pin_seq from cutter_governance.approval_request where run_id = %s and gate = 'SG_cut_authz'",
        (REHEARSED, REHEARSED_SHA, run_id),
    )


@pytest.fixture(scope="module")
def ground(enact_stage: Stage) -> Iterator[Connection]:
    with enact_stage.clone() as database:
        connection = database.connect("postgres")
        as_rehearsed_batch(connection, enact_stage.run_id)
        connection.commit()
        yield connection


@pytest.fixture
def night(ground: Connection, enact_stage: Stage) -> Iterator[Night]:
    yield Night(connection=ground, run_id=enact_stage.run_id, document_id=enact_stage.document_id)
    ground.rollback()


@pytest.fixture
def prepared(night: Night) -> Night:
    """The same; its open request of SG_2 took the decision that was prepared for it."""
    night.connection.execute(
        "insert into cutter_governance.prepared_decision (review_decision_id, batch_id, document_id, actor, created_by)"
        " values (%s, %s, %s, 'council', 'a test')",
        (night.decision(), BATCH, night.document_id),
    )
    return night


# --- what a statement covers ------------------------------------------------------------------------------------------


def test_what_was_signed_for_exactly_this_run_covers_both_gates(prepared: Night) -> None:
    assert prepared.covers(CUT)
    assert prepared.covers(LIFECYCLE)


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("batch_id", OTHER_BATCH), ("document_id", "ICX-OTHER"), ("source_version_id", OTHER_ID),
        ("writer_digest", OTHER_SHA), ("candidate_count", "99"), ("gate", LIFECYCLE), ("request_sha256", OTHER_SHA),
        ("findings_digest", OTHER_SHA), ("accepted_findings", "looks_uncut:LINE-9"),
    ],
)  # fmt: skip
def test_one_other_word_covers_nothing(night: Night, field: str, other: str) -> None:
    """Seeds 001 §1, 001 §7."""
    assert night.covers(CUT)
    assert not night.covers(CUT, night.statement(CUT, {field: other}))
    assert not night.covers(CUT, night.statement(CUT, {field: None}))


def test_a_rehearsal_needs_no_approval_and_takes_none(night: Night) -> None:
    assert not night.covers(CUT, mode="dryrun")


@pytest.mark.parametrize(
    "change",
    [
        "update cutter_governance.run set batch_id = null where run_id = %s",
        f"update cutter_governance.run set batch_id = '{OTHER_BATCH}-dryrun' where run_id = %s",
        "update cutter_governance.run set document_id = 'ICX-OTHER' where run_id = %s",
        "update cutter_governance.run set mode = 'live', ended_at = clock_timestamp() where run_id = %s",
        "delete from cutter_governance.approval_request where run_id = %s",
    ],
)
def test_without_the_rehearsal_of_this_document_in_this_batch_nothing_is_covered(
    night: Night, change: LiteralString
) -> None:
    assert night.connection.execute(change, (REHEARSED,)).rowcount == 1
    assert not night.covers(CUT, night.statement(CUT, {"request_sha256": REHEARSED_SHA}))


def test_an_enactment_needs_the_decision_that_was_prepared(night: Night) -> None:
    """Seed 001 §4."""
    assert not night.covers(LIFECYCLE)
    assert night.covers(CUT)


@pytest.mark.parametrize("change", ["batch_id = %s", "document_id = %s"])
def test_a_decision_that_was_prepared_for_something_else_is_none(prepared: Night, change: LiteralString) -> None:
    prepared.force(
        "cutter_governance.prepared_decision", "update cutter_governance.prepared_decision set " + change, OTHER_BATCH
    )
    assert not prepared.covers(LIFECYCLE)


def test_an_enactment_needs_the_rows_that_were_rehearsed(prepared: Night) -> None:
    prepared.force(
        "public.unit_version",
        "update public.unit_version set body = 'other', content_hash = encode(sha256('other'), 'hex')"
        " where id = (select min(id::text)::uuid from public.unit_version)",
    )
    assert not prepared.covers(LIFECYCLE)
    assert prepared.covers(CUT)


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("cutter_governance.verify_result", "update cutter_governance.verify_result set verdict = 'fail'"),
        ("cutter_governance.verify_result", "delete from cutter_governance.verify_result"),
        ("cutter_governance.cut_change_set", f"update cutter_governance.cut_change_set set run_id = '{NEIGHBOUR}'"),
    ],
)
def test_an_enactment_needs_this_runs_own_passed_verification(
    prepared: Night, table: str, change: LiteralString
) -> None:
    prepared.force(table, change)
    assert not prepared.covers(LIFECYCLE)


# --- decisions that are prepared --------------------------------------------------------------------------------------


def test_decisions_are_prepared_for_what_was_rehearsed_and_for_nothing_else(night: Night) -> None:
    """Seed 001 §4."""
    made = night.value(PREPARE, BATCH, [night.document_id, night.document_id, "ICX-NEIGHBOUR", "ICX-UNKNOWN"])
    assert set(made) == {night.document_id}
    assert night.value(PREPARE, OTHER_BATCH, [night.document_id]) == {}
    night.connection.execute("update cutter_governance.run set outcome = null where run_id = %s", (REHEARSED,))
    assert night.value(PREPARE, BATCH, [night.document_id]) == {}


def test_two_sitters_sign_one_decision(night: Night) -> None:
    first = night.value(PREPARE, BATCH, [night.document_id])
    assert night.value(PREPARE, BATCH, [night.document_id]) == first
    assert night.value("select count(*) from cutter_governance.prepared_decision") == 1


def test_a_decision_is_shared_for_eleven_hours(night: Night) -> None:
    young = night.prepared(hours=10)
    assert night.value(PREPARE, BATCH, [night.document_id]) == {night.document_id: young}


@pytest.mark.parametrize("other", [{"hours": 11}, {"batch": OTHER_BATCH}, {"document": "ICX-OTHER"}])
def test_an_old_decision_or_another_ones_is_not_shared(night: Night, other: Json) -> None:
    old = night.prepared(**other)
    made = night.value(PREPARE, BATCH, [night.document_id])
    assert set(made) == {night.document_id}
    assert made[night.document_id] != old


def test_a_decision_that_was_taken_is_not_shared_any_more(prepared: Night) -> None:
    assert prepared.value(PREPARE, BATCH, [prepared.document_id])[prepared.document_id] != prepared.decision()


def test_a_request_takes_the_prepared_decision_once(night: Night) -> None:
    """Seeds 000 §3, 001 §4."""
    ready = night.value(PREPARE, BATCH, [night.document_id])[night.document_id]
    assert night.requested_anew() == ready
    assert night.requested_anew() != ready


def test_a_request_takes_the_newest_decision_that_was_prepared(night: Night) -> None:
    night.prepared(hours=2)
    newest = night.prepared(hours=1)
    assert night.requested_anew() == newest


@pytest.mark.parametrize("other", [{"batch": OTHER_BATCH}, {"document": "ICX-OTHER"}, {"actor": "another group"}])
def test_a_request_takes_no_decision_of_something_else(night: Night, other: Json) -> None:
    others = night.prepared(**other)
    assert night.requested_anew() != others


def test_a_batch_shows_a_request_after_it_was_put(night: Night) -> None:
    """Otherwise an approver's session in that moment is refused, because there is nothing to read."""
    asked = night.value(
        "select kb_id from cutter_governance.approval_request where run_id = %s and status = 'requested'", night.run_id
    )
    change: LiteralString = "update cutter_governance.outbox set done_at = %s where kb_id = %s returning 1"
    night.value(change, None, asked)
    (item,) = night.value("select cutter_governance.fn_batch_view(%s)", BATCH)["items"]
    assert (item["gate"], item["request_kb_id"]) == ("SG_lifecycle_authz", None)
    night.value(change, "now", asked)
    (item,) = night.value("select cutter_governance.fn_batch_view(%s)", BATCH)["items"]
    assert item["request_kb_id"] == asked


# --- who has signed ---------------------------------------------------------------------------------------------------


def item_of(night: Night) -> Json:
    (item,) = night.value("select cutter_governance.fn_batch_view(%s)", BATCH)["items"]
    row: Json = item
    return row


def approved(night: Night) -> bool:
    return bool(item_of(night)["approved"])


def ask_for(night: Night, number: int) -> None:
    """The threshold of SG_2 in the newest epoch."""
    night.force(
        "cutter_governance.policy_epoch",
        "update cutter_governance.policy_epoch set thresholds = jsonb_build_object('SG_lifecycle_authz', %s::integer)",
        number,
    )


def signs(night: Night, who: str, **changed: Any) -> str:
    """Another accepted verdict on the open request, like the one that is there; its approval's digest."""
    return str(night.value(
        "insert into cutter_governance.approval_verdict (run_id, gate, kb_id, approval_sha256, accepted, code, reason,"
        " decision, approver, fingerprint, challenge, writer_digest, review_decision_id, not_after, policy_sha256,"
        " statement, recorded_at)"
        " select w.run_id, w.gate, w.kb_id, w.approval_sha256, w.accepted, w.code, w.reason, w.decision, w.approver,"
        " w.fingerprint, w.challenge, w.writer_digest, w.review_decision_id, w.not_after, w.policy_sha256, w.statement,"
        " w.recorded_at from cutter_governance.approval_verdict v,"
        " jsonb_populate_record(v, %s) as w where v.run_id = %s and v.gate = 'SG_lifecycle_authz' and v.accepted"
        " returning approval_sha256",
        Jsonb({"approver": who, "fingerprint": who, "approval_sha256": OTHER_SHA, **changed}), night.run_id,
    ))  # fmt: skip


def test_one_signature_is_enough_where_the_policy_asks_for_one_and_never_none(night: Night) -> None:
    for number in (1, 0):
        ask_for(night, number)
        assert approved(night)
    night.force("cutter_governance.approval_verdict", "delete from cutter_governance.approval_verdict where gate = %s",
                LIFECYCLE)  # fmt: skip
    assert not approved(night)


def test_as_many_people_as_the_policy_asks_for_must_have_signed(night: Night) -> None:
    ask_for(night, 2)
    assert (item_of(night)["signed"], approved(night)) == (1, False)
    signs(night, "bob")
    assert (item_of(night)["signed"], approved(night)) == (2, True)


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_one_key_that_signs_twice_is_one(night: Night, who: str) -> None:
    ask_for(night, 2)
    alice = night.value("select fingerprint from cutter_governance.approval_verdict where gate = %s", LIFECYCLE)
    signs(night, who, fingerprint=alice)
    assert not approved(night)


def test_one_person_whose_key_was_rotated_is_one(night: Night) -> None:
    ask_for(night, 2)
    signs(night, "alice", fingerprint="another key of hers")
    assert not approved(night)


@pytest.mark.parametrize(
    "changed",
    [
        {"accepted": False}, {"gate": CUT}, {"not_after": "2026-01-01T00:00:00Z"},
        {"recorded_at": "2026-01-01T00:00:00Z"}, {"run_id": NEIGHBOUR}, {"policy_sha256": OTHER_SHA},
    ],
)  # fmt: skip
def test_a_signature_that_opens_nothing_does_not_count(night: Night, changed: Json) -> None:
    ask_for(night, 2)
    signs(night, "bob", **changed)
    assert not approved(night)


@pytest.mark.parametrize(
    ("changed", "goes_on"),
    [
        ({}, True),
        ({"decision": "reject"}, True),
        ({"decision": "reject", "recorded_at": "2026-01-01T00:00:00Z"}, False),
    ],
)
def test_a_batch_and_a_run_answer_the_same_step_facts(night: Night, changed: Json, goes_on: bool) -> None:
    """A rejection counts as well: people have answered, and the exec worker comes next."""
    ask_for(night, 2)
    signs(night, "bob", **changed)
    (item,) = night.value("select cutter_governance.fn_batch_seen(%s)", BATCH)["items"]
    facts = night.value("select to_jsonb(f) from cutter_governance.fn_step_facts(%s) f", night.run_id)
    assert {name: item[name] for name in facts} == facts
    assert facts["approved"] is goes_on


def test_a_revoked_signature_does_not_count(night: Night) -> None:
    ask_for(night, 2)
    night.connection.execute(
        "insert into cutter_governance.approval_revocation (approval_sha256, revocation_sha256, approver, kb_id)"
        " values (%s, 'x', 'bob', 'x')",
        (signs(night, "bob"),),
    )
    assert not approved(night)


@pytest.mark.parametrize(
    ("gate", "outcome", "reason", "counts"),
    [
        ("IG_lifecycle_enact_execute", "approval_refused", "approval_expired: too late", False),
        ("IG_lifecycle_enact_execute", "approval_refused", "threshold_missing: one of two", True),
        ("IG_lifecycle_enact_execute", "lane_busy", "lane_busy: another run", True),
        ("IG_cut_leg_a_execute", "approval_refused", "approval_expired: too late", True),
    ],
)
def test_what_the_gate_has_refused_since_does_not_count(
    night: Night, gate: str, outcome: str, reason: str, counts: bool
) -> None:
    night.connection.execute(
        "insert into cutter_governance.gate_attempt (run_id, gate, n, lease_owner, lease_expires_at, outcome, reason)"
        " values (%s, %s, 7, 'x', clock_timestamp(), %s, %s)",
        (night.run_id, gate, outcome, reason),
    )
    assert approved(night) is counts
