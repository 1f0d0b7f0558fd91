"""IO: gpg as the backup uses it: the pinned recipient, its commands, and what its status lines say.

gpg reads no configuration file here (`--no-options`), since `encrypt-to` there would add a recipient silently. Its
error texts are never shown or matched, only its status lines.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cutter.backup.pipeline import answer
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.errors import InvalidInput, Unavailable

_FINGERPRINT = re.compile(r"[0-9A-F]{40}|[0-9A-F]{64}")
_STATUS = "[GNUPG:] "


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpg:
    """A gpg program and the home that it works in."""

    binary: str
    home: Path

    def command(self, *arguments: str) -> tuple[str, ...]:
        fixed = ("--batch", "--no-tty", "--no-options", "--no-auto-check-trustdb", "--no-autostart")
        return (self.binary, "--homedir", str(self.home), *fixed, *arguments)

    def encrypt(self, fingerprint: str) -> tuple[str, ...]:
        """Standard input to ciphertext for exactly one key. pg_dump has compressed already."""
        return self.command(
            *("--status-fd", "2", "--trust-model", "always", "--no-encrypt-to", "--no-auto-key-locate"),
            *("--compress-algo", "none", "--recipient", fingerprint, "--encrypt"),
        )

    def decrypt(self) -> tuple[str, ...]:
        return self.command("--status-fd", "2", "--trust-model", "always", "--decrypt")

    def environment(self) -> Mapping[str, str]:
        """No database password, no ambient locale, no agent or terminal of whoever started us."""
        return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ} | {"LC_ALL": "C"}

    def start_agent(self) -> None:
        """The one agent of this home, which decryption needs; raises Unavailable(what="backup") without it.

        Asked for apart because gpg reports a missing agent and a missing secret key alike.
        """
        gpgconf = shutil.which("gpgconf")
        if gpgconf is None:
            raise Unavailable("gpgconf is not installed (it comes with GnuPG)", what="backup")
        done = answer((gpgconf, "--homedir", str(self.home), "--launch", "gpg-agent"), self.environment())
        if done.returncode != 0:
            raise Unavailable(f"no gpg agent runs for {self.home}: the path must be short and writable", what="backup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """The pinned key and the key ids (16 hex) that a message for it may name."""

    fingerprint: str
    encryption_key_ids: frozenset[str]


def pinned(fingerprint: str) -> str:
    """A deployment-pinned fingerprint in gpg's own form; raises InvalidInput for a short id or a name."""
    text = fingerprint.replace(" ", "").upper()
    if not _FINGERPRINT.fullmatch(text):
        raise InvalidInput("the backup key is pinned by its full fingerprint: 40 (or 64) hex characters")
    return text


def find_recipient(gpg: Gpg, fingerprint: str) -> Recipient | BackupRefusal:
    """The key of the pinned fingerprint from the home, if it can be encrypted for today."""
    done = answer(gpg.command("--with-colons", "--fixed-list-mode", "--list-keys"), gpg.environment())
    if done.returncode != 0:
        raise Unavailable(f"gpg cannot read the keys in {gpg.home} (exit code {done.returncode})", what="backup")
    keys = _keys(done.stdout)
    key = keys.get(fingerprint)
    if key is None:
        return BackupRefusal(
            code=RefusalCode.FINGERPRINT_MISMATCH,
            message="the backup key in this home is not the pinned one: put the pinned public key there",
            expected=fingerprint,
            observed=", ".join(sorted(keys)) or "no key",
        )
    return _usable(fingerprint, key)


@dataclass(slots=True)
class _Key:
    validity: str
    encryption: list[tuple[str, str]]


def _keys(colons: str) -> dict[str, _Key]:
    """Primary fingerprint → its validity and its (key id, validity) pairs that can encrypt (GnuPG doc/DETAILS)."""
    keys: dict[str, _Key] = {}
    current: _Key | None = None
    named = False
    for line in colons.splitlines():
        field = [*line.split(":"), *([""] * 12)]
        if field[0] in ("pub", "sub"):
            if field[0] == "pub":
                current, named = _Key(field[1], []), False
            if current is not None and "e" in field[11]:
                current.encryption.append((field[4], field[1]))
        elif field[0] == "fpr" and current is not None and not named:
            keys[field[9]], named = current, True
    return keys


def _usable(fingerprint: str, key: _Key) -> Recipient | BackupRefusal:
    if key.validity == "e" or (key.encryption and all(validity == "e" for _, validity in key.encryption)):
        return BackupRefusal(
            code=RefusalCode.KEY_EXPIRED,
            message="the pinned backup key has expired: extend it, or pin another",
            expected=fingerprint,
        )
    ids = frozenset(key_id for key_id, validity in key.encryption if validity not in ("e", "r", "d", "i"))
    if key.validity in ("r", "d", "i") or not ids:
        return BackupRefusal(
            code=RefusalCode.KEY_UNUSABLE,
            message="the pinned backup key is revoked, disabled or cannot encrypt: pin another",
            expected=fingerprint,
        )
    return Recipient(fingerprint=fingerprint, encryption_key_ids=ids)


def status(stderr: str) -> tuple[tuple[str, ...], ...]:
    """gpg's status lines, each as its words."""
    return tuple(tuple(line[len(_STATUS) :].split()) for line in stderr.splitlines() if line.startswith(_STATUS))
