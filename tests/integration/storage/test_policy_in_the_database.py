"""What the database checks of the decisions that a worker records: that there is one, that nothing is denied, how many
people have approved; and that it stands in the sealed receipt."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.policy.rules_file import shipped
from cutter.types import Json
from tests.integration.storage.conftest import ENACT, LEG_A, LEG_B, VERIFY, At
from tests.support import gate_calls as gates
from tests.support.gate_calls import allowed, one
from tests.support.runs import Deployment, drive, law, offer

TEXT = shipped().decode()


def without(gate: str, connector: str) -> Json:
    policy = allowed(gate)
    return {**policy, "decisions": [entry for entry in policy["decisions"] if entry["connector"] != connector]}


def with_verdict(gate: str, verdict: str | None, tier: str | None = None) -> Json:
    return allowed(gate, verdict, tier)  # type: ignore[arg-type]


def without_tier(gate: str) -> Json:
    policy = allowed(gate)
    decisions = [{key: entry[key] for key in entry if key != "tier"} for entry in policy["decisions"]]
    return {**policy, "decisions": decisions}


REFUSED: dict[str, tuple[Callable[[str], Json], str]] = {
    "nothing recorded": (lambda _: {"sha256": "0" * 64, "decisions": []}, "policy_not_decided"),
    "only the document decided": (lambda gate: without(gate, "database"), "policy_not_decided"),
    "another gate's write decided": (lambda gate: allowed(ENACT if gate != ENACT else LEG_A), "policy_not_decided"),
    "denied": (lambda gate: with_verdict(gate, "deny"), "policy_denied"),
    "an unknown verdict": (lambda gate: with_verdict(gate, "perhaps"), "policy_denied"),
    "no verdict": (lambda gate: with_verdict(gate, None), "policy_denied"),
    "an unknown tier": (lambda gate: with_verdict(gate, "needs_approval", "huge"), "policy_denied"),
    "no tier": (lambda gate: with_verdict(gate, "needs_approval"), "policy_denied"),
    "a tier of an allowance": (lambda gate: with_verdict(gate, "allow", "low"), "policy_denied"),
    "an unknown tier of an allowance": (lambda gate: with_verdict(gate, "allow", "huge"), "policy_denied"),
    "no word about the tier": (without_tier, "policy_denied"),
    "of no policy": (lambda gate: {**allowed(gate), "sha256": ""}, "policy_denied"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_writing_gate_opens_for_no_decision_that_does_not_allow_it(at_cut: At, at_enact: At, name: str) -> None:
    made, code = REFUSED[name]
    for at, gate in ((at_cut, LEG_A), (at_enact, ENACT)):
        connection = at.connect()
        answer = at.open(connection, gate, policy=made(gate))
        assert (answer["status"], answer.get("code")) == ("refused", code)
        connection.rollback()
        assert at.open(connection, gate)["status"] == "opened"


def test_without_any_record_of_the_policy_a_writing_gate_stays_shut(at_cut: At) -> None:
    """Seed 003 §5."""
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    digest = gates.payload(connection, LEG_A, at_cut.run_id)
    offers = json.dumps(list(at_cut.stage.offers))
    answer = one(
        connection, "select cutter_governance.fn_gate_open(%s, %s, %s, %s, %s::jsonb)",
        (at_cut.run_id, LEG_A, number, digest, offers),
    )  # fmt: skip
    assert answer == {"status": "refused", "code": "policy_not_decided"}


@pytest.mark.parametrize(("gate", "until", "role"), [(LEG_B, "IG_structural_verify", "cutter_exec"),
                                                     (VERIFY, LEG_B, "cutter_verify")])  # fmt: skip
def test_the_writes_between_the_sovereign_gates_need_a_decision_and_its_approvers_too(
    deployment: Deployment, gate: str, until: str, role: str
) -> None:
    run_id = drive(deployment, law(2), until=until).run_id
    connection = deployment.database.connect(role)

    def code(policy: Json) -> str:
        answer = gates.open_gate(connection, gate, run_id, policy=policy)
        connection.rollback()
        return str(answer.get("code", answer["status"]))

    assert code(without(gate, "database")) == "policy_not_decided"
    assert code(with_verdict(gate, "needs_approval", "medium")) == "opened"
    # One person has approved the cut; a high tier asks for two.
    assert code(with_verdict(gate, "needs_approval", "high")) == "policy_approval_missing"


def resumes(deployment: Deployment, run_id: str, gate: str, who: str, key: str) -> None:
    """Somebody's signed word that the run goes on, where the policy had stopped it at that gate."""
    deployment.database.run(
        "with said as (insert into cutter_governance.approval_verdict (run_id, gate, kb_id, approval_sha256, accepted,"
        " code, reason, decision, approver, fingerprint, not_after, policy_sha256, statement)"
        " select v.run_id, v.gate, 'r.md', encode(sha256(%s::bytea), 'hex'), true, 'accepted', '', 'resume', %s, %s,"
        " v.not_after, v.policy_sha256, jsonb_build_object('stopped_state', 'stopped_policy_' || g.phase)"
        " from cutter_governance.approval_verdict v, cutter_governance.gate_catalogue g"
        " where v.run_id = %s and v.accepted and g.gate = %s limit 1 returning *)"
        " insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)"
        " select approval_sha256, run_id, decision, approver, fingerprint from said",
        (key, who, key, run_id, gate),
    )


def test_one_person_whose_key_was_rotated_is_one_of_two(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_structural_verify").run_id
    connection = deployment.database.connect("cutter_exec")

    def code() -> str:
        answer = gates.open_gate(connection, LEG_B, run_id, policy=with_verdict(LEG_B, "needs_approval", "high"))
        connection.rollback()
        return str(answer.get("code", answer["status"]))

    assert code() == "policy_approval_missing"
    resumes(deployment, run_id, LEG_B, "alice", "A" * 40)
    assert code() == "policy_approval_missing", "alice approved the cut by her former key"
    resumes(deployment, run_id, LEG_B, "bob", "B" * 40)
    assert code() == "opened"


def test_a_high_tier_takes_two_people_at_a_sovereign_gate(deployment: Deployment) -> None:
    """Seed 003 §1.3."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    alice = offer(deployment, deployment.approve(run_id, Sovereign.CUT)[1])
    connection = deployment.database.connect("cutter_exec")
    high = with_verdict(LEG_A, "needs_approval", "high")

    def code(*offers: Json, policy: Json) -> str:
        answer = gates.open_gate(connection, LEG_A, run_id, approvals=offers, policy=policy)
        connection.rollback()
        return str(answer.get("code", answer["status"]))

    assert code(alice, policy=allowed(LEG_A)) == "opened"
    assert code(alice, policy=high) == "threshold_not_met"
    again = offer(deployment, deployment.approve(run_id, Sovereign.CUT)[1])
    assert code(alice, again, policy=high) == "approval_consumed_before"
    bob = offer(deployment, deployment.approve(run_id, Sovereign.CUT, by=1)[1])
    assert code(alice, bob, policy=high) == "opened"
    assert code(alice, bob, policy=allowed(LEG_A)) == "more_approvals_than_slots"


def test_the_tier_that_people_were_asked_for_holds_whatever_the_writer_records(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    alice = offer(deployment, deployment.approve(run_id, Sovereign.CUT)[1])
    connection = deployment.database.connect("cutter_exec")
    for tier in ("high", "low", "huge"):
        one(connection, "select cutter_governance.fn_request_raise(%s, 'SG_cut_authz', %s)", (run_id, tier))
    connection.commit()
    assert deployment.database.value("select tier from cutter_governance.approval_request") == "high"
    answer = gates.open_gate(connection, LEG_A, run_id, approvals=[alice], policy=allowed(LEG_A))
    assert answer["code"] == "threshold_not_met"


def test_the_decision_is_sealed_in_the_receipt_and_its_policy_s_text_kept_once(at_cut: At) -> None:
    connection = at_cut.connect()
    policy = {**allowed(LEG_A), "sha256": sha256_hex(TEXT), "text": TEXT}
    number = at_cut.open(connection, policy=policy)["attempt"]
    at_cut.create(connection)
    at_cut.close(connection, number)
    connection.commit()
    body, kept = at_cut.database.value(
        "select array[sealed_body, policy::text] from cutter_governance.gate_receipt where gate = %s", (LEG_A,)
    )
    assert json.loads(kept) == {name: policy[name] for name in ("sha256", "decisions")}
    assert json.loads(body)["policy"] == json.loads(kept)
    texts = "select count(*) from cutter_governance.governing_policy where body = %s and sha256 = %s"
    assert at_cut.database.value(texts, (TEXT, sha256_hex(TEXT))) == 1


def test_a_denial_keeps_the_policy_in_the_attempt_and_in_the_audit_chain(at_cut: At) -> None:
    """Seed 003 §5."""
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    policy = {**with_verdict(LEG_A, "deny"), "sha256": sha256_hex(TEXT), "text": TEXT}
    connection.execute(
        "select cutter_governance.fn_gate_refuse(%s, %s, %s, 'failed', 'no', %s::jsonb, 'failed_policy')",
        (at_cut.run_id, LEG_A, number, json.dumps({"policy": policy})),
    )
    connection.commit()
    assert at_cut.run()["state"] == "failed_policy"
    assert at_cut.run()["last_error"]["report"]["policy"] == {k: policy[k] for k in ("sha256", "decisions")}
    moved = at_cut.database.value(
        "select body from cutter_governance.audit_event where kind = 'transition' order by seq desc limit 1"
    )
    assert json.loads(moved)["metadata"]["policy"]["decisions"] == policy["decisions"]


VOID = "select cutter_governance.fn_void_open(%s, repeat('e', 64), %s::jsonb)"


def signed_void(at: At) -> None:
    """An accepted void of the stage's run."""
    at.database.run(
        "insert into cutter_governance.approval_verdict (run_id, gate, kb_id, approval_sha256, accepted, code, reason,"
        " decision, approver, fingerprint, not_after, policy_sha256, statement)"
        " select run_id, gate, 'v.md', repeat('e', 64), true, 'accepted', '', 'void', approver, fingerprint, not_after,"
        " policy_sha256, '{}' from cutter_governance.approval_verdict where accepted limit 1"
    )


def voided(at: At, verdict: str | None, tier: str | None) -> str:
    """What the void is answered whose withdrawal the policy decided so; the transaction is rolled back."""
    decision = {"connector": "database", "operation": "withdraw_drafts", "verdict": verdict, "tier": tier}
    policy = {"sha256": "0" * 64, "decisions": [decision]} if verdict else None
    connection = at.connect()
    answer = one(connection, VOID, (at.run_id, json.dumps(policy) if policy else None))
    connection.rollback()
    return str(answer.get("code", answer["status"]))


@pytest.mark.parametrize(
    ("verdict", "tier", "code"),
    [("allow", None, "opened"), ("deny", None, "policy_denied"), ("needs_approval", "low", "opened"),
     ("needs_approval", "high", "policy_approval_missing"), ("needs_approval", "huge", "policy_denied"),
     ("needs_approval", None, "policy_denied"), ("perhaps", None, "policy_denied"), (None, None, "policy_not_decided")],
)  # fmt: skip
def test_a_void_needs_the_policy_s_leave_too(at_cut: At, verdict: str | None, tier: str | None, code: str) -> None:
    signed_void(at_cut)
    assert voided(at_cut, verdict, tier) == code


def test_a_void_carries_one_signature_and_each_tier_asks_for_as_many_as_the_epoch_says(
    at_cut: At, at_enact: At
) -> None:
    """By the sovereign gate that the run has before it, which its statement names."""
    for at, gate, other in ((at_cut, *Sovereign), (at_enact, *reversed(Sovereign))):
        signed_void(at)
        for name, code in ((other, "opened"), (gate, "policy_approval_missing")):
            at.database.run(
                "alter table cutter_governance.policy_epoch disable trigger user;"
                " update cutter_governance.policy_epoch set thresholds = '{}',"
                f' tiers = \'{{"{name.value}": {{"low": 1, "medium": 2}}}}\''
            )
            assert voided(at, "needs_approval", "low") == "opened"
            assert voided(at, "needs_approval", "medium") == code
