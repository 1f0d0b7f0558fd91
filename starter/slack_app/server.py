"""IO: the small HTTP server that Slack calls when a person presses a button, and the answer to the press.

The server ignores what Slack did not sign. It limits the bytes, the time and the number of callers, and reads the bytes
only after it checked their signature. A press never decides at a sovereign gate. There cutter answers with the command
and changes nothing. If the policy stopped a run, PostgreSQL says whether people may decide without a signature, and it
counts their decisions. Then the run gets the decision by the same update as any other, or later by `cutter reconcile`.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import Request

import structlog

from cutter import limits
from cutter.approvals import schema
from cutter.approvals.eligibility import ineligibility_reason
from cutter.catalogue import BY_NAME, Role
from cutter.domain.next_step import StepFacts, next_step
from cutter.errors import CutterError
from cutter.notifications import channels
from cutter.notifications import slack as callback
from cutter.notifications.channels import Trouble
from cutter.notifications.slack import SIGNATURE_HEADER, TIME_HEADER, Click
from cutter.senders import Senders
from cutter.settings import Settings
from cutter.storage.gate_transaction import Decided, call
from cutter.storage.pools import session
from cutter.storage.records import records
from cutter.types import Json
from starter.approver import signing_desk
from temporal import runs
from temporal.client import connect as connect_temporal
from temporal.executions import tell

log = structlog.get_logger()

PATH: Final = "/slack/actions"
SIGNING_SECRET_FILE: Final = "slack.signing-secret"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The private answer to the person who pressed. `afterwards` runs after they have it."""

    text: str
    afterwards: Callable[[], None] = lambda: None


def private(text: str) -> Json:
    """A message that only its reader sees. It does not replace the card."""
    return {"response_type": "ephemeral", "replace_original": False, "text": text}


def answer_in_slack(api_url: str, address: str, text: str) -> Trouble | None:
    """Send a text to the person who pressed a button. Return None if Slack accepted it, otherwise the trouble.

    Slack sends the address with the press. Only Slack's own host for such answers is called.
    """
    api = urlsplit(api_url)
    host = api.netloc if api.scheme == "http" else f"hooks.{api.netloc}"
    if not address.startswith(f"{api.scheme}://{host}/"):
        return Trouble(code="foreign_address")
    headers = {"Content-Type": "application/json; charset=utf-8"}
    request = Request(address, data=json.dumps(private(text)).encode(), headers=headers)
    return channels.exchange(request, lambda _: None)


class Server(ThreadingHTTPServer):
    """Listens from the moment it is made; `resolve` gets only what Slack has signed, so many at a time."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = limits.SENDERS_MAX

    def __init__(self, host: str, port: int, secret: str, resolve: Callable[[Click], Reply]) -> None:
        self.secret = secret
        self.resolve = resolve
        self.places = threading.BoundedSemaphore(limits.SLACK_CALLERS_MAX)
        self.senders = Senders()
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}{PATH}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Make a thread for each caller."""
        self.senders.begin(request, str(client_address[0]))
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One caller from its first byte to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.senders.end(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the signature is the library's
        """A caller that disconnected is no error. The library would print a traceback."""
        log.info("slack.caller_lost")


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = limits.CHANNEL_STEP_SECONDS
    server_version = "cutter"
    sys_version = ""

    def do_POST(self) -> None:
        body = self._body()
        self.server.senders.end(self.request)
        if body is None:
            return
        now = datetime.now(UTC).timestamp()
        time, given = self._only(TIME_HEADER), self._only(SIGNATURE_HEADER)
        flaw = callback.flaw(self.server.secret, body, time=time, given=given, now=now)
        if flaw is not None:
            log.warning("slack.refused", code=flaw)
            self._end(401)
            return
        click = callback.click(body)
        if click is None:
            log.warning("slack.refused", code="no_click")
            self._end(400)
            return
        with self.server.places:
            reply = self.server.resolve(click)
            self._end(200, json.dumps(private(reply.text)).encode())
            reply.afterwards()

    def _body(self) -> bytes | None:
        """All bytes of the request. None if it was answered already."""
        if self.path != PATH:
            self._end(404)
            return None
        length = self._only("Content-Length") or ""
        if not re.fullmatch("[0-9]{1,9}", length) or self.headers.get("Transfer-Encoding"):
            self._end(411)
            return None
        if int(length) > limits.SLACK_BODY_BYTES_MAX:
            self._end(413)
            return None
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self._end(400)
            return None
        return body

    def _only(self, name: str) -> str | None:
        """A header that came exactly once. A repeated header counts as missing."""
        values = self.headers.get_all(name) or []
        return values[0] if len(values) == 1 else None

    def _end(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Nothing that callers send is logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedCard(StepFacts):
    """A question as it was posted, with what its run needs now. `place` is a gate."""

    subject: str
    place: str
    starter: str
    first_execution_id: str | None


CARD = records("notification_card", PostedCard)

_DECIDE = "select cutter_governance.fn_unsigned_decide(%s, %s, %s, %s, %s)"


def resolve(settings: Settings, click: Click) -> Reply:
    """The answer to one press. A repeated press gets the same answer."""
    name = settings.slack_people.get(click.user)
    if name is None:
        return _told(settings, click, "unknown_user", "You are not known here: CUTTER_SLACK_PEOPLE names who is.")
    # The pressed card is in that channel, at that place, and about that subject.
    pressed = {"channel": "slack", "subject": click.subject, "reference": f"{click.channel}/{click.message}"}
    with session(settings, Role.OPERATOR) as connection:
        card = CARD.first(connection, pressed)
    if card is None:
        return _told(settings, click, "unknown_card", "That is no card of ours: `cutter inbox` lists what waits.")
    if card.place not in BY_NAME:
        return _told(settings, click, "signature_needed", _by_signature(card))
    # The policy stopped the run. The database answers this person's decision.
    why = _may_not(settings, card, name)
    if why is not None:
        return _told(settings, click, "may_not_decide", f"{why}. Nothing was changed.")
    word = "approve" if click.approve else "reject"
    with session(settings, Role.OPERATOR) as connection:
        answer = call(connection, Decided.of, _DECIDE, (card.run_id, click.subject, word, name, f"slack:{click.user}"))
    if answer.status != "recorded":
        refusals = {
            "signature_needed": _by_signature(card),
            "decided_already": f"It was decided already: `cutter status {card.run_id}`.",
            "approver_is_starter": "Who started the run does not decide about it: another person must.",
            "same_person": "You have decided this already, and the first answer counts: another person must.",
        }
        return _told(settings, click, answer.code, refusals[answer.code])
    if not click.approve:
        text = f"{name} rejects it: the run is cancelled."
    elif answer.have < answer.needed:
        text = f"{name} approves it: {answer.have} of {answer.needed}. Another person must approve it too."
    else:
        text = f"{name} approves it: {answer.have} of {answer.needed}. It continues."
    enough = not click.approve or answer.have >= answer.needed
    return _told(settings, click, "recorded", text, card if enough else None)


def _may_not(settings: Settings, card: PostedCard, name: str) -> str | None:
    """The reason why this person's signature would not count. Then their press does not count either."""
    policy = signing_desk.policy_in_force(settings)
    person = next((approver for approver in policy.approvers if approver.name == name), None)
    if person is None:
        return f"{name} is no approver of epoch {policy.number}"
    _, gate = signing_desk.gate_ahead(settings, card.run_id)
    return ineligibility_reason(policy, person, gate, schema.RESUME, starter=card.starter, now=datetime.now(UTC))


def _by_signature(card: PostedCard) -> str:
    # The card asked for a signature, even if enough people have signed since.
    step = next_step(replace(card, approved=False, latched=False))
    return (
        f"{card.place} takes a signature: nothing in Slack decides it, and nothing was changed. Type on your own "
        f"machine:\n```{step.command}```"
    )


def _told(settings: Settings, click: Click, code: str, text: str, deliver_to: PostedCard | None = None) -> Reply:
    log.info("slack.pressed", code=code, user=click.user, subject=click.subject, approve=click.approve)

    def afterwards() -> None:
        if click.answer_to:
            # This person alone gets it. A person who is not reached sees it when the card changes.
            trouble = answer_in_slack(settings.slack_url, click.answer_to, text)
            if trouble is not None:
                log.warning("slack.not_told", code=trouble.code)
        if deliver_to is not None:
            try:
                asyncio.run(_deliver(settings, deliver_to, click, text))
            except CutterError as problem:
                log.warning("slack.not_delivered", run_id=deliver_to.run_id, code=problem.code)

    return Reply(text=text, afterwards=afterwards)


async def _deliver(settings: Settings, card: PostedCard, click: Click, reason: str) -> None:
    """Wake the run's workflow. If that fails, `cutter reconcile` does it."""
    client = await connect_temporal(settings)
    if click.approve:
        await runs.resume(client, card.document_id, None)
    else:
        await tell(client, card, "cancel", reason)
