"""IO: throw-away keys of the local stack for the executor, the verifier and the backup. A deployment brings its own
GnuPG homes.
"""

from __future__ import annotations

from cutter.errors import Refused
from cutter.gpg import Gpg
from cutter.preflight.database import is_elsewhere
from cutter.settings import Settings
from cutter.stack.key_homes import HOMES


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
