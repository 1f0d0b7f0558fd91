"""A card is posted as signed JSON: a receiver that follows the documentation takes it, and nothing that was changed."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from cutter.errors import InvalidInput, Unavailable
from cutter.notifications import webhook
from cutter.notifications.channels import Message, Trouble
from cutter.notifications.webhook import SECRET_FILE, WebhookChannel, body_of, signature
from cutter.settings import Settings
from tests.support.receivers import HttpReceiver, http_receiver
from tests.unit.notifications.test_email import MESSAGE

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as made:
        yield made


def send(receiver: HttpReceiver, message: Message = MESSAGE) -> str | Trouble:
    return WebhookChannel(url=receiver.url, secret=SECRET).send(message)


class Reader:
    """A receiver as docs/guides/notifications.md describes it."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def read(self, headers: dict[str, str], body: bytes, now: float) -> str:
        time, given_ = headers["Cutter-Timestamp"], headers["Cutter-Signature"]
        made = "v1=" + hmac.new(SECRET.encode(), time.encode() + b"." + body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(made.encode(), given_.encode()):
            return "forged"
        if abs(now - int(time)) > 300:
            return "old"
        key = json.loads(body)["key"]
        if key in self.taken:
            return "repeated"
        self.taken.add(key)
        return "taken"


def test_a_receiver_that_follows_the_documentation_takes_it_once(receiver: HttpReceiver) -> None:
    assert send(receiver) == MESSAGE.key
    assert send(receiver, replace(MESSAGE, in_doubt=True)) == MESSAGE.key
    reader, now = Reader(), datetime.now(UTC).timestamp()
    assert [reader.read(post.headers, post.body, now) for post in receiver.posted] == ["taken", "repeated"]
    first, again = receiver.posted
    assert first.body == again.body
    assert first.headers["Cutter-Key"] == MESSAGE.key
    assert first.headers["Content-Type"] == "application/json"
    assert reader.read(first.headers, first.body, now + 301) == "old"
    assert reader.read(first.headers, first.body + b" ", now) == "forged"
    assert reader.read({**first.headers, "Cutter-Timestamp": "1"}, first.body, now) == "forged"


def test_the_body_says_what_the_card_says(receiver: HttpReceiver) -> None:
    send(receiver)
    body = json.loads(receiver.posted[0].body)
    assert (body["version"], body["key"], body["created"]) == (1, MESSAGE.key, "2026-11-18T11:06:40Z")
    assert body["card"]["title"] == MESSAGE.card.title
    assert body["card"]["facts"] == [{"name": "Gate", "value": "SG_cut_authz"}]
    assert body["card"]["commands"] == ["cutter approve ictr-1"]


def test_the_published_schema_names_every_field_of_the_body() -> None:
    """docs/reference/notification.schema.json describes every field that is sent."""
    path = Path(__file__).parents[3] / "docs" / "reference" / "notification.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    body = json.loads(body_of(MESSAGE))
    assert set(body) == set(schema["properties"])
    assert set(body["card"]) == set(schema["$defs"]["Card"]["properties"])
    assert set(schema["$defs"]["Severity"]["enum"]) == {"info", "action", "warning", "error"}


@given(st.text(alphabet="0123456789", min_size=1, max_size=12), st.binary(max_size=300), st.data())
def test_a_signature_holds_for_its_time_and_its_bytes_alone(time: str, body: bytes, data: st.DataObject) -> None:
    good = signature(SECRET, time, body)
    assert good == signature(SECRET, time, body)
    other = data.draw(st.binary(max_size=300).filter(lambda drawn: drawn != body))
    assert signature(SECRET, time, other) != good
    assert signature(SECRET, time + "0", body) != good
    assert signature("another-secret-of-theirs", time, body) != good


@pytest.mark.parametrize(
    ("status", "headers", "trouble"),
    [
        (500, {}, Trouble(code="http_500", in_doubt=True)),
        (404, {}, Trouble(code="http_404")),
        (429, {"Retry-After": "7"}, Trouble(code="ratelimited", retry_seconds=7.0)),
        (503, {"Retry-After": "99999"}, Trouble(code="http_503", in_doubt=True, retry_seconds=600.0)),
    ],
)
def test_each_refusal_is_told_by_its_status(
    receiver: HttpReceiver, status: int, headers: dict[str, str], trouble: Trouble
) -> None:
    receiver.answers.append((status, headers))
    assert send(receiver) == trouble


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver: HttpReceiver, status: int) -> None:
    with http_receiver() as elsewhere:
        receiver.answers.append((status, {"Location": elsewhere.url}))
        assert send(receiver) == Trouble(code=f"http_{status}")
        assert elsewhere.posted == []


def test_a_receiver_that_does_not_answer_leaves_the_message_in_doubt(
    receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHANNEL_STEP_SECONDS", 0.2)
    receiver.silent = True
    assert send(receiver) == Trouble(code="no_answer", in_doubt=True)
    assert len(receiver.posted) == 1


def test_the_settings_switch_it_on_and_its_secret_is_a_file(tmp_path: Path) -> None:
    assert webhook.make(Settings(state_dir=tmp_path)) is None
    settings = Settings(state_dir=tmp_path, webhook_url="https://example.org/hooks")
    with pytest.raises(Unavailable, match=r"webhook\.secret"):
        webhook.make(settings)
    settings.secrets.mkdir()
    (settings.secrets / SECRET_FILE).write_text("short")
    with pytest.raises(InvalidInput):
        webhook.make(settings)
    (settings.secrets / SECRET_FILE).write_text(SECRET + "\n")
    made = webhook.make(settings)
    assert made is not None
    assert SECRET not in repr(made)


@pytest.mark.parametrize("url", ["http://example.org/x", "ftp://example.org", "https://", "https://exa mple.org/"])
def test_an_address_without_tls_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match="webhook_url"):
        Settings(state_dir=tmp_path, webhook_url=url)
