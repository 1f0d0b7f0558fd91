"""IO: the workers' GnuPG homes: which is whose, and that no worker is handed another's private key."""

from __future__ import annotations

import shutil
from itertools import combinations
from pathlib import Path

from cutter.catalogue import WorkerRole
from cutter.errors import Refused, Unavailable

HOMES = {WorkerRole.CUTTER: "backup", WorkerRole.EXEC: "executor", WorkerRole.VERIFY: "verifier"}
"""The one home of each worker below the folder of keys. The verifier's holds the executor's public key too."""

PIN = "backup.fingerprint"
"""The pinned backup key, which is public; the worker that takes backups gets it with its home."""


def hand_over(keys: Path, folder: Path, worker: WorkerRole) -> None:
    """Make `folder` hold a worker's own home and nothing else; what lay there before goes.

    The home is linked: a copy would be one more place of a private key, with an agent of its own. Raises Unavailable
    when the home is missing, Refused when two homes share a private key.
    """
    home = keys / HOMES[worker]
    if not home.is_dir():
        raise Unavailable(f"no {home.name} key at {home}: put the GnuPG home there", what="keys")
    for one, other in shared(keys):
        raise Refused(
            f"{keys / one} and {keys / other} hold the same private key: give each worker a key of its own",
            code="private_key_shared",
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    (folder / home.name).symlink_to(home.resolve(), target_is_directory=True)
    if worker is WorkerRole.CUTTER and (keys / PIN).is_file():
        shutil.copyfile(keys / PIN, folder / PIN)


def foreign(keys: Path, worker: WorkerRole) -> list[str]:
    """Homes of other workers in the folder that this one was given."""
    return [name for role, name in HOMES.items() if role is not worker and (keys / name).exists()]


def shared(keys: Path) -> list[tuple[str, str]]:
    """Pairs of homes with a private key in common. gpg names these files by the key, so that no agent is needed."""
    held = {name: {path.name for path in (keys / name).glob("private-keys-v1.d/*.key")} for name in HOMES.values()}
    return [(one, other) for one, other in combinations(held, 2) if held[one] & held[other]]
