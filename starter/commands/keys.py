"""IO: `cutter keys`: the keys of a deployment as files, the homes of workers, and throw-away keys of the local stack.

A file is what systemd hands over as a credential, and Kubernetes as a secret. A GnuPG home is neither.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from cutter.errors import InvalidInput, NotFound, Refused
from cutter.gpg import Gpg
from cutter.preflight.database import is_elsewhere
from cutter.settings import Settings, load
from cutter.stack.workers import HOMES, PIN, database_roles
from cutter.storage import private
from starter.commands.options import GpgHome
from starter.console.terminal import AsJson, fields, show

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


def make_key(role: KeyRole, folder: Path, *, expire: str) -> MadeKey:
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


def install_key(role: KeyRole, folder: Path, homes: Path, passwords: Path) -> str:
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


def refuse_elsewhere(settings: Settings) -> None:
    """Refuse to make keys for a database on another host. Its workers have real keys, and do not know the new ones."""
    missing = [name for name in HOMES.values() if not settings.key_home(name).is_dir()]
    if missing and is_elsewhere(settings):
        raise Refused(
            f"CUTTER_DATABASE_URL names another host, and {settings.keys} has no {missing[0]} key: `cutter up` makes "
            "throw-away keys only for a database on this machine. Start each worker on its own host, such as "
            "`python worker.py --role exec` (docs/guides/deploy.md)",
            code="throw_away_keys",
        )


def ensure_throwaway_keys(settings: Settings) -> None:
    """Make the missing ones of the three key homes. The verifier gets the executor's public key."""
    keys = settings.keys
    keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    executor, _ = _ensure(settings, "executor")
    verifier, _ = _ensure(settings, "verifier")
    home = Gpg(keys / "backup")
    secret = home.primary_fingerprints(secret=True)
    backup = secret[0] if secret else home.generate_key("cutter backup (throw-away)")
    if not secret:
        home.add_encryption_key(backup)
    signer = executor.primary_fingerprints(secret=True)[0]
    if signer not in verifier.primary_fingerprints():
        verifier.import_key(executor.export_key(signer))
    pinned = keys / "backup.fingerprint"
    if not pinned.exists():
        pinned.write_text(backup + "\n", encoding="ascii")


def _ensure(settings: Settings, name: str) -> tuple[Gpg, str]:
    gpg = Gpg(settings.keys / name)
    secret = gpg.primary_fingerprints(secret=True)
    return gpg, secret[0] if secret else gpg.generate_key(f"cutter {name} (throw-away)")


app = typer.Typer(
    help="Keys of workers, messages and approvers (docs/guides/keys.md).", no_args_is_help=True, add_completion=False
)

EXPIRE_FORM = re.compile(r"0|[1-9][0-9]{0,3}[dwmy]")

Role = Annotated[KeyRole, typer.Option("--role", help="Whose key it is.")]


@app.command()
def make(
    role: Role,
    folder: Annotated[Path, typer.Argument(help="Folder for its files; it is made if it is missing")],
    expire: Annotated[
        str | None, typer.Option(help="Life: 30d, 8w, 6m, 2y, or 0 for no end; default: 2y for an approver, else 0")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the approver, such as 'An <an@example.org>'")] = None,
    gpg_home: GpgHome = None,
    as_json: AsJson = False,
) -> None:
    """Make a worker's key as files without a passphrase, or an approver's key in their own GnuPG home with one.

    Example: cutter keys make --role executor /etc/cutter/keys
    """
    life = expire or ("2y" if role is KeyRole.APPROVER else "0")
    if not EXPIRE_FORM.fullmatch(life):
        raise InvalidInput(f"--expire {expire}: a number with d, w, m or y, such as 2y, or 0")
    if (name is not None) != (role is KeyRole.APPROVER):
        raise InvalidInput("--name is for --role approver, which needs it: --name 'An <an@example.org>'")
    if name is not None:
        made = make_approver(Gpg(gpg_home, interactive=True), name, folder, expire=life)
    else:
        made = make_key(role, folder, expire=life)
    answer = {
        "role": role.value, "fingerprint": made.fingerprint, "public": ", ".join(map(str, made.public)),
        "private": str(made.private or "in your GnuPG home"),
    }  # fmt: skip
    show(answer, as_json=as_json, render=lambda out: out.print(fields(answer), soft_wrap=True))


@app.command("import")
def install(
    role: Role,
    folder: Annotated[Path, typer.Argument(help="Folder with the files that `cutter keys make` wrote")],
    as_json: AsJson = False,
) -> None:
    """Put a worker's key into its GnuPG home in CUTTER_KEYS_DIR, and its passwords into CUTTER_SECRETS_DIR.

    Example: cutter keys import --role executor /run/credentials/cutter-worker-exec.service
    """
    if role is KeyRole.NOTIFICATION:
        raise InvalidInput("this secret has no GnuPG home: put its file into CUTTER_SECRETS_DIR")
    if role is KeyRole.APPROVER:
        raise InvalidInput("an approver's key stays in the approver's own home:", then="cutter approvers --help")
    settings = load()
    fingerprint = install_key(role, folder, settings.keys, settings.secrets)
    answer = {"role": role.value, "fingerprint": fingerprint, "home": str(settings.keys / role)}
    show(answer, as_json=as_json, render=lambda out: out.print(fields(answer), soft_wrap=True))
