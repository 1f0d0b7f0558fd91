"""Each gate that waits gets one card in Slack, changed once when it is decided, whatever becomes of the calls."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cutter import limits
from cutter.notifications import slack
from cutter.notifications import slack as callback
from cutter.notifications.delivery import Pass, SentMessage, make_pass
from cutter.notifications.slack import TOKEN_FILE, SlackChannel
from cutter.policy.rules_file import shipped
from cutter.settings import Settings
from starter.commands import notify
from starter.slack_app.server import resolve
from tests.integration.storage.conftest import At
from tests.support.fake_slack import CHANNEL, TOKEN, Failure, FakeSlack, fake_slack
from tests.support.policies import put_in_force

ROWS = """
select coalesce(jsonb_agg(jsonb_build_object('kind', n.phase, 'done', d.done_at is not null, 'in_doubt', d.in_doubt,
    'outcome', d.outcome, 'error', d.last_error, 'ts', split_part(d.reference, '/', 2)) order by d.id), '[]')
from cutter_governance.notification_delivery d join cutter_governance.notification n on n.id = d.notification_id
"""
RECEIPTS = """
select coalesce(jsonb_agg(target order by id), '[]') from cutter_governance.action_receipt
where connector = 'notification'
"""


def caller(slack: FakeSlack, token: str = TOKEN) -> SlackChannel:
    return SlackChannel(channel=CHANNEL, url=slack.url, token=token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A run that waits at SG_1, and the channel that should hear of it."""

    at: At
    settings: Settings
    slack: FakeSlack

    def make_pass(self, *, token: str = TOKEN) -> Pass:
        """A pass, with every delay that an earlier one has set over."""
        self.at.database.run("update cutter_governance.notification_delivery set next_eligible_at = now()")
        return make_pass(self.settings, caller(self.slack, token))

    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.at.database.value(ROWS)
        return rows

    def approve(self) -> None:
        """Leg A consumes the approval that the stage has accepted."""
        with self.at.connect() as connection:
            number = self.at.opened(connection)
            self.at.create(connection)
            assert self.at.close(connection, number)["status"] == "sealed"
            connection.commit()

    def calls(self) -> list[str]:
        return [method for method, _ in self.slack.calls]


@pytest.fixture
def channel(at_cut: At, tmp_path: Path) -> Iterator[Channel]:
    with fake_slack() as slack:
        settings = at_cut.database.settings(tmp_path, slack_channel=CHANNEL, slack_url=slack.url)
        yield Channel(at=at_cut, settings=settings, slack=slack)


def test_a_gate_that_waits_gets_one_card_with_its_receipt(channel: Channel) -> None:
    """Seed 003 §7."""
    assert channel.make_pass().sent == [
        SentMessage(channel="slack", of=channel.at.run_id, kind="approval", phase="asked", place="SG_cut_authz")
    ]
    (message,) = channel.slack.posted
    text = json.dumps(message["blocks"])
    assert f"cutter approve {channel.at.stage.document_id}" in text
    assert f"{channel.at.stage.units} units at as many addresses below {channel.at.docprefix}/: " in text
    assert "says allow" not in text
    assert "The text of article" not in text
    assert channel.make_pass().sent == []
    assert len(channel.slack.posted) == 1
    subject = message["metadata"]["event_payload"]["subject"]
    assert channel.at.database.value(RECEIPTS) == [f"slack/{subject}/asked"]


def test_the_card_is_changed_when_it_is_decided_and_says_by_whom(channel: Channel) -> None:
    channel.make_pass()
    channel.approve()
    assert [message.phase for message in channel.make_pass().sent] == ["answered"]
    (message,) = channel.slack.posted
    text = json.dumps(message)
    assert "approved by alice" in text
    assert "cutter approve" not in text
    assert channel.make_pass().sent == []
    assert channel.calls() == ["chat.postMessage", "chat.update"]


def test_what_was_decided_before_it_could_be_posted_is_never_posted(channel: Channel) -> None:
    channel.slack.fail(Failure(error="channel_not_found"))
    assert channel.make_pass().sent == []
    channel.approve()
    assert channel.make_pass().sent == []
    assert channel.slack.posted == []
    assert [(row["kind"], row["done"]) for row in channel.rows()] == [("asked", True), ("answered", True)]


@pytest.mark.parametrize(
    ("failure", "pause"),
    [
        (Failure(error="invalid_auth"), limits.NOTIFICATION_RETRY_SECONDS[0]),
        (Failure(status=503), limits.NOTIFICATION_RETRY_SECONDS[0]),
        (Failure(status=429, headers=(("Retry-After", "7"),)), 7.0),
    ],
)
def test_what_slack_refused_waits_for_a_later_pass(channel: Channel, failure: Failure, pause: float) -> None:
    """Seed 003 §6.1."""
    channel.slack.fail(failure)
    tried = channel.make_pass()
    assert (tried.sent, tried.pause_seconds) == ([], pause)
    assert [message.attempts for message in tried.waiting] == [1]
    # The delay is the database's: another pass at once has nothing to send.
    assert make_pass(channel.settings, caller(channel.slack)).sent == []
    assert len(channel.make_pass().sent) == 1
    assert len(channel.slack.posted) == 1


def test_a_message_whose_answer_was_lost_is_found_and_not_posted_again(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHANNEL_STEP_SECONDS", 0.3)
    channel.slack.fail(Failure(silent=True, done=True))
    assert channel.make_pass().sent == []
    assert [row["in_doubt"] for row in channel.rows()] == [True]
    channel.slack.let_go.set()
    monkeypatch.undo()
    # A look that fails settles nothing: the message is still in doubt.
    channel.slack.fail(Failure(status=429))
    assert channel.make_pass().sent == []
    assert [row["in_doubt"] for row in channel.rows()] == [True]
    assert len(channel.make_pass().sent) == 1
    assert len(channel.slack.posted) == 1
    assert channel.rows()[0]["ts"] == channel.slack.posted[0]["ts"]
    assert channel.calls().count("chat.postMessage") == 1


def test_a_sender_that_died_before_it_sent_leaves_no_gap(channel: Channel) -> None:
    channel.slack.fail(Failure(error="channel_not_found"))
    channel.make_pass()
    channel.at.database.run("update cutter_governance.notification_delivery set in_doubt = true")
    assert len(channel.make_pass().sent) == 1
    assert channel.calls() == ["chat.postMessage", "conversations.history", "chat.postMessage"]


def test_where_the_app_may_not_read_the_channel_the_card_is_posted_all_the_same(channel: Channel) -> None:
    channel.slack.fail(Failure(error="internal_error", done=True), Failure(error="missing_scope"))
    assert channel.make_pass().sent == []
    assert len(channel.make_pass().sent) == 1
    assert len(channel.slack.posted) == 2


def test_two_senders_never_take_the_same_message(channel: Channel) -> None:
    channel.slack.fail(Failure(error="channel_not_found"))
    channel.make_pass()
    channel.at.database.run("update cutter_governance.notification_delivery set next_eligible_at = now()")
    take = "select cutter_governance.fn_notification_take('slack', 60)"
    taken = [channel.at.database.value(take, role="cutter_operator") for _ in range(2)]
    assert taken[0]["phase"] == "asked"
    assert taken[1] is None


def test_a_message_that_is_refused_again_and_again_is_given_up(channel: Channel) -> None:
    channel.slack.fail(Failure(error="invalid_blocks"), Failure(error="invalid_blocks"))
    assert [message.last_error for message in channel.make_pass().waiting] == ["invalid_blocks"]
    channel.at.database.run(
        "update cutter_governance.notification_delivery set attempts = %s", (limits.NOTIFICATION_TRIES - 1,)
    )
    assert channel.make_pass().waiting == []
    assert (channel.make_pass().sent, channel.slack.posted) == ([], [])


@pytest.mark.parametrize("first", ["given_up", "decided"])
def test_the_answer_to_a_card_that_was_given_up_in_doubt_waits_for_nothing(channel: Channel, first: str) -> None:
    """Each try may stand in the channel, and the last one too: nobody can say."""

    def give_up() -> None:
        channel.at.database.run(
            "update cutter_governance.notification_delivery set attempts = %s", (limits.NOTIFICATION_TRIES - 1,)
        )
        channel.make_pass()

    channel.slack.fail(*[Failure(error="internal_error")] * 4)
    channel.make_pass()
    for step in (give_up, channel.approve) if first == "given_up" else (channel.approve, give_up):
        step()
    assert channel.make_pass().waiting == []
    assert [(row["kind"], row["done"], row["ts"]) for row in channel.rows()] == [
        ("asked", True, None), ("answered", True, None),
    ]  # fmt: skip
    assert channel.slack.posted == []


def test_the_policy_is_asked_before_every_message(channel: Channel) -> None:
    denying = shipped().replace(
        b"    connector: notification\n    verdict: allow", b"    connector: notification\n    verdict: deny"
    )
    put_in_force(channel.settings, denying)
    assert [message.last_error for message in channel.make_pass().waiting] == ["policy_denied"]
    assert channel.slack.calls == []


def test_the_card_asks_for_the_tier_that_the_policy_asks_for(channel: Channel) -> None:
    rule = b"rules:\n  - name: carefully\n    operation: create_units\n    verdict: needs_approval(high)\n"
    put_in_force(channel.settings, shipped().replace(b"rules:\n", rule))
    channel.make_pass()
    text = json.dumps(channel.slack.posted)
    assert "tier high" in text
    assert "rule carefully says needs_approval(high)" in text


def test_the_token_stands_in_no_row_and_in_nothing_that_is_told(
    channel: Channel, capsys: pytest.CaptureFixture[str]
) -> None:
    channel.slack.fail(Failure(error="not_authed"))
    passes = [channel.make_pass(token="xoxb-canary-canary-canary") for _ in range(2)]
    stored = channel.at.database.value(
        "select jsonb_agg(to_jsonb(o))::text from cutter_governance.notification_delivery o"
    )
    assert "invalid_auth" in stored
    assert "canary" not in f"{passes}{stored}{capsys.readouterr()}"


def test_without_a_channel_nothing_is_posted(channel: Channel) -> None:
    settings = channel.settings.model_copy(update={"slack_channel": None})
    assert slack.make(settings) is None
    assert notify.drain(settings) == {"messages_sent": [], "messages_waiting": []}
    assert (channel.rows(), channel.slack.calls) == ([], [])


def test_reconcile_sends_what_waits_and_tells_what_slack_does_not_take(channel: Channel, tmp_path: Path) -> None:
    secrets = tmp_path / "secrets-of-slack"
    shutil.copytree(channel.settings.secrets, secrets)
    settings = channel.settings.model_copy(update={"secrets_dir": secrets})
    (missing,) = notify.drain(settings)["messages_waiting"]
    assert "no slack.token at" in missing["last_error"]
    (secrets / TOKEN_FILE).write_text(TOKEN)
    channel.slack.fail(Failure(error="channel_not_found"))
    assert [message["last_error"] for message in notify.drain(settings)["messages_waiting"]] == ["channel_not_found"]
    channel.at.database.run("update cutter_governance.notification_delivery set next_eligible_at = now()")
    assert [len(messages) for messages in notify.drain(settings).values()] == [1, 0]
    off = settings.model_copy(update={"slack_channel": None})
    assert notify.drain(off) == {"messages_sent": [], "messages_waiting": []}


def test_nobody_but_the_operator_touches_the_line(channel: Channel) -> None:
    privileges = channel.at.database.value("""
        select jsonb_object_agg(r, has_table_privilege(r, 'cutter_governance.notification_delivery', 'SELECT')
            or has_function_privilege(r, 'cutter_governance.fn_notification_take(text, integer)', 'EXECUTE'))
        from unnest(array['cutter_read', 'cutter_backup', 'cutter_exec', 'cutter_verify', 'directus',
            'cutter_operator']) as r
    """)
    assert [role for role, may in privileges.items() if may] == ["cutter_operator"]


def press(channel: Channel, *, user: str = "U012AB3CD", action: str = "cutter_approve", **changed: Any) -> str:
    """What a person who presses is told; the press as Slack sends it, forged into any card."""
    (message,) = channel.slack.posted
    subject = message["metadata"]["event_payload"]["subject"]
    forged = {"actions": [{"action_id": action, "value": subject}], **changed}
    click = callback.click(channel.slack.press(message, action, user=user, **forged))
    assert click is not None
    settings = channel.settings.model_copy(update={"slack_people": {"U012AB3CD": "alice"}})
    reply = resolve(settings, click)
    reply.afterwards()
    return reply.text


EVERYTHING = """
select jsonb_build_object('run', to_jsonb(r), 'latch', to_jsonb(l),
    'rows', (select count(*) from cutter_governance.approval_verdict)
          + (select count(*) from cutter_governance.audit_event)
          + (select count(*) from cutter_governance.order_consumption))
from cutter_governance.run r join cutter_governance.stop_latch l using (run_id)
"""


@pytest.mark.parametrize("action", ["cutter_approve", "cutter_reject"])
def test_a_press_at_a_sovereign_gate_is_answered_with_the_command_and_changes_nothing(
    channel: Channel, action: str
) -> None:
    """Seed 003 §7."""
    channel.make_pass()
    before = channel.at.database.value(EVERYTHING)
    answers = [press(channel, action=action) for _ in range(2)]
    assert f"```cutter approve {channel.at.stage.document_id}```" in answers[0]
    assert "nothing was changed" in answers[0]
    assert answers[0] == answers[1]
    assert channel.at.database.value(EVERYTHING) == before
    assert [answer["text"] for answer in channel.slack.answers] == answers


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"user": "U0STRANGER"}, "not known here"),
        ({"container": {"channel_id": "C0OTHER", "message_ts": "1795000000.000100"}}, "no card of ours"),
        ({"container": {"channel_id": CHANNEL, "message_ts": "1795000009.000100"}}, "no card of ours"),
        ({"actions": [{"action_id": "cutter_approve", "value": "another"}]}, "no card of ours"),
    ],
)
def test_a_stranger_or_a_card_that_is_not_ours_is_refused(
    channel: Channel, changed: dict[str, Any], words: str
) -> None:
    channel.make_pass()
    before = channel.at.database.value(EVERYTHING)
    assert words in press(channel, **changed)
    assert channel.at.database.value(EVERYTHING) == before


def test_an_answer_is_sent_to_nobody_but_slack(channel: Channel) -> None:
    channel.make_pass()
    with fake_slack() as elsewhere:
        press(channel, response_url=f"{elsewhere.url.removesuffix('/api')}/actions/T1/1/x")
        assert elsewhere.answers == []
    assert channel.slack.answers == []
