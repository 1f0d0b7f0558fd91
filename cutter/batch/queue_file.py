"""Pure: what may be in queue.yaml (seed 001 §2): the closed model of its fields, and the search for secrets.

The YAML reader returns every value as text. Only the model decides what a text stands for. The search finds secrets,
connection strings and signature material. It covers the bare lines, so that comments count too, and the values that
YAML reads, so that an escape hides nothing. A finding never repeats the secret. The search prefers to find too much,
because a false finding only costs a rewording.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from cutter import limits
from cutter.approvals.schema import NAME_FORM
from cutter.domain.ids import DOCUMENT_ID
from cutter.plain_yaml import Fields, Flaw, Items, Node, Scalar

ENACTED_ONLY: Final = "enacted_only"
SCOPES = ("all", ENACTED_ONLY)

_INSTANT = re.compile(
    r"20[0-9]{2}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def _text(form: str, *, or_null: bool = False) -> BeforeValidator:
    """A text that fully matches the pattern."""
    pattern = re.compile(form)

    def check(value: Any) -> str | None:
        if value is None and or_null:
            return None
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError("of another form")
        return value

    return BeforeValidator(check)


def _chosen(values: dict[str, Any]) -> BeforeValidator:
    """One of several texts, each of which stands for a value."""

    def check(value: Any) -> Any:
        if not isinstance(value, str) or value not in values:
            raise ValueError("another value")
        return values[value]

    return BeforeValidator(check)


def _priority(value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"0|[1-9][0-9]{0,3}", value):
        raise ValueError("no such number")
    return int(value)


def _instant(value: Any) -> datetime:
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise ValueError("no time")
    return datetime.fromisoformat(value.upper()).astimezone(UTC)


def _at_least_one(items: tuple[ItemFile, ...]) -> tuple[ItemFile, ...]:
    if not items:
        raise ValueError("empty")
    return items


_UUID7 = _text(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ID = _text(DOCUMENT_ID.pattern)
_NAME = _text(NAME_FORM)
_PROFILE = _text(r"[a-z][a-z0-9_-]{0,47}")
# The length of an address that browsers and servers accept.
_URI = _text(r"(?=.{3,2048}$)[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", or_null=True)

_SCOPE = _chosen({scope: scope for scope in SCOPES})
_SCOPE_WORDS = " or ".join(SCOPES)
_NAME_WORDS = "1 to 64 of A-Z a-z 0-9 . _ @ -"
_ACTOR_WORDS = f"an approver of the policy: {_NAME_WORDS}"
_ID_WORDS = "3 to 64 of A-Z, 0-9 and '-', such as ICX-LAW-2026-001"


class Closed(BaseModel):
    """A closed model: it accepts only known fields, and only values that fit the field's description."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class ItemFile(Closed):
    document_id: Annotated[str, _ID] = Field(description=_ID_WORDS)
    source_uri: Annotated[str | None, _URI] = Field(
        None, description="null for the registered source, or its address: a URI in ASCII without a password"
    )
    priority: Annotated[int, BeforeValidator(_priority)] = Field(
        limits.PRIORITY_DEFAULT, description=f"a number from 0 to {limits.PRIORITY_MAX}, lower first"
    )
    depends_on: tuple[Annotated[str, _ID], ...] = Field((), description="a list of document ids of this queue")
    critical: Annotated[bool, _chosen({"true": True, "false": False})] = Field(False, description="true or false")
    tenant: Annotated[str | None, _NAME] = Field(None, description=_NAME_WORDS)
    marking_profile: Annotated[str | None, _PROFILE] = Field(
        None, description="a profile's name such as generic-markdown"
    )
    scope: Annotated[str | None, _SCOPE] = Field(None, description=_SCOPE_WORDS)
    actor: Annotated[str | None, _NAME] = Field(None, description=_ACTOR_WORDS)


class QueueFile(Closed):
    schema_version: Annotated[Literal[1], _chosen({"1": 1})] = Field(description="1")
    batch_id: Annotated[str, _UUID7] = Field(
        description="a UUID of version 7 in lower case, such as 0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
    )
    created_by: Annotated[str, _NAME] = Field(description=_NAME_WORDS)
    created_utc: Annotated[datetime, BeforeValidator(_instant)] = Field(
        description="a time of RFC 3339 such as 2026-11-21T22:00:00Z"
    )
    default_scope: Annotated[str, _SCOPE] = Field(ENACTED_ONLY, description=_SCOPE_WORDS)
    default_actor: Annotated[str | None, _NAME] = Field(None, description=_ACTOR_WORDS)
    items: Annotated[tuple[ItemFile, ...], AfterValidator(_at_least_one)] = Field(
        description="a list of documents, at least one"
    )


_LINE_ENDS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")

_SECRET_WORD = (
    r"(?i:pass[_-]?(?:word|wd|phrase)|pwd|secret|token|credential|authorization|"
    r"(?:api|access|private|signing|secret|encryption)[_-]?key)"
)
_DATABASES = (
    "postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqp|amqps|mssql|sqlserver|oracle|sqlite|cockroachdb|"
    "clickhouse|cassandra|db2|ldap|ldaps|smtp|smtps"
)

_SECRET_KEY = re.compile(_SECRET_WORD)

# No pattern tries more than a few thousand characters from one place, and no pattern backtracks.
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a URI with a user or password", re.compile(r"://[^\s/@]{0,256}+@")),
    ("a URI with a password", re.compile(r"://[^\s/@:]{0,256}+:[^\s@]{0,1024}+@")),
    ("a connection string", re.compile(rf"(?i:\b(?:jdbc:|(?:{_DATABASES})(?:[+][a-z0-9]{{1,20}}+)?+:/))")),
    ("a connection string", re.compile(r"(?i:\b(?:dbname|sslmode|hostaddr|initial catalog|data source)\s{0,4}+=)")),
    ("key or signature material", re.compile(r"-----\s{0,4}+(?:BEGIN|END)\s{0,4}+[A-Z]")),
    ("a token", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20}|\bgithub_pat_\w{20}|\bglpat-[\w-]{20}")),
    ("a token", re.compile(r"\bxox[abeprs]-[\w-]{10}|\beyJ[\w-]{8,512}+\.[\w-]{8}|\bsk-[\w-]{20}|AGE-SECRET-KEY-")),
    ("a token", re.compile(r"(?i:\b(?:bearer|basic)\s{1,4}+[\w.~+/-]{16})")),
    ("a password, secret or token", re.compile(_SECRET_WORD + r"[\w-]{0,40}+[\"']?+\s{0,8}+[:=]\s{0,8}+[^\s,]")),
)
_BASE64 = re.compile(r"(?=[^a-z]*+[a-z])(?=[^A-Z]*+[A-Z])(?=[^0-9]*+[0-9])[A-Za-z0-9+/_-]{40,}+={0,2}+")
"""A line of base64. No other line of a queue mixes so many kinds of characters over this length."""


def sensitive_lines(text: str) -> list[Flaw]:
    """One flaw for each line that holds a secret, or that is too long to search."""
    flaws = []
    for number, line in enumerate(_LINE_ENDS.split(text), start=1):
        rule = _rule(line)
        if rule:
            flaws.append(Flaw(line=number, rule=rule))
    return flaws


def sensitive_values(node: Node) -> Iterator[Flaw]:
    """The same search over keys and values as YAML reads them. A key that names a secret is a finding by itself."""
    match node:
        case Scalar():
            rule = _rule(" ".join(node.text.split()))
            if rule:
                yield Flaw(line=node.line, rule=rule)
        case Items():
            for item in node.items:
                yield from sensitive_values(item)
        case Fields():
            for key, value in node.entries:
                if _SECRET_KEY.search(_plain(key.text)):
                    yield Flaw(line=key.line, rule=_forbidden("a password, secret or token"))
                yield from sensitive_values(key)
                yield from sensitive_values(value)


def _rule(line: str) -> str:
    """The rule that a line breaks, or an empty text."""
    if len(line) < len("pwd=x"):
        return ""
    plain = _plain(line[: limits.QUEUE_LINE_CHARACTERS_MAX + 1])
    if len(plain) > limits.QUEUE_LINE_CHARACTERS_MAX:
        return f"longer than {limits.QUEUE_LINE_CHARACTERS_MAX} characters: break the line"
    if _BASE64.fullmatch(plain.strip(" \t\"'>#-")):
        return _forbidden("key or signature material")
    return next((_forbidden(kind) for kind, pattern in _KINDS if pattern.search(plain)), "")


def _plain(text: str) -> str:
    """The text without invisible characters, and with plain letters in place of their look-alikes."""
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")


def _forbidden(kind: str) -> str:
    return f"{kind} must not be in a queue: take it out, and replace it wherever it is valid"
