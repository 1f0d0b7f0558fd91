"""Pure: finds secrets, connection strings and signature material, which must not be in a queue file (seed 001 §2).

The search covers the bare lines, so that comments count too. It also covers the values that YAML reads, so that an
escape hides nothing. A finding gives the kind of the secret and its place, but never repeats the secret. The search
prefers to find too much, because a false finding only costs a rewording.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from cutter import limits
from cutter.plain_yaml import Fields, Flaw, Items, Node, Scalar

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
