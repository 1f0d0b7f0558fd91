"""IO: the own signing key of a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cutter.errors import Unavailable
from cutter.gpg import Gpg
from cutter.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """This worker's own signing key (executor or verifier)."""

    gpg: Gpg
    fingerprint: str


def signer_of(settings: Settings, name: str) -> Callable[[], Signer]:
    """The key in `<keys_dir>/<name>`. It is looked up at its first use, and again after the home has changed."""
    opened: list[Gpg] = []

    def load() -> Signer:
        home = settings.key_home(name)
        if not home.is_dir():
            raise Unavailable(
                f"no {name} key at {settings.keys / name}: type",
                then="cutter up",
                rest=", or put the GnuPG home there",
                what="gpg",
            )
        if not opened:
            opened.append(Gpg(home))
        gpg = opened[0]
        fingerprints = gpg.primary_fingerprints(secret=True)
        if len(fingerprints) != 1:
            raise Unavailable(f"{home} holds {len(fingerprints)} secret keys, it must hold one", what="gpg")
        return Signer(gpg=gpg, fingerprint=fingerprints[0])

    return load
