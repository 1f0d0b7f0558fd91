"""IO: the local Temporal server as it would be without what keeps web pages away, for a control arm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from cutter.stack import addresses, temporal


@contextmanager
def without_web_guards() -> Iterator[None]:
    """Servers that start in here take requests from web pages, and their Web UI has the address that all know."""
    with (
        patch.object(temporal, "WEB_GUARDS", ()),
        patch.object(addresses, "own_address", lambda _: addresses.LOOPBACK),
    ):
        yield
