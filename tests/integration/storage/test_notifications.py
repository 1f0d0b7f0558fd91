"""What people must hear of is written with what it tells, and reaches every channel, whatever becomes of the sender."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString

import pytest
from psycopg.types.json import Jsonb

from cutter import limits
from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.notifications import channels, delivery, email, slack, webhook
from cutter.notifications.channels import Channel
from cutter.policy.rules_file import shipped
from cutter.preflight.checks import MESSAGES
from cutter.settings import Settings, load
from cutter.storage.pools import session
from cutter.storage.records import queries
from starter import cli
from starter.commands import doctor, notify
from tests.integration.storage.conftest import At
from tests.integration.storage.test_audit_and_immutability import BATCH, ROW
from tests.support.database import Database
from tests.support.fake_slack import CHANNEL, TOKEN, FakeSlack, fake_slack
from tests.support.policies import put_in_force
from tests.support.reads import counted
from tests.support.receivers import HttpReceiver, MailServer, http_receiver, mail_server

ROOT = Path(__file__).parents[3]
SECRET = "0123456789abcdef0123456789abcdef"
WRITTEN = """
select coalesce(jsonb_agg(jsonb_build_array(kind, phase, place) order by id), '[]')
from cutter_governance.notification
"""
OUTCOMES = """
select coalesce(jsonb_agg(jsonb_build_array(d.channel, n.kind, n.phase, d.outcome) order by n.id, d.channel), '[]')
from cutter_governance.notification_delivery d join cutter_governance.notification n on n.id = d.notification_id
"""
HELD_BY_THE_SENDER: LiteralString = """
select count(*) from pg_stat_activity a
where a.usename = 'cutter_operator' and (a.state <> 'idle' or a.backend_xid is not null)
"""
DUE = "update cutter_governance.notification_delivery set next_eligible_at = now()"
MOVE = "select cutter_governance.fn_run_move(%s, %s, 'test')"


@dataclass(slots=True, kw_only=True)
class Deployment:
    """A run that waits at SG_1, and a receiver of each kind."""

    at: At
    settings: Settings
    http: HttpReceiver
    mail: MailServer
    slack: FakeSlack
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def database(self) -> Database:
        return self.at.database

    def channel(self, name: str) -> Channel:
        made = channels.channel(self.settings, name)
        assert made is not None
        return made

    def deliver(self, name: str, **changed: Any) -> delivery.Pass:
        """A pass of one channel, with every delay over."""
        self.database.run(DUE)
        settings = self.settings.model_copy(update=changed)
        return delivery.make_pass(settings, self.channel(name))

    def move(self, state: str) -> None:
        self.database.run(MOVE, (self.at.run_id, state))

    def written(self) -> list[list[str]]:
        rows: list[list[str]] = self.database.value(WRITTEN)
        return rows

    def outcomes(self, name: str) -> list[list[str | None]]:
        rows: list[list[str | None]] = self.database.value(OUTCOMES)
        return [row[1:] for row in rows if row[0] == name]

    def environment(self, only: str) -> dict[str, str]:
        """What the environment says where one channel is on."""
        settings = self.settings
        ours = {"CUTTER_STATE_DIR": str(settings.state), "CUTTER_DATABASE_URL": str(settings.database_url),
                "CUTTER_SECRETS_DIR": str(settings.secrets)}  # fmt: skip
        own = {
            "webhook": {"CUTTER_WEBHOOK_URL": self.http.url},
            "slack": {"CUTTER_SLACK_CHANNEL": CHANNEL, "CUTTER_SLACK_URL": self.slack.url},
            "email": {"CUTTER_EMAIL_TO": '["an@example.org"]', "CUTTER_EMAIL_FROM": "cutter@example.org",
                      "CUTTER_SMTP_HOST": f"127.0.0.1:{self.mail.port}",
                      "CUTTER_SMTP_SECURITY": "none"},
        }[only]  # fmt: skip
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("CUTTER_", "TEMPORAL_"))}
        return {**kept, **ours, **own}

    def start_sender(self, only: str) -> subprocess.Popen[bytes]:
        """The pass of `cutter reconcile` as a process."""
        program = "from cutter.settings import load; from starter.commands.notify import drain; drain(load())"
        command = [sys.executable, "-c", program]
        made = subprocess.Popen(
            command, cwd=ROOT, env=self.environment(only), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.started.append(made)
        return made


@pytest.fixture
def made(at_cut: At, tmp_path: Path) -> Iterator[Deployment]:
    secrets = tmp_path / "secrets"
    shutil.copytree(at_cut.database.settings(tmp_path).secrets, secrets)
    (secrets / webhook.SECRET_FILE).write_text(SECRET)
    (secrets / slack.TOKEN_FILE).write_text(TOKEN)
    with http_receiver() as http, mail_server() as mail, fake_slack() as fake:
        settings = at_cut.database.settings(
            tmp_path, webhook_url=http.url, email_to=("an@example.org",), email_from="cutter@example.org",
            smtp_host=f"127.0.0.1:{mail.port}", smtp_security="none", slack_channel=CHANNEL,
            slack_url=fake.url,
        ).model_copy(update={"secrets_dir": secrets})  # fmt: skip
        new_deployment = Deployment(at=at_cut, settings=settings, http=http, mail=mail, slack=fake)
        try:
            yield new_deployment
        finally:
            for process in new_deployment.started:
                process.kill()
                process.communicate()


# --- written with what it tells ---------------------------------------------------------------------------------------


def test_a_notification_is_written_by_the_transaction_that_makes_it_true(made: Deployment) -> None:
    before = made.written()
    assert before == [["approval", "asked", "SG_cut_authz"]]
    with made.at.connect("cutter_owner") as connection:
        connection.execute(MOVE, (made.at.run_id, "stopped_unavailable_kb"))
        row = connection.execute("select count(*) from cutter_governance.notification").fetchone()
        assert row == (2,)
        connection.rollback()
    assert made.written() == before
    made.move("stopped_unavailable_kb")
    assert made.written() == [*before, ["stop", "told", "stopped_unavailable_kb"]]


@pytest.mark.parametrize(
    ("state", "kinds"),
    [
        ("failed_mark", [["failure", "told", "failed_mark"], ["approval", "answered", "SG_cut_authz"]]),
        ("closeout_reported", [["finished", "told", "closeout_reported"], ["approval", "answered", "SG_cut_authz"]]),
        ("stopped_drift_rows", [["stop", "told", "stopped_drift_rows"]]),
        ("voided_cancelled", [["approval", "answered", "SG_cut_authz"]]),
        ("grants_probed", []),
    ],
)
def test_each_state_that_people_must_hear_of_is_written_once(
    made: Deployment, state: str, kinds: list[list[str]]
) -> None:
    made.move(state)
    made.move(state)
    assert made.written()[1:] == kinds


def test_a_run_of_a_batch_leaves_its_failure_to_the_batch_and_its_stop_not(made: Deployment) -> None:
    made.database.run("update cutter_governance.run set batch_id = %s", (BATCH,))
    made.move("stopped_drift_rows")
    made.move("failed_mark")
    assert [kind for kind, *_ in made.written()] == ["approval", "stop", "approval"]


def test_a_batch_that_halts_and_ends_is_told_with_the_counts_of_its_documents(made: Deployment) -> None:
    items = Jsonb([{"document_id": "ICX-1", "position": 1, "priority": 5, "depends_on": [], "critical": False,
                    "tenant": "default"}])  # fmt: skip
    made.deliver("webhook", notify={"webhook": ["batch"]})
    register: LiteralString = "select cutter_governance.fn_batch_register(%s, %s)"
    made.database.value(register, (Jsonb(ROW), items), role="cutter_read")
    made.database.value("select cutter_governance.fn_batch_halt(%s, 'stop', 'look')", (BATCH,), role="cutter_read")
    made.database.value(
        "select cutter_governance.fn_batch_move(%s, 'batch_voided', 'test')", (BATCH,), role="cutter_read"
    )
    assert made.written()[1:] == [["batch", "told", "halted_stop"], ["batch", "told", "batch_voided"]]
    made.deliver("webhook", notify={"webhook": ["batch"]})
    cards = [json.loads(request.body)["card"] for request in made.http.posted]
    assert [(card["title"], card["batch_id"]) for card in cards] == [
        ("Batch halted: halted_stop", BATCH), ("Batch ended: batch_voided", BATCH),
    ]  # fmt: skip
    assert {"name": "Documents", "value": "1"} in cards[0]["facts"]
    assert cards[0]["commands"] == [f"cutter status {BATCH}"]


# --- which channel hears what -----------------------------------------------------------------------------------------


@pytest.mark.promise
def test_every_channel_that_is_on_hears_it_and_says_by_whom_it_was_decided(made: Deployment) -> None:
    sent = notify.drain(made.settings)
    assert sent["messages_waiting"] == []
    assert [message["channel"] for message in sent["messages_sent"]] == ["slack", "email", "webhook"]
    with made.at.connect() as connection:
        number = made.at.opened(connection)
        made.at.create(connection)
        assert made.at.close(connection, number)["status"] == "sealed"
        connection.commit()
    assert [message["phase"] for message in notify.drain(made.settings)["messages_sent"]] == ["answered"] * 3
    assert "approved by alice" in json.dumps(made.slack.posted)
    assert "approved by alice" in made.mail.mails[1].get_content()
    assert made.mail.mails[1]["In-Reply-To"] == made.mail.mails[0]["Message-ID"]
    asked, answered = (json.loads(request.body)["card"] for request in made.http.posted)
    assert asked["subject"] == answered["subject"]
    assert (asked["severity"], answered["text"]) == ("action", "approved by alice")
    for text in (json.dumps(made.slack.posted), made.mail.mails[0].get_content(), json.dumps(asked)):
        assert "The text of article" not in text
        assert SECRET not in text
    assert notify.drain(made.settings) == {"messages_sent": [], "messages_waiting": []}


def test_a_channel_gets_the_kinds_that_the_settings_name(made: Deployment) -> None:
    routes = {"webhook": ["failure", "finished"], "email": ["stop"]}
    for name in routes:
        made.deliver(name, notify=routes)
    made.move("stopped_drift_rows")
    made.move("failed_mark")
    for name in routes:
        made.deliver(name, notify=routes)
    assert [json.loads(request.body)["card"]["kind"] for request in made.http.posted] == ["failure"]
    assert [mail["Subject"] for mail in made.mail.mails] == [
        f"[cutter] WARNING: {made.at.docprefix} stopped: stopped_drift_rows"
    ]


def test_a_channel_that_is_new_hears_what_waits_and_not_what_is_past(made: Deployment) -> None:
    made.move("stopped_drift_rows")
    made.move("awaiting_cut_authorization")
    assert [(message.kind, message.phase) for message in made.deliver("email").sent] == [("approval", "asked")]
    made.move("stopped_drift_other")
    assert [(message.kind, message.phase) for message in made.deliver("email").sent] == [("stop", "told")]


def test_a_setting_for_a_channel_or_a_kind_that_there_is_not_is_refused(made: Deployment) -> None:
    with pytest.raises(ValueError, match="no channel 'pager'"):
        made.database.settings(made.settings.state_dir, notify={"pager": ["stop"]})
    with pytest.raises(ValueError, match="notify"):
        made.database.settings(made.settings.state_dir, notify={"email": ["weather"]})
    with pytest.raises(InvalidInput, match="slack, email, webhook"):
        channels.channel(made.settings, "pager")


# --- at least once ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["email", "webhook", "slack"])
def test_a_sender_killed_between_sending_and_recording_loses_nothing(made: Deployment, name: str) -> None:
    arrived: list[int] = []

    def kill() -> None:
        if not arrived:
            arrived.append(made.started[0].pid)
            os.kill(made.started[0].pid, signal.SIGKILL)
            made.started[0].wait(30)

    made.mail.arrived = made.http.arrived = made.slack.arrived = kill
    sender = made.start_sender(name)
    assert sender.wait(60) == -signal.SIGKILL, sender.communicate()
    assert made.outcomes(name) == [["approval", "asked", None]]
    # The message still belongs to the dead sender for its lease; then the next pass takes it.
    assert made.database.value("select count(*) from cutter_governance.notification_delivery where in_doubt") == 1
    assert len(made.deliver(name).sent) == 1
    assert made.outcomes(name) == [["approval", "asked", "delivered"]]
    keys = {
        "email": [str(mail["Message-ID"]) for mail in made.mail.mails],
        "webhook": [json.loads(request.body)["key"] for request in made.http.posted],
        "slack": [message["ts"] for message in made.slack.posted],
    }[name]
    # Slack's message is found again; the others arrive twice, recognisable by their key.
    assert (len(keys), len(set(keys))) == ((1, 1) if name == "slack" else (2, 1))
    receipts = made.database.value(
        "select count(*) from cutter_governance.action_receipt where connector = 'notification'"
    )
    assert receipts == 1


def test_a_message_is_tried_again_later_each_time_and_given_up_after_the_last(made: Deployment) -> None:
    made.http.answers += [(500, {})] * 3
    waits = []
    for _ in range(2):
        assert made.deliver("webhook").sent == []
        waits.append(made.database.value(
            "select round(extract(epoch from next_eligible_at - clock_timestamp()))::integer"
            " from cutter_governance.notification_delivery"
        ))  # fmt: skip
    assert waits == [round(seconds) for seconds in limits.NOTIFICATION_RETRY_SECONDS[:2]]
    last = "update cutter_governance.notification_delivery set attempts = %s"
    made.database.run(last, (limits.NOTIFICATION_TRIES - 1,))
    assert made.deliver("webhook").waiting == []
    assert made.outcomes("webhook") == [["approval", "asked", "given_up"]]
    assert made.deliver("webhook").sent == []
    with session(made.settings, Role.OPERATOR) as connection:
        (row,) = channels.undelivered(connection)
        assert (row.outcome, row.last_error, row.attempts) == ("given_up", "http_500", 150)
        assert list(channels.sentences(channels.health(connection))) == ["webhook: 1 message given up within 7 days"]
    check = doctor.look(made.settings, MESSAGES)
    assert (check.failed, check.remedy) == (True, "cutter notify check")
    again: LiteralString = "select cutter_governance.fn_notification_again('webhook')"
    assert made.database.value(again, role="cutter_operator") == 1
    assert len(made.deliver("webhook").sent) == 1
    assert not doctor.look(made.settings, MESSAGES).failed


def test_doctor_says_how_to_switch_a_channel_on_before_it_says_how_to_serve_one(made: Deployment) -> None:
    none_on = made.settings.model_copy(update=dict.fromkeys(channels.CHANNELS.values(), ""))
    assert doctor.look(none_on, MESSAGES).remedy == channels.HOW_TO_SWITCH_ON
    assert doctor.look(made.settings, MESSAGES).remedy == "cutter notify serve"


def test_a_channel_in_trouble_keeps_no_other_from_its_messages(made: Deployment) -> None:
    (made.settings.secrets / slack.TOKEN_FILE).unlink()
    made.http.answers.append((503, {}))
    report = notify.drain(made.settings)
    assert [message["channel"] for message in report["messages_sent"]] == ["email"]
    assert [(message["channel"], message["last_error"][:8]) for message in report["messages_waiting"]] == [
        ("slack", "no slack"), ("webhook", "http_503"),
    ]  # fmt: skip


def test_the_policy_denies_each_channel_alike(made: Deployment) -> None:
    denying = shipped().replace(
        b"    connector: notification\n    verdict: allow", b"    connector: notification\n    verdict: deny"
    )
    put_in_force(made.settings, denying)
    assert {message["last_error"] for message in notify.drain(made.settings)["messages_waiting"]} == {"policy_denied"}
    assert (made.mail.mails, made.http.posted, made.slack.calls) == ([], [], [])


# --- no gate waits ----------------------------------------------------------------------------------------------------


def test_a_receiver_that_never_answers_delays_no_gate(made: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHANNEL_STEP_SECONDS", 60.0)
    made.http.silent = True
    sender = threading.Thread(target=delivery.make_pass, args=(made.settings, made.channel("webhook")))
    sender.start()
    try:
        assert made.http.heard.wait(60)
        # The sender holds the message now, and nothing in the database: no transaction is open, no lock is kept. Its
        # pool may open another connection at this moment, which is busy until it is set up. The receiver stays silent
        # meanwhile, so one look that finds nothing is enough.
        ends = time.monotonic() + 30
        while made.database.value(HELD_BY_THE_SENDER):
            assert time.monotonic() < ends, "the sender keeps a transaction open"
            time.sleep(0.05)
        with made.at.connect() as connection:
            connection.execute("set lock_timeout = '1ms'")
            number = made.at.opened(connection)
            made.at.create(connection)
            assert made.at.close(connection, number)["status"] == "sealed"
            connection.commit()
        assert made.at.run()["state"] == "cut_leg_a_committed"
        assert made.written()[-1] == ["approval", "answered", "SG_cut_authz"]
        assert sender.is_alive()
    finally:
        made.http.let_go.set()
        sender.join(60)
    assert not sender.is_alive()


# --- the commands -----------------------------------------------------------------------------------------------------


@pytest.fixture
def cutter(
    made: Deployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, dict[str, Any]]]:
    """A command in this process, with the webhook on."""
    for name, value in made.environment("webhook").items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        code = cli.run((*arguments, "--json"))
        return code, json.loads(capsys.readouterr().out)

    return run


def test_a_test_message_says_what_happened_to_it(
    made: Deployment, cutter: Callable[..., tuple[int, dict[str, Any]]]
) -> None:
    code, answer = cutter("notify", "check", "webhook")
    assert (code, answer["outcome"]) == (0, "delivered")
    assert json.loads(made.http.posted[0].body)["card"]["title"] == "A test of the channel webhook"
    made.http.answers.append((401, {}))
    code, answer = cutter("notify", "check", "webhook")
    assert (code, answer["outcome"], answer["reason"]) == (5, "not_delivered", "http_401")
    assert made.outcomes("webhook") == []
    code, answer = cutter("notify", "check", "email")
    assert (code, "CUTTER_EMAIL_TO" in answer["message"]) == (2, True)


def test_the_list_and_the_overview_name_what_is_undelivered(
    made: Deployment, cutter: Callable[..., tuple[int, dict[str, Any]]]
) -> None:
    made.http.answers.append((500, {}))
    assert notify.drain(load())["messages_waiting"][0]["last_error"] == "http_500"
    made.database.run("update cutter_governance.notification_delivery set created_at = now() - interval '1 hour'")
    (row,) = cutter("notify", "check")[1]["undelivered"]
    assert (row["channel"], row["kind"], row["of"], row["outcome"]) == ("webhook", "approval", made.at.run_id, None)
    assert cutter("status")[1]["messages"] == ["webhook: 1 message undelivered, the oldest for 60 minutes"]
    made.database.run("update cutter_governance.notification_delivery set attempts = 149, next_eligible_at = now()")
    made.http.answers.append((500, {}))
    notify.drain(load())
    assert cutter("notify", "check")[1]["undelivered"][0]["outcome"] == "given_up"
    assert cutter("notify", "check", "webhook")[1]["again"] == 1
    assert notify.drain(load())["messages_waiting"] == []


def test_nobody_but_the_operator_reads_or_takes_a_message(made: Deployment) -> None:
    privileges = made.database.value("""
        select jsonb_object_agg(r, has_table_privilege(r, 'cutter_governance.notification_delivery', 'SELECT')
            or has_table_privilege(r, 'cutter_governance.notification', 'SELECT, INSERT, UPDATE, DELETE')
            or has_function_privilege(r, 'cutter_governance.fn_notification_again(text)', 'EXECUTE'))
        from unnest(array['cutter_read', 'cutter_backup', 'cutter_exec', 'cutter_verify', 'directus',
            'cutter_operator']) as r
    """)
    assert [role for role, may in privileges.items() if may] == ["cutter_operator"]
    writes = made.database.value("""
        select bool_or(has_table_privilege('cutter_operator', 'cutter_governance.' || t, 'INSERT, UPDATE, DELETE'))
        from unnest(array['notification', 'notification_delivery', 'notification_channel']) as t
    """)
    assert writes is False


def test_the_message_id_is_of_the_subject_and_the_phase(made: Deployment) -> None:
    subject = made.database.value("select subject from cutter_governance.notification")
    made.deliver("email")
    (mail,) = made.mail.mails
    assert mail["Message-ID"] == f"<{sha256_hex(f'{subject}/asked'.encode())[:40]}@example.org>"
    assert email.NAME == "email"


# --- cost -------------------------------------------------------------------------------------------------------------

OLD = 3_000
"""Questions that were asked and answered a month ago."""

FILL: LiteralString = """
set session_replication_role = replica;
create temp table old on commit drop as
select gen_random_uuid() as subject, g as number from generate_series(1, {count}) g;
insert into cutter_governance.approval_request
select (jsonb_populate_record(q, jsonb_build_object(
    'request_id', o.subject, 'n', q.n + o.number, 'challenge', o.subject, 'status', 'canceled'))).*
from cutter_governance.approval_request q, old o;
insert into cutter_governance.notification (kind, phase, subject, run_id, place, created_at)
select 'approval', phase, o.subject::text, '{run}', 'SG_cut_authz', now() - interval '30 days'
from old o, unnest(array['asked', 'answered']) phase;
insert into cutter_governance.notification_channel (name) values ('webhook');
insert into cutter_governance.notification_delivery
    (notification_id, channel, card, created_at, reference, done_at, outcome)
select n.id, 'webhook', '{{}}', n.created_at, 'there', n.created_at, 'delivered'
from cutter_governance.notification n where n.created_at < now() - interval '1 day'
"""
TABLES = ("notification", "notification_delivery", "approval_request")


def test_old_messages_cost_a_pass_and_a_look_nothing(made: Deployment) -> None:
    with made.database.connect("postgres") as connection:
        connection.execute(FILL.format(count=OLD, run=made.at.run_id).encode())
        connection.commit()
    made.database.run("analyze")
    with counted(made.database) as step:
        delivery.make_pass(made.settings, made.channel("webhook"))
        with session(made.settings, Role.OPERATOR) as connection:
            assert channels.undelivered(connection) == []
            assert len(channels.health(connection)) == 1
    assert made.outcomes("webhook")[0] == ["approval", "asked", "delivered"]
    read = {
        name: str(reads)
        for name in TABLES
        if (reads := step.reads[f"cutter_governance.{name}"]).in_order + reads.by_index > OLD // 10
    }
    assert read == {}


NOT_TOLD = "not exists (select from cutter_governance.notification_delivery"
ASKED = {"kinds": ["approval"], "days": 30, "channel": "webhook", "most": 100, "since": "2026-01-01"}


@pytest.mark.parametrize("name", sorted(name for name, text in queries().items() if NOT_TOLD in text))
def test_each_delivery_is_looked_up_by_its_index(database: Database, name: str) -> None:
    """An anti join may scan every delivery, however few notifications are new."""
    with database.connect("postgres") as connection:
        plan = "\n".join(row for (row,) in connection.execute(f"explain {queries()[name]}".encode(), ASKED))
    assert "SubPlan" in plan
    assert "Anti Join" not in plan
