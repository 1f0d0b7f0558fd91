"""IO: the addresses of the stack's parts: from the settings, or from the files of the running local stack."""

from __future__ import annotations

from pathlib import Path

from cutter.errors import Unavailable
from cutter.settings import Settings

TEMPORAL = "temporal.address"
UI = "temporal.ui"
DEMO = "demo"
"""The demo's own state folder, inside the state folder. It keeps the demo's approver out of a person's policy."""


def temporal_address(settings: Settings) -> str:
    """host:port of Temporal. Raises Unavailable if no address is set and the local server does not run."""
    return settings.temporal_address or _noted(settings.state / TEMPORAL)


def ui_url(settings: Settings) -> str | None:
    """The address of the local Web UI, or None. cutter does not know the Web UI of a server elsewhere."""
    return None if settings.temporal_address else _noted(settings.state / UI)


def looked_in(settings: Settings, what: str) -> str:
    """The folder in which cutter looked for the local stack, in brackets. Empty if `what` is no part of this stack."""
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
        raise Unavailable("Temporal is not up: type", then="cutter up", what="temporal") from None
