"""Slack on the real path: the server as a process, a run that waits, presses over HTTP; what Temporal had missed."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError

import pytest

from cutter.approvals import approver_store, schema
from cutter.approvals.policy import Signing
from cutter.notifications.slack import TOKEN_FILE
from cutter.policy.rules_file import shipped
from starter.commands import approvers
from starter.slack_app.server import SIGNING_SECRET_FILE
from tests.acceptance.cli.conftest import ROOT, Cutter
from tests.support.fake_slack import CHANNEL, SIGNING_SECRET, TOKEN, FakeSlack, fake_slack
from tests.support.policies import put_in_force
from tests.support.stack import DOCUMENT, Run, Stack
from tests.support.temporal import until

ALICE = "U0ALICE"
ASKING = b"rules:\n  - name: ask\n    connector: backup\n    verdict: needs_approval(low)\n"


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with fake_slack() as made:
        yield made


def ask_before_backups(stack: Stack) -> None:
    """The policy asks for the lowest tier before a backup, and the signed epoch lets that go without a signature."""
    put_in_force(stack.settings, shipped().replace(b"rules:\n", ASKING))
    first = approver_store.read_epoch(stack.settings.approvers, 1)
    second = approver_store.propose(
        stack.settings.approvers, first, approvers=first.approvers, signing=Signing.OPTIONAL
    )
    approvers.install(stack.settings, second)


def switched_on(stack: Stack, slack: FakeSlack) -> dict[str, str]:
    """What the environment says where Slack is switched on."""
    secrets = stack.settings.state / "secrets-of-slack"
    shutil.copytree(stack.settings.secrets, secrets)
    (secrets / TOKEN_FILE).write_text(TOKEN)
    (secrets / SIGNING_SECRET_FILE).write_text(SIGNING_SECRET)
    return {
        "CUTTER_SECRETS_DIR": str(secrets), "CUTTER_SLACK_CHANNEL": CHANNEL, "CUTTER_SLACK_URL": slack.url,
        "CUTTER_SLACK_PEOPLE": json.dumps({ALICE: "alice"}),
    }  # fmt: skip


@asynccontextmanager
async def serving(cutter: Cutter, environment: dict[str, str]) -> AsyncIterator[str]:
    """`cutter notify serve` as a process; where it listens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "starter.cli", "notify", "serve", "--port", "0", "--json", cwd=ROOT,
        env=cutter.environment(environment), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        output = b""
        while not output.strip().endswith(b"}"):
            line = await asyncio.wait_for(process.stdout.readline(), 60)
            assert line, "it ended"
            output += line
        yield json.loads(output)["listens"]
    finally:
        process.kill()
        _, stderr = await process.communicate()
        assert TOKEN.encode() not in stderr
        assert SIGNING_SECRET.encode() not in stderr


async def press(slack: FakeSlack, where: str, message: dict[str, Any], *, sign: bool = True) -> tuple[int, str]:
    """A press over HTTP, the buttons forged where the card has none: the status, and what the person is told."""
    subject = message["metadata"]["event_payload"]["subject"]
    forged = {"actions": [{"action_id": "cutter_approve", "value": subject}]}
    body = slack.press(message, "cutter_approve", user=ALICE, **forged)
    headers = slack.signed(body, at=datetime.now(UTC).timestamp()) if sign else {}

    def send() -> tuple[int, str]:
        try:
            with urllib.request.urlopen(
                urllib.request.Request(where, data=body, headers=headers), timeout=60
            ) as answer:
                return answer.status, json.loads(answer.read())["text"]
        except HTTPError as refused:
            with refused:
                return refused.code, ""

    return await asyncio.to_thread(send)


async def test_a_press_lets_a_rehearsal_go_on_and_decides_nothing_of_a_live_run(
    stack: Stack, cutter: Cutter, slack: FakeSlack
) -> None:
    """Seed 003 §7."""
    ask_before_backups(stack)
    environment = switched_on(stack, slack)

    async def card_of(run: Run, gate: str) -> dict[str, Any]:
        async def posted() -> list[dict[str, Any]]:
            about = [message for message in slack.posted if message["metadata"]["event_payload"]["gate"] == gate]
            return [message for message in about if run.run_id in json.dumps(message)]

        return (await until(posted, what=f"a card about {gate}"))[0]

    async def decides_nothing(run: Run, gate: str, command: str) -> None:
        asked, before = await card_of(run, gate), await run.sidecar()
        status, text = await press(slack, where, asked)
        assert (status, command in text) == (200, True), text
        assert await run.sidecar() == before

    async with stack.workers(), serving(cutter, environment) as where:
        rehearsal = await stack.start(mode="dryrun")
        await rehearsal.until_shown("stopped_policy_backup")
        card = await card_of(rehearsal, "IG_backup")
        assert await press(slack, where, card, sign=False) == (401, "")
        assert await press(slack, where, card) == (200, "alice approves it: 1 of 1. It continues.")
        assert (await rehearsal.result()).outcome == "rehearsed"

        async def told() -> bool:
            return "approved by alice" in json.dumps((await card_of(rehearsal, "IG_backup"))["blocks"])

        await until(told, what="the card says who decided")
        run = await stack.start()
        await run.until_shown("stopped_policy_backup")
        await decides_nothing(run, "IG_backup", f"cutter approve {DOCUMENT} --decision resume")
        assert (await run.resume(await run.order(schema.RESUME)))["status"] == "accepted"
        await run.until_requested("SG_cut_authz")
        await decides_nothing(run, "SG_cut_authz", f"```cutter approve {DOCUMENT}```")
    async with stack.workers():
        await run.approve("SG_cut_authz")
        await run.until_requested("SG_lifecycle_authz")
    report = (await cutter("reconcile", "--json", **environment)).json
    assert sorted((message["place"], message["phase"]) for message in report["messages_sent"]) == [
        ("SG_cut_authz", "answered"), ("SG_lifecycle_authz", "asked"),
    ]  # fmt: skip
    assert report["messages_waiting"] == []
    history = str((await run.history()).to_json())
    assert TOKEN not in history
    assert "slack" not in history.lower()


@pytest.mark.parametrize(("decision", "then"), [("approve", ""), ("reject", "voided_cancelled")])
async def test_what_was_decided_while_temporal_was_away_is_delivered_by_reconcile(
    stack: Stack, cutter: Cutter, decision: str, then: str
) -> None:
    ask_before_backups(stack)
    async with stack.workers():
        run = await stack.start(mode="dryrun")
        await run.until_shown("stopped_policy_backup")
        stop = stack.database.value("select cutter_governance.fn_policy_stop(%s) ->> 'stop'", (run.run_id,))
        stack.database.run(
            "select cutter_governance.fn_unsigned_decide(%s, %s, %s, 'alice', 'slack:U0ALICE')",
            (run.run_id, stop, decision),
            role="cutter_operator",
        )
        report = (await cutter("reconcile", "--json")).json
        assert [entry["run_id"] for entry in report["told"]] == [run.run_id]
        if then:
            assert (await run.result()).state == then
        else:
            assert (await run.result()).outcome == "rehearsed"
