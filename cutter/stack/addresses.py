"""IO: where the parts of the stack answer: as set, else as the running local stack wrote down."""

from __future__ import annotations

from pathlib import Path

from cutter.errors import Unavailable
from cutter.settings import Settings

TEMPORAL = "temporal.address"
UI = "temporal.ui"
DEMO = "demo"
"""The demo's own state folder, in the state folder: its throw-away approver stays out of a person's policy."""


def temporal_address(settings: Settings) -> str:
    """host:port of Temporal; Unavailable when none is set and the local one is not up."""
    return settings.temporal_address or _noted(settings.state / TEMPORAL)


def ui_url(settings: Settings) -> str | None:
    """The local Web UI, or None: of a server that exists elsewhere we do not know it."""
    return None if settings.temporal_address else _noted(settings.state / UI)


def looked_in(settings: Settings, what: str) -> str:
    """Where the local stack was looked for, in brackets; empty when `what` is not the local stack's."""
    elsewhere = settings.temporal_address if what == "temporal" else settings.database_url
    if what not in ("database", "temporal", "secrets") or elsewhere:
        return ""
    there = "" if settings.state.is_dir() else ", which does not exist"
    demo = settings.state / DEMO
    up = f", while the demo's stack is up in {demo}" if (demo / "postgres.url").exists() else ""
    return f" (looked in {settings.state}{there}{up}; CUTTER_STATE_DIR names another folder)"


def note_address(state_dir: Path, name: str, address: str) -> None:
    (state_dir / name).write_text(address + "\n", encoding="ascii")


def forget_address(state_dir: Path, name: str) -> None:
    (state_dir / name).unlink(missing_ok=True)


def _noted(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise Unavailable("Temporal is not up: type `cutter up`", what="temporal") from None
