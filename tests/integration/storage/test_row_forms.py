"""What enters a table that is never taken back is checked where it enters, whoever writes it."""

from __future__ import annotations

import json
from typing import Any, LiteralString

import psycopg
import pytest

from cutter.domain.digests import sha256_hex
from tests.integration.storage.conftest import LEG_A, At
from tests.support import gate_calls as gates
from tests.support.gate_calls import RECORD, another_accepted, one, stop_report

REFUSE: LiteralString = "select cutter_governance.fn_gate_refuse(%s, %s, %s, %s, 'why', %s::jsonb)"
ATTEMPT_ROW: LiteralString = "update cutter_governance.gate_attempt set report = %s::jsonb where run_id = %s"
DECISION = {"connector": "kb", "operation": "put", "verdict": "allow", "tier": None, "rule": "r", "line": 3, "why": "w"}
INVARIANT = {"name": "a", "ok": True, "observed": "1", "expected": "1"}
DEEP: Any = json.loads("[" * 40 + "]" * 40)

MALFORMED: dict[str, tuple[Any, str]] = {
    "no object": (5, "is no object"),
    "decisions that are no array": ({"policy": {"sha256": "", "decisions": 5}}, "whose decisions are no array"),
    "a decision that is no object": ({"policy": {"sha256": "", "decisions": [5]}}, "which is no object"),
    "unknown keys of a decision": ({"policy": {"sha256": "", "decisions": [{"a": 1}]}}, "which has unknown keys"),
    "a decision of nothing": ({"policy": {"sha256": "", "decisions": [{"verdict": "deny"}]}}, "lacks its connector"),
    "a policy without sha256": ({"policy": {"decisions": [DECISION]}}, "whose sha256 is not 64 hex"),
    "a policy that is no object": ({"policy": "x"}, "a policy that is no object"),
    "an invariant without a verdict": ({"invariants": [{**INVARIANT, "ok": "yes"}]}, "has an invariant that is not"),
    "pins that are no object": ({"pins": []}, "has a pins that is no object"),
    "a count that is a text": ({"pins": {"units_created": "3"}}, "has a pin units_created of another type"),
    "an artifact that is a number": ({"pins": {"backup_artifact": 5}}, "has a pin backup_artifact of another type"),
    "notes that are no texts": ({"notes": [{}]}, "has notes that are no texts"),
    "too long": ({"notes": ["x" * 300_000]}, "is longer than 262144 bytes"),
    "too deep": ({"notes": DEEP}, "is nested more than 15 deep"),
    "a number that only PostgreSQL holds": ({"cpu_ms": 10**400}, "has a number beyond 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_report_of_a_refusal_is_refused_in_words(at_cut: At, name: str) -> None:
    report, words = MALFORMED[name]
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    with pytest.raises(psycopg.Error, match=words) as refused:
        connection.execute(REFUSE, (at_cut.run_id, LEG_A, number, "failed", json.dumps(report)))
    assert refused.value.sqlstate == "CU021"


def test_a_refusal_that_finds_no_attempt_is_checked_all_the_same(at_cut: At) -> None:
    """It moves the run with what it says, whether there is a row of the attempt or not."""
    with pytest.raises(psycopg.Error, match="the report of IG_cut_leg_a_execute was refused") as refused:
        at_cut.connect().execute(REFUSE, (at_cut.run_id, LEG_A, 99, "failed", json.dumps({"pins": 5})))
    assert refused.value.sqlstate == "CU021"


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_report_is_refused_in_words_at_its_row(at_cut: At, name: str) -> None:
    report, words = MALFORMED[name]
    with pytest.raises(psycopg.Error, match=f"gate_attempt was refused: its report .*{words}") as refused:
        at_cut.database.run(ATTEMPT_ROW, (json.dumps(report), at_cut.run_id))
    assert refused.value.sqlstate == "CU021"


def test_a_well_formed_report_is_kept_as_it_was_given(at_cut: At) -> None:
    report = {
        "gate": LEG_A, "invariants": [INVARIANT], "pins": {"units_created": 3, "backup_artifact": "a"}, "notes": ["n"],
        "policy": {"sha256": "a" * 64, "decisions": [DECISION]},
    }  # fmt: skip
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    connection.execute(REFUSE, (at_cut.run_id, LEG_A, number, "failed", json.dumps(report)))
    connection.commit()
    kept = "select report from cutter_governance.gate_attempt where run_id = %s and gate = %s and n = %s"
    assert at_cut.database.value(kept, (at_cut.run_id, LEG_A, number)) == report


@pytest.mark.parametrize("outcome", ["passed", "skipped", "PASSED", "x" * 41, None])
def test_a_refusal_does_not_claim_that_its_gate_passed(at_cut: At, outcome: str | None) -> None:
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    with pytest.raises(psycopg.Error, match="is no outcome") as refused:
        connection.execute(REFUSE, (at_cut.run_id, LEG_A, number, outcome, None))
    assert refused.value.sqlstate == "CU021"


@pytest.mark.parametrize(
    ("sha256", "text", "words"),
    [
        (sha256_hex("a"), "b", "of another sha256"),
        ("", "b", "of another sha256"),
        (sha256_hex("x" * 70_000), "x" * 70_000, "longer than 64 KiB"),
        (sha256_hex("a"), 5, "has a text that is none"),
    ],
)
def test_a_policy_text_is_at_most_64_kib_and_of_its_sha256(at_cut: At, sha256: str, text: Any, words: str) -> None:
    report = {"policy": {"sha256": sha256, "text": text, "decisions": [DECISION]}}
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    with pytest.raises(psycopg.Error, match=words) as refused:
        connection.execute(REFUSE, (at_cut.run_id, LEG_A, number, "failed", json.dumps(report)))
    assert refused.value.sqlstate == "CU021"


@pytest.mark.parametrize("policy", [{"decisions": 5}, {"sha256": "x", "decisions": []}, {"decisions": [{"a": 1}]}])
def test_a_gate_is_not_opened_with_a_malformed_policy(at_cut: At, policy: Any) -> None:
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    open_ = "select cutter_governance.fn_gate_open(%s, %s, %s, repeat('a', 64), '[]', false, %s::jsonb)"
    with pytest.raises(psycopg.Error, match="gate_receipt was refused: its policy") as refused:
        connection.execute(open_, (at_cut.run_id, LEG_A, number, json.dumps(policy)))
    assert refused.value.sqlstate == "CU021"


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ({}, "lacks its sha256 or its time"),
        ({"sha256": "a" * 64}, "lacks its sha256 or its time"),
        ({"sha256": "a" * 64, "taken_utc": "2099-01-01T00:00:00Z"}, "would have been taken in the future"),
        ({"sha256": "a" * 64, "taken_utc": "soon"}, "a taken_utc that is no time"),
        ({"sha256": "x", "taken_utc": "2026-01-01T00:00:00Z"}, "has a sha256 that is no digest"),
        ({"sha256": "a" * 64, "taken_utc": "2026-01-01T00:00:00Z", "size_bytes": "x"}, "has a size_bytes that is no"),
        (
            {"sha256": "a" * 64, "taken_utc": "2026-01-01T00:00:00Z", "restore_point": "x"},
            "has a restore_point that is no",
        ),
        (5, "is no object"),
    ],
)
def test_a_backup_without_sha256_or_time_or_from_the_future_is_not_recorded(
    at_cut: At, response: Any, words: str
) -> None:
    record = (
        "select cutter_governance.fn_action_record(%s, 'IG_backup', 'backup', 'take', 'x', repeat('a', 64), '{}',"
        " %s::jsonb, true, 'x')"
    )
    with pytest.raises(psycopg.Error, match=words) as refused:
        at_cut.connect("cutter_backup").execute(record, (at_cut.run_id, json.dumps(response)))
    assert refused.value.sqlstate == "CU021"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"approval_sha256": "x"}, "has a approval_sha256 that is no digest"),
        ({"statement": 5}, "has a statement that is no object"),
        ({"accepted": "maybe"}, "has a accepted that is no boolean"),
        ({"not_after": "later"}, "a not_after that is no time"),
        ({"review_decision_id": "x"}, "a review_decision_id that is none"),
        ({"policy_sha256": "f" * 64}, "accepts a signer who is not in an installed policy epoch"),
        ({"reason": None}, "lacks accepted, code or reason"),
    ],
)
def test_a_malformed_verdict_is_refused(at_cut: At, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(psycopg.Error, match=words) as refused:
        at_cut.connect("cutter_read").execute(RECORD, another_accepted(at_cut.database, **changed))
    assert refused.value.sqlstate == "CU021"


@pytest.mark.parametrize("role", ["cutter_exec", "cutter_verify", "cutter_backup"])
def test_what_has_a_body_is_the_reader_s_alone_to_see_and_to_put(at_cut: At, role: str) -> None:
    name = stop_report(at_cut.run_id)
    route = "select cutter_governance.fn_stop_route_record(%s, %s, 'a report')"
    at_cut.database.run(route, (at_cut.run_id, name), role="cutter_read")
    waiting = "select kb_id from cutter_governance.fn_outbox_waiting(%s)"
    done = "select cutter_governance.fn_outbox_done(%s, %s, 1, '{}')"
    connection = at_cut.connect(role)
    assert connection.execute(waiting, (at_cut.run_id,)).fetchall() == []
    with pytest.raises(psycopg.Error, match="is not for") as refused:
        connection.execute(done, (name, sha256_hex("a report")))
    assert refused.value.sqlstate == "CU006"
    reader = at_cut.connect("cutter_read")
    assert reader.execute(waiting, (at_cut.run_id,)).fetchall() == [(name,)]
    assert one(reader, done, (name, sha256_hex("a report")))["run"]["run_id"] == at_cut.run_id


def test_a_row_from_before_is_usable_in_what_it_leaves_as_it_is(at_cut: At) -> None:
    """A run whose caps were stored malformed still moves; its caps are not looked at again."""
    with psycopg.connect(at_cut.database.url("postgres"), autocommit=True) as owner:
        owner.execute("set session_replication_role = replica")
        owner.execute("update cutter_governance.run set caps = '5'")
    stop = "select cutter_governance.fn_run_stop(%s, 'stopped_expired', 'why')"
    assert at_cut.database.value(stop, (at_cut.run_id,), role="cutter_read")["state"] == "stopped_expired"


@pytest.mark.parametrize("name", ["a", "../a.md", "/a.md", "a//b.md", ".a.md", "a b.md", "a.md\n", f"{'x' * 520}.md"])
def test_a_document_that_no_store_takes_is_not_asked_for(at_cut: At, name: str) -> None:
    route = "select cutter_governance.fn_stop_route_record(%s, %s, 'a report')"
    with pytest.raises(psycopg.Error, match="its kb_id is no name of a document") as refused:
        at_cut.connect("cutter_read").execute(route, (at_cut.run_id, name))
    assert refused.value.sqlstate == "CU021"
