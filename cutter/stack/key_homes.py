"""IO: the GnuPG homes of the workers. It gives each worker its own home, and no worker gets another's private key."""

from __future__ import annotations

import shutil
from itertools import combinations
from pathlib import Path

from cutter.catalogue import WorkerRole
from cutter.errors import Refused, Unavailable

HOMES = {WorkerRole.CUTTER: "backup", WorkerRole.EXEC: "executor", WorkerRole.VERIFY: "verifier"}
"""The one home of each worker below the folder of keys. The verifier's home also has the executor's public key."""

PIN = "backup.fingerprint"
"""The file with the fingerprint of the backup key, which is public.

The worker that takes backups gets this file too.
"""


def hand_over(keys: Path, folder: Path, worker: WorkerRole) -> None:
    """Put a worker's own home into `folder`, and remove everything else from `folder`.

    The folder has links to the home and to the pin, so that a running worker sees another pin. A copy of the home would
    be one more place of a private key, with an agent of its own. Raises Unavailable if the home is missing, and Refused
    if two homes share a private key.
    """
    home = keys / HOMES[worker]
    if not home.is_dir():
        raise Unavailable(f"no {home.name} key at {home}: put the GnuPG home there", what="keys")
    for name, other in shared(keys):
        raise Refused(
            f"{keys / name} and {keys / other} hold the same private key: give each worker a key of its own",
            code="private_key_shared",
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    (folder / home.name).symlink_to(home.resolve(), target_is_directory=True)
    if worker is WorkerRole.CUTTER and (keys / PIN).is_file():
        (folder / PIN).symlink_to((keys / PIN).resolve())


def foreign(keys: Path, worker: WorkerRole) -> list[str]:
    """The homes of other workers that are in this worker's folder of keys."""
    return [name for role, name in HOMES.items() if role is not worker and (keys / name).exists()]


def shared(keys: Path) -> list[tuple[str, str]]:
    """The pairs of homes that share a private key. gpg names the key files by the key, so no agent is needed."""
    held = {name: {path.name for path in (keys / name).glob("private-keys-v1.d/*.key")} for name in HOMES.values()}
    return [(name, other) for name, other in combinations(held, 2) if held[name] & held[other]]
