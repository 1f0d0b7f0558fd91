"""IO: a worker of the product with planted leaks: memory, open files, and slower statements, more with each second.

python -m tests.campaigns.leaking_worker --role exec; for the control arm of P25 only.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import psycopg

import worker
from cutter.limits import MIB

EVERY = "LEAK_EVERY_SECONDS"
"""The variable that says how often the worker leaks."""

SLOWER_SECONDS = 0.0003
"""How much slower each statement becomes with each leak."""

kept: list[Any] = []


def leak() -> None:
    """Keep a MiB and an open file, again and again."""
    while True:
        kept.append((bytearray(b"x" * MIB), open("/dev/null", "rb")))  # noqa: SIM115 — this is the leak
        time.sleep(float(os.environ[EVERY]))


def slower(execute: Any) -> Any:
    """The same function, which waits longer with each leak."""

    def waiting(*arguments: Any, **given: Any) -> Any:
        time.sleep(len(kept) * SLOWER_SECONDS)
        return execute(*arguments, **given)

    return waiting


def main() -> None:
    """Leak in a thread, and work as a worker does."""
    psycopg.Cursor.execute = slower(psycopg.Cursor.execute)  # type: ignore[method-assign]
    threading.Thread(target=leak, daemon=True).start()
    os._exit(worker.main())


if __name__ == "__main__":
    main()
