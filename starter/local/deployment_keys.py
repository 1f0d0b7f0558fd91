"""IO: the keys of a deployment as files: makes them, and puts a worker's key into the GnuPG home that it uses.

A file is what systemd hands over as a credential, and Kubernetes as a secret. A GnuPG home is neither.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from cutter.errors import NotFound, Refused
from cutter.gpg import Gpg
from cutter.stack.key_homes import HOMES, PIN
from cutter.stack.workers import database_roles
from cutter.storage import private

SECRET_BYTES = 32
"""The entropy of a shared secret."""


class KeyRole(StrEnum):
    """The keys of the workers, each named like its home, the secret that signs messages, and the key of a person."""

    EXECUTOR = "executor"
    VERIFIER = "verifier"
    BACKUP = "backup"
    NOTIFICATION = "notification"
    APPROVER = "approver"


NOTIFICATION_FILE = "webhook.secret"

ALSO_NEEDED = {KeyRole.VERIFIER: ("executor.asc",), KeyRole.BACKUP: (PIN,)}
"""The public files that a home needs next to its private key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    """The files of a new key. A shared secret has no fingerprint, and the private key of a person is in no file."""

    role: KeyRole
    fingerprint: str | None
    private: Path | None
    public: tuple[Path, ...] = ()


def make(role: KeyRole, folder: Path, *, expire: str) -> MadeKey:
    """Make a key and write it into `folder`. Raises Refused if one of its files exists, because it is never replaced.

    `expire` is in gpg's form (`2y`, or `0` for never).
    """
    private.own_folder(folder)
    if role is KeyRole.NOTIFICATION:
        file = _new(folder / NOTIFICATION_FILE, secrets.token_urlsafe(SECRET_BYTES).encode("ascii") + b"\n")
        return MadeKey(role=role, fingerprint=None, private=file)
    for name in (f"{role}.key", f"{role}.asc", *((PIN,) if role is KeyRole.BACKUP else ())):
        _refuse_existing(folder / name)
    with TemporaryDirectory(prefix="ck-") as place:
        gpg = Gpg(Path(place))
        try:
            fingerprint = gpg.generate_key(f"cutter {role}", expire=expire)
            public = [folder / f"{role}.asc"]
            if role is KeyRole.BACKUP:
                gpg.add_encryption_key(fingerprint)
                public.append(_new(folder / PIN, fingerprint.encode("ascii") + b"\n"))
            _new(public[0], gpg.export_key(fingerprint))
            file = _new(folder / f"{role}.key", gpg.export_key(fingerprint, secret=True))
            return MadeKey(role=role, fingerprint=fingerprint, private=file, public=tuple(public))
        finally:
            gpg.stop_agent()


def make_approver(gpg: Gpg, user: str, folder: Path, *, expire: str) -> MadeKey:
    """Let gpg make a key in the person's own home, and write its public part into `folder`.

    Raises Refused if the person gave no passphrase.
    """
    private.make_folder(folder)
    fingerprint = gpg.ask_for_key(user, expire=expire)
    if not gpg.has_passphrase(fingerprint):
        raise Refused(
            f"the key {fingerprint} has no passphrase, so its file alone could sign: remove it with "
            f"`gpg --delete-secret-and-public-key {fingerprint}`, and make another one",
            code="no_passphrase",
        )
    file = _new(folder / f"approver-{fingerprint[-16:]}.asc", gpg.export_key(fingerprint))
    return MadeKey(role=KeyRole.APPROVER, fingerprint=fingerprint, private=None, public=(file,))


def install(role: KeyRole, folder: Path, homes: Path, passwords: Path) -> str:
    """Make the home of that role in `homes` from the files in `folder`, and return the key's fingerprint.

    The worker's passwords, if the folder has them, are copied into `passwords`. A process manager may hand over files
    that a group can read, and only the worker's user can read these copies.

    The file of the backup key may hold several, and so may its home: the pin names the key in use, and the others open
    other backups. A second call changes nothing. Raises NotFound if a file is missing, and Refused if the home has
    another key, or the pin names a key that is not there.
    """
    key = _read(folder / f"{role}.key")
    others = {name: _read(folder / name) for name in ALSO_NEEDED.get(role, ())}
    given = _fingerprints(key)
    private.make_folder(homes)
    gpg = Gpg(homes / role)
    there = gpg.primary_fingerprints(secret=True)
    if role is KeyRole.BACKUP:
        fingerprint = others[PIN].decode("ascii", "replace").strip()
        if fingerprint not in {*given, *there}:
            raise Refused(
                f"{PIN} names {fingerprint or 'nothing'}, and this private key is not there", code="wrong_pin"
            )
    else:
        if len(given) != 1:
            raise Refused("a key file holds one private key, and this one holds several", code="several_keys")
        (fingerprint,) = given
        if set(there) - {fingerprint}:
            raise Refused(f"{homes / role} holds another private key: move this folder away first", code="key_exists")
    gpg.import_key(key, secret=True)
    for name, data in others.items():
        if name == PIN:
            private.replace(homes / PIN, data)
        else:
            gpg.import_key(data)
    _hand_over_passwords(role, folder, passwords)
    return fingerprint


def _hand_over_passwords(role: KeyRole, folder: Path, passwords: Path) -> None:
    if folder.resolve() == passwords.resolve():
        return
    (worker,) = (worker for worker, home in HOMES.items() if home == role)
    files = [folder / f"{name}.password" for name in database_roles(worker)]
    for file in (file for file in files if file.is_file()):
        private.own_folder(passwords)
        private.replace(passwords / file.name, file.read_bytes())


def _fingerprints(key: bytes) -> tuple[str, ...]:
    """The fingerprints of the private keys in a file. They are imported into a home that is thrown away."""
    with TemporaryDirectory(prefix="ck-") as place:
        gpg = Gpg(Path(place))
        try:
            return gpg.import_key(key, secret=True)
        finally:
            gpg.stop_agent()


def _new(path: Path, data: bytes) -> Path:
    _refuse_existing(path)
    private.write(path, data)
    return path


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise Refused(f"{path} exists, and a key is never replaced: name another folder", code="key_exists")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"no {path}:", then="cutter keys make --help", rest=" says which files a key has") from None
