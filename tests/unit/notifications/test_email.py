"""A card arrives as a mail on a real mail server: encrypted, once recognisable, and its troubles by name alone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from structlog.testing import capture_logs

from cutter import limits
from cutter.errors import InvalidInput, Unavailable
from cutter.notifications import card_text, email
from cutter.notifications.card import Card, Fact, Kind, Phase, Severity
from cutter.notifications.channels import Message, Trouble
from cutter.notifications.email import EmailChannel
from cutter.settings import Settings
from tests.support.receivers import PASSWORD, USER, MailServer, certificate, mail_server, server_side

CARD = Card(
    kind=Kind.APPROVAL, phase=Phase.ASKED, severity=Severity.ACTION, subject="6f0d3c1e", place="SG_cut_authz",
    title="ICX-LAW-2026-001 waits at SG_cut_authz", facts=(Fact(name="Gate", value="SG_cut_authz"),),
    text="27 units at as many addresses. Điều khoản", commands=("cutter approve ictr-1",),
)  # fmt: skip
MESSAGE = Message(key="6f0d3c1e/asked", card=CARD, created=1_795_000_000)


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


def channel(server: MailServer, **changed: Any) -> EmailChannel:
    made = EmailChannel(
        host="127.0.0.1", port=server.port, security="none", sender="cutter@example.org",
        recipients=("an@example.org", "bo@example.org"),
    )  # fmt: skip
    return replace(made, **changed)


def test_a_card_arrives_with_its_title_facts_and_command(server: MailServer) -> None:
    reference = channel(server).send(MESSAGE)
    (mail,) = server.mails
    assert mail["Subject"] == "[cutter] ACTION: ICX-LAW-2026-001 waits at SG_cut_authz"
    assert (mail["From"], mail["To"]) == ("cutter@example.org", "an@example.org, bo@example.org")
    assert mail["Message-ID"] == reference
    assert mail["Auto-Submitted"] == "auto-generated"
    text = mail.get_content()
    assert "Gate: SG_cut_authz" in text
    assert "27 units at as many addresses. Điều khoản" in text
    assert "    cutter approve ictr-1" in text
    assert "A reply to this mail decides nothing." in text


def test_every_try_of_a_message_has_the_same_message_id(server: MailServer) -> None:
    again = replace(MESSAGE, in_doubt=True)
    assert channel(server).send(MESSAGE) == channel(server).send(again)
    other = channel(server).send(replace(MESSAGE, key="6f0d3c1e/answered"))
    assert len({mail["Message-ID"] for mail in server.mails}) == 2
    assert other == server.mails[-1]["Message-ID"]


def test_an_answer_is_in_the_thread_of_its_question(server: MailServer) -> None:
    question = channel(server).send(MESSAGE)
    assert isinstance(question, str)
    card = card_text.answered(CARD, card_text.Outcome.APPROVED, ["an", "bo"])
    channel(server).send(replace(MESSAGE, key="6f0d3c1e/answered", card=card, question=question))
    answer = server.mails[-1]
    assert answer["In-Reply-To"] == answer["References"] == question
    assert "approved by an, bo" in answer.get_content()
    assert "cutter approve" not in answer.get_content()


def test_no_title_adds_a_header(server: MailServer) -> None:
    channel(server).send(replace(MESSAGE, card=replace(CARD, title="x\r\nBcc: eve@example.org\r\n\r\nbody")))
    (mail,) = server.mails
    assert mail["Bcc"] is None
    assert "Bcc: eve@example.org" in mail["Subject"]


def test_with_starttls_nothing_is_said_in_clear(pem: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with mail_server(starttls=server_side(pem)) as server:
        sent = channel(server, host="localhost", security="starttls", user=USER, password=PASSWORD).send(MESSAGE)
        assert isinstance(sent, str), sent
        assert (len(server.mails), server.encrypted, len(server.logins)) == (1, [True], 1)


def test_tls_from_the_first_byte(pem: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with mail_server(tls=server_side(pem)) as server:
        sent = channel(server, host="localhost", security="tls").send(MESSAGE)
        assert isinstance(sent, str), sent
        assert len(server.mails) == 1


def test_a_server_without_starttls_gets_nothing(server: MailServer) -> None:
    trouble = channel(server, security="starttls", user=USER, password=PASSWORD).send(MESSAGE)
    assert trouble == Trouble(code="not_supported")
    assert (server.mails, server.logins) == ([], [])


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_certificate_that_nobody_vouches_for_is_refused(pem: Path, security: str) -> None:
    context = server_side(pem)
    made = mail_server(tls=context) if security == "tls" else mail_server(starttls=context)
    with made as server:
        assert channel(server, host="localhost", security=security).send(MESSAGE) == Trouble(code="certificate_refused")
        assert server.mails == []


def test_a_wrong_password_is_told_without_being_shown(pem: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with mail_server(starttls=server_side(pem)) as server:
        made = channel(server, host="localhost", security="starttls", user=USER, password="wrong-canary")
        assert made.send(MESSAGE) == Trouble(code="login_refused")
        assert "canary" not in repr(made)
        assert server.mails == []


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        ("451 try later, you said <secret text>", Trouble(code="refused_451")),
        ("554 spam <secret text>", Trouble(code="refused_554", everywhere=False)),
    ],
)
def test_a_refused_mail_is_told_by_its_code_alone(server: MailServer, answer: str, trouble: Trouble) -> None:
    server.answers.append(answer)
    assert channel(server).send(MESSAGE) == trouble
    assert isinstance(channel(server).send(MESSAGE), str)


def test_one_refused_recipient_keeps_the_mail_from_nobody_else(server: MailServer) -> None:
    server.refuse.add("an@example.org")
    with capture_logs() as lines:
        assert isinstance(channel(server).send(MESSAGE), str)
    assert len(server.mails) == 1
    assert "an@example.org" in str(lines)
    assert "secret text" not in str(lines)
    server.refuse.add("bo@example.org")
    assert channel(server).send(MESSAGE) == Trouble(code="recipients_refused")


def test_where_nobody_listens_nothing_was_sent() -> None:
    made = EmailChannel(host="127.0.0.1", port=1, security="none", sender="a@b", recipients=("c@d",))
    assert made.send(MESSAGE) == Trouble(code="unreachable")


@contextmanager
def listener(speak: bytes, *, pause: float = 0.05) -> Iterator[tuple[MailServer, list[bool]]]:
    """A server that sends these bytes one at a time for some seconds, and never ends a line."""
    stop, ended = threading.Event(), list[bool]()

    def drip() -> None:
        taken, _ = door.accept()
        with taken:
            for _ in range(60):
                try:
                    taken.sendall(speak)
                except OSError:
                    return
                if stop.wait(pause):
                    return
            ended.append(True)

    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield MailServer(port=door.getsockname()[1]), ended
        finally:
            stop.set()
            thread.join()


def test_a_server_that_drips_bytes_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SMTP_SECONDS", 0.5)
    monkeypatch.setattr(limits, "CHANNEL_STEP_SECONDS", 30.0)
    with listener(b"x") as (server, ended):
        assert channel(server).send(MESSAGE) == Trouble(code="no_answer")
        assert ended == [], "the server ended the conversation by itself"


def test_a_lost_acknowledgement_leaves_the_mail_in_doubt(server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SMTP_SECONDS", 0.5)
    late = threading.Event()
    server.arrived = lambda: late.wait(60) and None
    try:
        assert channel(server).send(MESSAGE) == Trouble(code="no_answer", in_doubt=True)
    finally:
        late.set()
    assert len(server.mails) == 1


ON = {"email_to": ("an@example.org",), "email_from": "cutter@example.org", "smtp_host": "mail.example.org"}


def test_the_settings_switch_it_on_with_the_port_of_its_security(tmp_path: Path) -> None:
    assert email.make(Settings(state_dir=tmp_path)) is None
    made = email.make(Settings(state_dir=tmp_path, **ON))
    assert made is not None
    assert (made.port, made.security, made.user) == (587, "starttls", None)
    made = email.make(Settings(state_dir=tmp_path, **{**ON, "smtp_host": "[::1]:2525"}, smtp_security="none"))
    assert made is not None
    assert (made.host, made.port) == ("::1", 2525)
    with pytest.raises(ValidationError, match="Port out of range"):
        Settings(state_dir=tmp_path, **{**ON, "smtp_host": "mail.example.org:70000"})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"smtp_host": None}, "CUTTER_SMTP_HOST"),
        ({"email_from": None}, "CUTTER_EMAIL_FROM"),
        ({"smtp_security": "none"}, "127.0.0.1 only"),
    ],
)
def test_half_of_the_settings_say_what_is_missing(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        email.make(Settings(state_dir=tmp_path, **{**ON, **changed}))


def test_a_login_without_its_password_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"smtp\.password"):
        email.make(Settings(state_dir=tmp_path, **ON, smtp_user=USER))
