"""IO: checks the files of a host: its keys, the approvers' epoch, folders, gpg, and the two stores of objects."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cutter import limits
from cutter.approvals import approver_store
from cutter.backup import encryption
from cutter.backup.encryption import open_store
from cutter.catalogue import WorkerRole
from cutter.domain.amounts import counted
from cutter.errors import CutterError
from cutter.gpg import HANGS, Gpg
from cutter.kb.store import Store
from cutter.preflight import checks
from cutter.preflight.checks import Check, Description, Host, bad, ok, unseen, warned
from cutter.preflight.database import is_elsewhere, open_to_others
from cutter.settings import Settings
from cutter.stack import supervisor, workers
from cutter.stack.processes import agents, version_text
from cutter.storage.policies import EPOCH
from cutter.storage.pools import session

GPG_MIN = (2, 2)
INSTALL_GPG = "install GnuPG 2.2 or newer: `apt-get install gnupg` (Debian), `brew install gnupg` (macOS)"


def approvers(settings: Settings, hosts: frozenset[Host]) -> Check:
    """The folder of approvers has the epoch that the database names, with its keys."""
    role = next(checks.ROLES[host][0] for host in Host if host in hosts & checks.APPROVERS.hosts)
    try:
        with session(settings, role) as connection:
            epoch = EPOCH.first(connection)
    except CutterError:
        return unseen(checks.APPROVERS, "the database does not answer")
    if epoch is None:
        return unseen(checks.APPROVERS, "no epoch is installed: `cutter approvers init --approver NAME=KEY.asc`")
    try:
        policy, _ = approver_store.load_current(settings.approvers, epoch.sha256)
    except CutterError as problem:
        remedy = "copy the folder of approvers from the host on which its epoch was made"
        return bad(checks.APPROVERS, str(problem), f"{remedy}; CUTTER_APPROVERS_DIR names it")
    return ok(checks.APPROVERS, f"epoch {policy.number} with {len(policy.approvers)} approvers")


def keys(settings: Settings, hosts: frozenset[Host]) -> Iterator[Check]:
    """The key of each worker. A worker that is alone refuses to start with another worker's key. `cutter up` starts
    several workers from one folder, and hands each of them its own key.
    """
    ours = [role for role, host in checks.OF_WORKER.items() if host in hosts]
    for worker in ours:
        others = workers.foreign(settings.keys, worker) if len(ours) == 1 else []
        if others:
            step = _import(workers.HOMES[worker])
            remedy = f"set CUTTER_KEYS_DIR to a folder of the {worker} worker alone, then `{step}`"
            text = f"{settings.keys} holds {', '.join(others)}, the key of another worker"
            yield bad(checks.KEY, text, remedy, then=step)
        else:
            yield key(settings, worker)


def _import(name: str) -> str:
    return f"cutter keys import --role {name} FOLDER"


def key(settings: Settings, worker: WorkerRole) -> Check:
    """The worker has exactly one private key of its own, and other accounts cannot read it."""
    name = workers.HOMES[worker]
    home = settings.key_home(name)
    if not home.is_dir():
        step = _import(name)
        remedy = f"`{step}`, with the folder of the key's files; CUTTER_KEYS_DIR names the folder of keys"
        return bad(checks.KEY, f"no {name} key at {settings.keys / name}", remedy, then=step)
    open_ones = [path for path in (home, *private_files(home)) if open_to_others(path)]
    if open_ones:
        return bad(checks.KEY, f"other accounts may read {open_ones[0]}", f"chmod -R go-rwx {home}")
    gpg = Gpg(home)
    try:
        secret = gpg.primary_fingerprints(secret=True)
        if worker is WorkerRole.CUTTER and secret:
            return _backup_keys(settings.keys / workers.PIN, gpg, secret)
    except CutterError as problem:
        return bad(checks.KEY, str(problem).removesuffix(HANGS), _end_agent(home) or INSTALL_GPG)
    if not secret and any(private_files(home)):
        text = f"the gpg-agent of {home} finds no private key, and the folder holds one"
        return bad(checks.KEY, text, _end_agent(home) or "make the folder again from a copy of the key")
    if len(secret) != 1:
        return bad(checks.KEY, f"{home} holds {len(secret)} private keys", "leave exactly this worker's own key there")
    if worker is WorkerRole.VERIFY and len(gpg.primary_fingerprints()) < 2:
        remedy = "import the executor's public key there: `gpg --homedir HOME --import executor.asc`"
        return bad(checks.KEY, f"{home} lacks the executor's public key", remedy)
    return ok(checks.KEY, f"{name} {secret[0]}")


def _end_agent(home: Path) -> str:
    """How to end the running agents of a home, even one that hangs. Empty if none runs."""
    numbers = " ".join(str(process.pid) for _, process in agents(home))
    return f"type `kill -KILL {numbers}`, which ends its gpg-agent; gpg starts another one" if numbers else ""


def _backup_keys(pin: Path, gpg: Gpg, secret: tuple[str, ...]) -> Check:
    """The file `pin` names the key in use. Other private keys must be earlier backup keys: a key that only signs is
    another worker's.
    """
    pinned = pin.read_text(encoding="ascii").strip() if pin.is_file() else ""
    if pinned not in secret:
        remedy = f"write the fingerprint of the backup key into {pin}"
        text = f"{pin} has {pinned or 'nothing'}, and {gpg.home} holds {', '.join(secret)}"
        return bad(checks.KEY, text, remedy)
    foreign = sorted(set(secret) - encryption.backup_keys(gpg))
    if foreign:
        remedy = f"remove it: `gpg --homedir {gpg.home} --delete-secret-keys {foreign[0]}`"
        return bad(checks.KEY, f"{gpg.home} holds the private key {foreign[0]}, which is no backup key", remedy)
    kept = f", and {counted(len(secret) - 1, 'other key')} for other backups" if len(secret) > 1 else ""
    return ok(checks.KEY, f"{workers.HOMES[WorkerRole.CUTTER]} {pinned}{kept}")


def private_files(home: Path) -> Iterator[Path]:
    """The files of a GnuPG home that hold private keys."""
    yield from (path for path in sorted(home.glob("private-keys-v1.d/*.key")) if path.is_file())


def writable(settings: Settings, hosts: frozenset[Host]) -> Check:
    """The host's folders can be written, and the disk has room. It makes nothing."""
    wanted = [settings.state, settings.runs, settings.batches]
    if Host.LOCAL in hosts:
        stores = [url.removeprefix("file://") for url in (settings.kb, settings.artifacts) if url.startswith("file://")]
        wanted += [settings.approvers, *map(Path, stores)]
    wrong = [str(folder) for folder in dict.fromkeys(wanted) if not supervisor.is_writable(folder)]
    if wrong:
        return bad(checks.FOLDERS, f"cannot write in {', '.join(wrong)}", "make them writable, or set CUTTER_STATE_DIR")
    free = supervisor.free_bytes(settings.state)
    room = f"{free // limits.MIB} MiB free for {settings.state}"
    if free < limits.DISK_FREE_MIN_BYTES:
        needed = limits.DISK_FREE_MIN_BYTES // limits.MIB
        return bad(checks.FOLDERS, room, f"make room: {needed} MiB are needed, or set CUTTER_STATE_DIR")
    return ok(checks.FOLDERS, f"writable, {room}")


def gpg() -> Check:
    """The gpg program is there and new enough."""
    path = shutil.which("gpg")
    if path is None:
        return bad(checks.GPG, "not on PATH", INSTALL_GPG)
    try:
        text = version_text(path)
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    version = re.search(r"(\d+)\.(\d+)\.\d+", text)
    line = text.splitlines()[0] if text else f"{path} does not run"
    if version is None or (int(version[1]), int(version[2])) < GPG_MIN:
        return bad(checks.GPG, line, INSTALL_GPG)
    return ok(checks.GPG, line)


NAME = ".preflight"
"""The beginning of the object's name. No rule for ids accepts a leading dot, so no list shows the object."""

BODY = b"cutter wrote this to check that it can write here\n"
ADD_S3 = "install its library: `pip install s3fs`"


def stored(settings: Settings, description: Description, who: str) -> Check:
    """Write and read back one object in the knowledge base, or in the store of backups and bundles.

    `who` makes its name different on one host. It is a warning if the database is on another host and the store is a
    folder of this host.
    """
    kb = description is checks.KNOWLEDGE_BASE
    setting, url = ("CUTTER_KB_URL", settings.kb) if kb else ("CUTTER_ARTIFACTS_URL", settings.artifacts)
    remedy = f"make it writable for this account, or correct {setting}"
    try:
        store = Store(url) if kb else open_store(url)
        written_and_read(store, f"{NAME}-{socket.gethostname()}-{who}")
    except CutterError as problem:
        missing = isinstance(problem.__cause__, ImportError)
        return bad(description, str(problem), ADD_S3 if missing else remedy)
    except OSError as problem:
        return bad(description, f"{url}: {problem.strerror or problem}", remedy)
    if url.startswith("file:") and is_elsewhere(settings):
        text = f"{url} was written, but other hosts see it only if the file system is shared"
        return warned(description, text, f"name a store of all hosts in {setting}, such as s3://BUCKET/FOLDER")
    return ok(description, f"{url} was written and read back")


def written_and_read(store: Store, name: str) -> None:
    """Write one object, read it back and remove it.

    Some stores forbid to remove objects. There the object stays, and later checks only read it. Raises OSError and
    errors of cutter.
    """
    objects = store.objects
    with suppress(FileExistsError):
        objects.create(name, BODY)
    if objects.read(name, len(BODY)) != BODY:
        raise OSError(f"{name} holds other bytes than were written")
    with suppress(OSError):
        objects.remove(name)
