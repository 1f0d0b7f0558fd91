"""IO: starts a process that outlives us. It is not our child, so its death leaves no zombie process."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cutter.errors import Unavailable
from cutter.stack.processes import Process, identify
from cutter.stack.service_user import ServiceUser

_LAUNCH = '"$@" >&2 & echo $!'
"""A shell that starts the command in the background, prints its number and ends. The system adopts the command."""


def spawn(
    command: Sequence[str], *, log: Path, environment: Mapping[str, str], folder: Path, user: ServiceUser | None = None
) -> Process:
    """Start `command` in a session of its own with exactly `environment`. Both its outputs are appended to `log`.

    Because of the shell, the process ignores SIGINT. So SIGTERM stops it, or it sets its own handler as PostgreSQL
    does. Raises Unavailable if the process ends before it can be identified.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        launch = subprocess.run(
            ["/bin/sh", "-c", _LAUNCH, "sh", *command],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            umask=0o077,
            **as_user(user),
        )
    process = identify(int(launch.stdout))
    if process is None:
        raise Unavailable(f"{Path(command[0]).name} ended at once: {last_line(log)} (whole log: {log})", what="stack")
    return process


def as_user(user: ServiceUser | None) -> dict[str, Any]:
    """The arguments of `subprocess` that drop root's rights. Empty if we are not root."""
    return {} if user is None else {"user": user.uid, "group": user.gid, "extra_groups": []}


def last_line(log: Path) -> str:
    """The last line of a process's log, for the sentence of an error."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "it said nothing"
