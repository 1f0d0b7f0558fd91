"""IO: the addresses of the stack's parts, from the settings or its files, and loopback ports."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

from cutter import limits
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


def _noted(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise Unavailable("Temporal is not up: type", then="cutter up", what="temporal") from None


LOOPBACK = "127.0.0.1"


def is_free(port: int) -> bool:
    """True if a server could listen at this port now. Servers use SO_REUSEADDR, so this check does too."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free() -> int:
    """A free port below the range from which the system itself gives ports to programs.

    The system could give a port of this range to another program, or to an inner part of a server, before our server
    listens there.
    """
    # Ports that cutter tries before it gives up.
    for _ in range(200):
        # Above the well-known servers, and below the ports that systems hand out (from 32,768).
        port = 20_000 + secrets.randbelow(10_000)
        if is_free(port):
            return port
    raise Unavailable("no free port was found on loopback: end other servers, then type", then="cutter up", what="port")


def own_address(remembered: Path) -> str:
    """A loopback address that is hard to guess, also written to `remembered`. 127.0.0.1 if the system has no other.

    A web page could reach a loopback address by a name of its own, but only if it knows the address.
    """
    address = recall_address(remembered) or "127." + ".".join(str(1 + secrets.randbelow(254)) for _ in range(3))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            address = LOOPBACK
    remembered.parent.mkdir(parents=True, exist_ok=True)
    remembered.write_text(f"{address}\n", encoding="ascii")
    return address


def listens(address: str) -> bool:
    """True if a server accepts connections at host:port."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=limits.CONNECT_SECONDS).close()
    except (OSError, ValueError):
        return False
    return True


def choose(remembered: Path) -> int:
    """The port for a server, also written to `remembered`: the remembered one, or a free one if that is taken."""
    before = recall(remembered)
    port = before if before is not None and is_free(before) else free()
    remembered.parent.mkdir(parents=True, exist_ok=True)
    remembered.write_text(f"{port}\n", encoding="ascii")
    return port


def recall_address(remembered: Path) -> str:
    """The remembered loopback address, or an empty text."""
    try:
        return remembered.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def recall(remembered: Path) -> int | None:
    try:
        return int(remembered.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
