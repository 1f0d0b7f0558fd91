"""What the policy has stopped, a press decides where the signed epoch lets it go unsigned, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from activities.run.approval_requests import resume_run
from cutter.approvals import schema
from cutter.approvals.policy import Signing
from cutter.catalogue import WorkerRole
from cutter.messages import Mode, ResumeInput
from cutter.notifications import slack as callback
from cutter.notifications.delivery import make_pass
from cutter.notifications.slack import SlackChannel
from cutter.policy.rules_file import shipped
from cutter.settings import Settings
from cutter.types import Json
from starter.slack_app.server import resolve
from tests.support.fake_slack import CHANNEL, TOKEN, FakeSlack, fake_slack
from tests.support.policies import put_in_force
from tests.support.runs import Deployment, drive, law, next_epoch

ALICE, BOB, OLGA = "U0ALICE", "U0BOB", "U0OLGA"
DECIDE = "select cutter_governance.fn_unsigned_decide(%s, %s, %s, %s, %s)"
STOP = "select cutter_governance.fn_policy_stop(%s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A run that the policy has stopped before its backup, and the channel with its card."""

    made: Deployment
    settings: Settings
    slack: FakeSlack
    run_id: str

    def make_pass(self) -> Json:
        """Bring the channel up to date; the newest message."""
        make_pass(self.settings, SlackChannel(channel=CHANNEL, url=self.slack.url, token=TOKEN))
        return self.slack.posted[-1]

    def press(self, user: str, *, approve: bool = True, **changed: Any) -> str:
        """What somebody is told who presses a button of the card, or forges such a press."""
        message = self.slack.posted[0]
        action = "cutter_approve" if approve else "cutter_reject"
        forged = {"actions": [{"action_id": action, "value": message["metadata"]["event_payload"]["subject"]}]}
        click = callback.click(self.slack.press(message, action, user=user, **forged))
        assert click is not None
        settings = self.settings.model_copy(update=changed)
        reply = resolve(settings, click)
        reply.afterwards()
        return reply.text

    def stop(self) -> Json | None:
        policy_stop: Json | None = self.made.database.value(STOP, (self.run_id,))
        return policy_stop

    def decide(self, approver: str, account: str, *, decision: str = "approve", stop: str = "") -> Json:
        """The same by SQL, as whoever has the operator's password can."""
        stop = stop or (self.stop() or {})["stop"]
        answer: Json = self.made.database.value(
            DECIDE, (self.run_id, stop, decision, approver, account), role="cutter_operator"
        )
        return answer

    def resume(self) -> tuple[str, str]:
        """What the run's workflow does when it is told; the state then."""
        done = resume_run(self.made.deps[WorkerRole.CUTTER], ResumeInput(run_id=self.run_id))
        return done.code, str(self.made.run_row(self.run_id)["state"])

    def decisions(self) -> list[Json]:
        rows: list[Json] = self.made.database.value(
            "select coalesce(jsonb_agg(to_jsonb(u) order by id), '[]') from cutter_governance.unsigned_decision u"
        )
        return rows


def buttons(message: Json) -> int:
    return json.dumps(message).count('"type": "button"')


def stopped(made: Deployment, slack: FakeSlack, *, tier: str, mode: Mode = "live") -> Stopped:
    """A run that waits as stopped_policy_backup."""
    rule = f"rules:\n  - name: ask\n    connector: backup\n    verdict: needs_approval({tier})\n"
    asking = shipped().replace(b"rules:\n", rule.encode())
    put_in_force(made.settings, asking)
    run_id = drive(made, law(2), until="IG_cutplan", mode=mode).run_id
    outcome = made.gate("IG_backup", run_id)
    assert outcome.state == "stopped_policy_backup", outcome
    people = {ALICE: "alice", BOB: "bob", OLGA: "olga", "U0MALLORY": "mallory"}
    settings = made.settings.model_copy(
        update={"slack_channel": CHANNEL, "slack_url": slack.url, "slack_people": people,
                "temporal_address": "127.0.0.1:1"}
    )  # fmt: skip
    return Stopped(made=made, settings=settings, slack=slack, run_id=run_id)


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with fake_slack() as made:
        yield made


@pytest.fixture
def optional(deployment: Deployment, tmp_path: Path) -> Deployment:
    """A deployment whose signed epoch says that signing is optional."""
    next_epoch(deployment, tmp_path / "approvers", Signing.OPTIONAL)
    return deployment


def test_one_person_lets_a_rehearsal_go_on_that_asks_for_tier_low(optional: Deployment, slack: FakeSlack) -> None:
    """Seed 003 §7."""
    run = stopped(optional, slack, tier="low", mode="dryrun")
    card = run.make_pass()
    assert buttons(card) == 2
    assert "rule ask says needs_approval(low) to backup take at IG_backup" in json.dumps(card)
    assert run.resume() == ("refused", "stopped_policy_backup")
    sentence = run.press(ALICE)
    assert sentence == "alice approves it: 1 of 1. It continues."
    assert run.press(ALICE) == sentence
    assert [(decision["approver"], decision["account"], decision["tier"]) for decision in run.decisions()] == [
        ("alice", f"slack:{ALICE}", "low")
    ]
    assert run.resume() == ("resumed", "cutplan_ok")
    assert run.press(ALICE) == sentence
    assert optional.gate("IG_backup", run.run_id).status == "passed"
    assert "approved by alice" in json.dumps(run.make_pass())
    assert [answer["text"] for answer in slack.answers] == [sentence] * 3
    assert run.press(BOB) == f"It was decided already: `cutter status {run.run_id}`."


def test_what_was_decided_is_in_the_audit_chain(optional: Deployment, slack: FakeSlack) -> None:
    """Seeds 003 §5, 003 §7."""
    run = stopped(optional, slack, tier="low", mode="dryrun")
    run.make_pass()
    run.press(ALICE)
    bodies = optional.database.value(
        "select jsonb_agg(body::jsonb) from cutter_governance.audit_event where kind = 'unsigned_decision'"
    )
    assert [(body["decision"], body["approver"], body["gate"]) for body in bodies] == [
        ("approve", "alice", "IG_backup")
    ]


def test_a_rejection_cancels_the_run_and_a_second_one_says_the_same(optional: Deployment, slack: FakeSlack) -> None:
    run = stopped(optional, slack, tier="low", mode="dryrun")
    run.make_pass()
    sentence = run.press(ALICE, approve=False)
    assert sentence == "alice rejects it: the run is cancelled."
    latch = optional.database.value("select to_jsonb(l) from cutter_governance.stop_latch l")
    assert (latch["stopped"], latch["kind"], latch["set_by"]) == (True, "cancel", "alice")
    assert run.press(ALICE, approve=False) == sentence
    assert "first answer counts" in run.press(ALICE)
    assert run.resume() == ("refused", "stopped_policy_backup")
    assert len(run.decisions()) == 1


def test_the_highest_tier_of_a_rehearsal_takes_two_people_and_nobody_counts_twice(
    optional: Deployment, slack: FakeSlack
) -> None:
    run = stopped(optional, slack, tier="high", mode="dryrun")
    assert buttons(run.make_pass()) == 2
    sentence = run.press(ALICE)
    assert sentence == "alice approves it: 1 of 2. Another person must approve it too."
    assert run.press(ALICE) == sentence
    assert run.resume()[0] == "refused"
    # The same person by another account, and the same account under another name.
    assert "first answer counts" in run.press(BOB, slack_people={BOB: "alice"})
    assert "first answer counts" in run.press(ALICE, slack_people={ALICE: "bob"})
    assert run.resume()[0] == "refused"
    assert run.press(BOB) == "bob approves it: 2 of 2. It continues."
    assert run.resume() == ("resumed", "cutplan_ok")


@pytest.mark.parametrize("tier", ["low", "medium", "high"])
def test_a_live_run_takes_signatures_whatever_the_epoch_says(optional: Deployment, slack: FakeSlack, tier: str) -> None:
    run = stopped(optional, slack, tier=tier)
    assert buttons(run.make_pass()) == 0
    assert "--decision resume" in run.press(ALICE)
    assert run.decide("alice", "slack:x") == {"status": "refused", "code": "signature_needed"}
    assert run.decide("alice", "slack:x", decision="reject") == {"status": "refused", "code": "signature_needed"}
    assert (run.decisions(), run.resume()[0]) == ([], "refused")


@pytest.mark.parametrize(("tier", "mode"), [("low", "live"), ("low", "dryrun"), ("high", "dryrun")])
def test_without_the_signed_epoch_s_word_everything_takes_signatures(
    deployment: Deployment, slack: FakeSlack, tier: str, mode: Mode
) -> None:
    run = stopped(deployment, slack, tier=tier, mode=mode)
    assert buttons(run.make_pass()) == 0
    assert "nothing was changed" in run.press(ALICE)
    assert run.decide("alice", "slack:x") == {"status": "refused", "code": "signature_needed"}
    assert (run.decisions(), run.resume()[0]) == ([], "refused")


def test_who_may_not_sign_decides_nothing_without_a_signature_either(optional: Deployment, slack: FakeSlack) -> None:
    run = stopped(optional, slack, tier="low", mode="dryrun")
    run.make_pass()
    assert "mallory is no approver of epoch 2" in run.press("U0MALLORY")
    assert "not known here" in run.press("U0STRANGER")
    assert "olga is no approver" in run.press(OLGA)
    optional.database.run("update cutter_governance.run set starter = 'alice'")
    assert "alice started this run" in run.press(ALICE)
    assert run.decide("alice", "slack:x")["code"] == "approver_is_starter"
    assert run.decisions() == []


def test_a_stop_by_a_person_is_not_lifted_by_a_press(optional: Deployment, slack: FakeSlack) -> None:
    run = stopped(optional, slack, tier="low", mode="dryrun")
    run.make_pass()
    optional.database.run("update cutter_governance.stop_latch set stopped = true, kind = 'stop', set_at = now()")
    assert "takes a signature" in run.press(ALICE)
    assert (run.decisions(), run.resume()[0]) == ([], "refused")


def test_a_person_who_stops_the_run_outweighs_those_who_let_it_go_on(optional: Deployment, slack: FakeSlack) -> None:
    run = stopped(optional, slack, tier="low", mode="dryrun")
    run.make_pass()
    assert "1 of 1" in run.press(ALICE)
    optional.database.run("update cutter_governance.stop_latch set stopped = true, kind = 'stop', set_at = now()")
    assert run.resume() == ("refused", "stopped_policy_backup")


def test_a_decision_counts_no_more_once_the_epoch_asks_for_signatures(
    optional: Deployment, slack: FakeSlack, tmp_path: Path
) -> None:
    run = stopped(optional, slack, tier="low", mode="dryrun")
    run.make_pass()
    run.press(ALICE)
    next_epoch(optional, tmp_path / "required", Signing.REQUIRED, after=2)
    assert (run.stop() or {})["have"] == 0
    assert run.resume() == ("refused", "stopped_policy_backup")


def test_a_decision_about_one_stop_is_none_about_the_next(optional: Deployment, slack: FakeSlack) -> None:
    run = stopped(optional, slack, tier="high", mode="dryrun")
    run.make_pass()
    before = (run.stop() or {})["stop"]
    optional.database.run("update cutter_governance.run set state_at = state_at + interval '1 second'")
    assert run.decide("alice", "slack:x", stop=before)["code"] == "decided_already"
    assert run.decisions() == []


def test_a_signature_and_a_press_are_two_people_and_never_one_twice(optional: Deployment, slack: FakeSlack) -> None:
    run = stopped(optional, slack, tier="high", mode="dryrun")
    run.make_pass()
    verdict = optional.order(run.run_id, schema.RESUME, by=0, stopped_state="stopped_policy_backup")
    assert verdict.accepted, verdict
    order = ResumeInput(run_id=run.run_id, statement_sha256=verdict.approval_sha256)
    assert resume_run(optional.deps[WorkerRole.CUTTER], order).code == "more_needed"
    assert "1 of 2" in run.press(ALICE)
    assert run.resume()[0] == "refused"
    assert "2 of 2" in run.press(BOB)
    assert run.resume() == ("resumed", "cutplan_ok")


def test_only_the_operator_decides_by_sql(optional: Deployment) -> None:
    allowed = optional.database.value("""
        select coalesce(jsonb_agg(r), '[]') from unnest(array['cutter_read', 'cutter_backup', 'cutter_exec',
            'cutter_verify', 'directus', 'cutter_operator']) as r
        where has_function_privilege(r, 'cutter_governance.fn_unsigned_decide(text, text, text, text, text)', 'EXECUTE')
            or has_table_privilege(r, 'cutter_governance.unsigned_decision', 'INSERT, UPDATE, DELETE')
    """)
    assert allowed == ["cutter_operator"]
    inserting = optional.database.value(
        "select has_table_privilege('cutter_operator', 'cutter_governance.unsigned_decision', 'INSERT, UPDATE, DELETE')"
    )
    assert inserting is False
