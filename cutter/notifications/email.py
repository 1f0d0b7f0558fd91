"""IO: the channel e-mail. It sends plain text over SMTP with the standard library, one message to all recipients.

The connection is encrypted from the first byte (`tls`), or before it carries the login or a message (`starttls`). The
channel verifies the server's certificate. `none` is only for a relay on the same machine.
"""

from __future__ import annotations

import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Final, Literal
from urllib.parse import urlsplit

import structlog

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.notifications.card import Card, Phase, Severity, one_line
from cutter.notifications.channels import Message, Trouble, login_password
from cutter.senders import hang_up
from cutter.settings import Settings

log = structlog.get_logger()

NAME: Final = "email"
PASSWORD_FILE: Final = "smtp.password"

PORTS: Final = {"tls": 465, "starttls": 587, "none": 25}
_READY: Final = 220
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailChannel:
    """A mail server, the sender and the recipients."""

    host: str
    port: int
    security: Literal["tls", "starttls", "none"]
    sender: str
    recipients: tuple[str, ...]
    user: str | None = None
    password: str = field(default="", repr=False)
    name: str = NAME

    def send(self, message: Message) -> str | Trouble:
        """Give a message to the server. The message's name is its Message-ID, which is the same at every try."""
        mail = compose(message, self.sender, self.recipients)
        sent = False
        try:
            with _deadline(self._server()) as server:
                code, _ = server.connect(self.host, self.port)
                if code != _READY:
                    raise smtplib.SMTPConnectError(code, b"")
                server.ehlo()
                if self.security == "starttls":
                    # This raises if the server offers no encryption, so that nothing is sent in clear.
                    server.starttls(context=ssl.create_default_context())
                    server.ehlo()
                if self.user is not None:
                    server.login(self.user, self.password)
                sent = True
                refused = server.send_message(mail, self.sender, list(self.recipients))
                for address, (code, _) in refused.items():
                    log.warning("email.recipient_refused", recipient=one_line(address), code=code)
        except (smtplib.SMTPException, OSError) as problem:
            return _trouble(problem, sent=sent)
        return str(mail["Message-ID"])

    def _server(self) -> smtplib.SMTP:
        """A server without a connection. The caller connects later, so that its deadline also covers the greeting."""
        seconds = limits.CHANNEL_STEP_SECONDS
        if self.security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(timeout=seconds, context=ssl.create_default_context())
        else:
            server = smtplib.SMTP(timeout=seconds)
        # smtplib verifies the certificate against this name. Its constructor sets the name only if it connects itself.
        server._host = self.host  # type: ignore[attr-defined]
        return server


def make(settings: Settings) -> EmailChannel | None:
    """The e-mail channel that the settings and the secrets folder describe, or None if it is off."""
    if not settings.email_to:
        return None
    if settings.smtp_host is None or settings.email_from is None:
        raise InvalidInput("CUTTER_EMAIL_TO needs CUTTER_SMTP_HOST and CUTTER_EMAIL_FROM")
    server = urlsplit(f"//{settings.smtp_host}")
    if settings.smtp_security == "none" and server.hostname not in _LOOPBACK:
        raise InvalidInput("CUTTER_SMTP_SECURITY=none is for 127.0.0.1 only: choose starttls or tls")
    return EmailChannel(
        host=server.hostname or "", port=server.port or PORTS[settings.smtp_security],
        security=settings.smtp_security, sender=settings.email_from, recipients=settings.email_to,
        user=settings.smtp_user, password=login_password(settings, PASSWORD_FILE) if settings.smtp_user else "",
    )  # fmt: skip


def compose(message: Message, sender: str, recipients: tuple[str, ...]) -> EmailMessage:
    """The mail of a card. An answer is in the thread of its question. A header asks machines not to reply."""
    card = message.card
    mail = EmailMessage(policy=SMTP.clone(max_line_length=200))
    mail["From"], mail["To"] = sender, ", ".join(recipients)
    mail["Subject"] = one_line(f"[cutter] {_PREFIXES[card.severity]}{card.title}", limits.CARD_TITLE_MAX)
    mail["Date"] = format_datetime(datetime.fromtimestamp(message.created, UTC))
    mail["Message-ID"] = f"<{sha256_hex(message.key.encode())[:40]}@{sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    if message.question:
        mail["In-Reply-To"] = mail["References"] = message.question
    mail.set_content(text_of(card))
    return mail


_PREFIXES: Final = {Severity.INFO: "", Severity.ACTION: "ACTION: ", Severity.WARNING: "WARNING: ",
                    Severity.ERROR: "ERROR: "}  # fmt: skip


def text_of(card: Card) -> str:
    lines = [card.title, "", *(f"{fact.name}: {fact.value}" for fact in card.facts), "", card.text, ""]
    if card.commands:
        lines += ["Type on your own machine:", *(f"    {command}" for command in card.commands), ""]
    if card.phase is Phase.ASKED:
        lines.append("A reply to this mail decides nothing.")
    return "\n".join(lines) + "\n"


@contextmanager
def _deadline(server: smtplib.SMTP) -> Iterator[smtplib.SMTP]:
    """Limit the whole conversation, because a server that drips bytes never exceeds the limit of a step."""

    def end() -> None:
        if server.sock is not None:
            hang_up(server.sock)

    timer = threading.Timer(limits.SMTP_SECONDS, end)
    timer.daemon = True
    timer.start()
    try:
        yield server
    finally:
        timer.cancel()
        # The server's answer does not matter, because it already has the message.
        try:
            server.quit()
        except (smtplib.SMTPException, OSError):
            server.close()


def _trouble(problem: smtplib.SMTPException | OSError, *, sent: bool) -> Trouble:
    """The trouble of an error, from its class and code. A server's text may quote the message."""
    match problem:
        case smtplib.SMTPRecipientsRefused():
            return Trouble(code="recipients_refused")
        case smtplib.SMTPSenderRefused():
            return Trouble(code="sender_refused")
        case smtplib.SMTPAuthenticationError():
            return Trouble(code="login_refused")
        case smtplib.SMTPNotSupportedError():
            return Trouble(code="not_supported")
        case smtplib.SMTPResponseException(smtp_code=code) if not 200 <= code < 600:
            return Trouble(code="no_answer", in_doubt=sent)
        case smtplib.SMTPDataError():
            return Trouble(code=f"refused_{problem.smtp_code}", everywhere=problem.smtp_code < 500)
        case smtplib.SMTPResponseException():
            return Trouble(code=f"refused_{problem.smtp_code}")
        case ssl.SSLCertVerificationError():
            return Trouble(code="certificate_refused")
        case ConnectionRefusedError() | socket.gaierror():
            return Trouble(code="unreachable")
        case _:
            return Trouble(code="no_answer", in_doubt=sent)
