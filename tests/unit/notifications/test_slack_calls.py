"""A call of Slack answers, or says what trouble it met: whether it may have been carried out, and when to try again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter import limits
from cutter.errors import CutterError, InvalidInput, Unavailable
from cutter.notifications.channels import Trouble, secret
from cutter.notifications.slack import TOKEN_FILE, SlackChannel
from cutter.settings import Settings
from tests.support.fake_slack import CHANNEL, TOKEN, Failure, FakeSlack, fake_slack

MESSAGE = {"channel": CHANNEL, "text": "ä & <b>", "blocks": [{"type": "divider"}], "metadata": {"event_type": "x"}}


@pytest.fixture
def there() -> Iterator[FakeSlack]:
    with fake_slack() as made:
        yield made


def caller(url: str, token: str = TOKEN) -> SlackChannel:
    return SlackChannel(channel=CHANNEL, url=url, token=token)


def post(there: FakeSlack, token: str = TOKEN) -> object:
    return caller(there.url, token).call("chat.postMessage", MESSAGE)


def test_a_message_arrives_as_it_was_meant(there: FakeSlack) -> None:
    answer = post(there)
    assert isinstance(answer, dict)
    assert there.posted == [{"text": "ä & <b>", "blocks": [{"type": "divider"}], "metadata": {"event_type": "x"},
                             "ts": answer["ts"]}]  # fmt: skip


@pytest.mark.parametrize(
    ("failure", "trouble"),
    [
        (Failure(error="invalid_auth"), Trouble(code="invalid_auth")),
        (Failure(error="channel_not_found"), Trouble(code="channel_not_found")),
        (Failure(error="invalid_blocks"), Trouble(code="invalid_blocks", everywhere=False)),
        (Failure(error="internal_error"), Trouble(code="internal_error", in_doubt=True)),
        (Failure(error="xoxb-leak <script>"), Trouble(code="unknown_error", everywhere=False)),
        (Failure(status=429, headers=(("Retry-After", "7"),)), Trouble(code="ratelimited", retry_seconds=7.0)),
        (Failure(status=429, headers=(("Retry-After", "99999"),)), Trouble(code="ratelimited", retry_seconds=600.0)),
        (Failure(status=429, headers=(("Retry-After", "soon"),)), Trouble(code="ratelimited", retry_seconds=5.0)),
        (Failure(status=503), Trouble(code="http_503", in_doubt=True)),
        (Failure(status=404), Trouble(code="http_404")),
    ],
)
def test_each_kind_of_trouble_is_told_apart(there: FakeSlack, failure: Failure, trouble: Trouble) -> None:
    there.fail(failure)
    assert post(there) == trouble


def test_a_server_that_does_not_answer_leaves_the_call_in_doubt(
    there: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHANNEL_STEP_SECONDS", 0.2)
    there.fail(Failure(silent=True, done=True))
    assert post(there) == Trouble(code="no_answer", in_doubt=True)
    assert len(there.posted) == 1


def test_where_nobody_listens_nothing_was_sent() -> None:
    assert caller("http://127.0.0.1:1/api").call("chat.postMessage", MESSAGE) == Trouble(code="unreachable")


def test_a_redirect_does_not_carry_the_token_elsewhere(there: FakeSlack) -> None:
    with fake_slack() as elsewhere:
        there.fail(Failure(status=307, headers=(("Location", f"{elsewhere.url}/chat.postMessage"),)))
        assert post(there) == Trouble(code="http_307")
        assert elsewhere.calls == []


def test_an_answer_without_end_is_not_read_to_its_end(there: FakeSlack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHANNEL_ANSWER_BYTES_MAX", 10)
    assert post(there) == Trouble(code="not_slack", in_doubt=True)


def test_a_wrong_token_is_told_without_being_shown(there: FakeSlack) -> None:
    assert post(there, "xoxb-wrong-wrong-wrong") == Trouble(code="invalid_auth")
    assert "xoxb" not in repr(caller(there.url, "xoxb-wrong-wrong-wrong"))


def test_a_secret_is_one_line_of_its_file(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    with pytest.raises(Unavailable, match=r"slack\.token"):
        secret(settings, TOKEN_FILE)
    settings.secrets.mkdir()
    file = settings.secrets / TOKEN_FILE
    file.write_text(f"{TOKEN}\n")
    assert secret(settings, TOKEN_FILE) == TOKEN


@pytest.mark.parametrize("content", [b"", b"short", b"xoxb-123456789012\r\nX-Evil: 1", b"xoxb-1234567890123\xff"])
def test_what_is_no_secret_is_refused_without_being_shown(tmp_path: Path, content: bytes) -> None:
    settings = Settings(state_dir=tmp_path)
    settings.secrets.mkdir()
    (settings.secrets / TOKEN_FILE).write_bytes(content)
    with pytest.raises((InvalidInput, Unavailable)) as refusal:
        secret(settings, TOKEN_FILE)
    assert isinstance(refusal.value, CutterError)
    assert "xoxb" not in str(refusal.value)
    assert refusal.value.__cause__ is None
