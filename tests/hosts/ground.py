"""IO: what the cluster takes from the machine, users, folders and permissions, and gives back at its end.

The folder has one fixed name, so a start first removes what an earlier, killed start has left.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from cutter.errors import Unavailable
from cutter.stack.processes import ServiceUser

PLACE = Path("/tmp/cutter-hosts")
CLAIM = Path("/run/cutter-hosts.lock")
SHARED_MEMORY = Path("/proc/sysvipc/shm")
PREFIX = "cutter-hosts-"
OPENED = "opened.json"
"""The file with the modes of the folders that the cluster opened for its users."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The folder of the cluster. Everything that belongs to it is below this folder."""

    place: Path

    def folder(self, name: str, user: ServiceUser | None = None) -> Path:
        """A folder that only this user can read; root's if there is none."""
        made = self.place / name
        made.mkdir(mode=0o700)
        if user is not None:
            os.chown(made, user.uid, user.gid)
        return made


def take(names: Iterable[str], readable: Iterable[Path]) -> tuple[Ground, dict[str, ServiceUser]]:
    """A clean folder and new users, who can reach the programs at `readable`."""
    if os.geteuid() != 0:
        raise Unavailable("the cluster needs users of its own: type the command as root", what="root")
    _claim()
    give_back(Ground(PLACE))
    PLACE.mkdir(mode=0o711)
    PLACE.chmod(0o711)
    _open(PLACE / OPENED, readable)
    return Ground(PLACE), {name: _user(PREFIX + name) for name in names}


def give_back(ground: Ground) -> None:
    """End the processes of the cluster's users, remove the users and the folder, and close what was opened."""
    if ground.place.exists() and ground.place.stat().st_uid != 0:
        raise Unavailable(f"{ground.place} belongs to another user: remove it", what="folder")
    for entry in pwd.getpwall():
        if entry.pw_name.startswith(PREFIX):
            _end_processes(entry.pw_uid)
            _free_memory(entry.pw_uid)
            subprocess.run(["userdel", entry.pw_name], check=True, capture_output=True)
    _close(ground.place / OPENED)
    shutil.rmtree(ground.place, ignore_errors=True)


def give(path: Path, user: ServiceUser, *, mode: int = 0o600) -> None:
    """Hand a file, or a folder with its files, over to a user who alone can read it."""
    for part in (path, *path.rglob("*")):
        os.chown(part, user.uid, user.gid)
        part.chmod(mode | 0o100 if part.is_dir() else mode)


def _claim() -> None:
    """Refuse a second cluster at the same time. The claim ends with this process."""
    claim = os.open(CLAIM, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Unavailable("another cluster runs on this machine: wait for its end", what="cluster") from None


def _user(name: str) -> ServiceUser:
    subprocess.run(["useradd", "--system", "--no-create-home", "--user-group", "--shell", "/usr/sbin/nologin", name],
                   check=True, capture_output=True)  # fmt: skip
    entry = pwd.getpwnam(name)
    return ServiceUser(uid=entry.pw_uid, gid=entry.pw_gid)


def _end_processes(uid: int) -> None:
    """SIGKILL to each process of a user, also to its gpg agents."""
    owned = [process for process in psutil.process_iter() if _owner(process) == uid]
    for process in owned:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(owned, timeout=10)


def _free_memory(uid: int) -> None:
    """Remove the shared memory of a user, which a killed PostgreSQL leaves behind."""
    header, *rows = SHARED_MEMORY.read_text(encoding="ascii").splitlines()
    segments = [dict(zip(header.split(), row.split(), strict=True)) for row in rows]
    for segment in (segment for segment in segments if segment["uid"] == str(uid)):
        subprocess.run(["ipcrm", "--shmem-id", segment["shmid"]], check=True, capture_output=True)


def _owner(process: psutil.Process) -> int | None:
    try:
        return int(process.uids().real)
    except psutil.NoSuchProcess:
        return None


def _open(note: Path, readable: Iterable[Path]) -> None:
    """Let others search the folders above these paths, and note the earlier modes."""
    above = {folder for path in readable for folder in (*path.resolve().parents, *path.absolute().parents)}
    closed = {str(path): path.stat().st_mode for path in above if not path.stat().st_mode & stat.S_IXOTH}
    note.write_text(json.dumps(closed), encoding="utf-8")
    for path, mode in closed.items():
        Path(path).chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def _close(note: Path) -> None:
    modes: dict[str, int] = json.loads(note.read_text(encoding="utf-8")) if note.exists() else {}
    for path, mode in modes.items():
        Path(path).chmod(stat.S_IMODE(mode))
