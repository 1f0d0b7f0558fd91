"""IO: makes the SDK download its development server into a folder, in a separate process (`cutter.stack.temporal`).

`python -m starter.local.temporal_download FOLDER` leaves the program there and ends with 0. Otherwise it prints the
reason and ends with 1.
"""

from __future__ import annotations

import asyncio
import os
import sys

from temporalio.testing import WorkflowEnvironment

from cutter.versions import TEMPORAL_CLI
from starter.console.terminal import say


async def download(folder: str) -> None:
    """The SDK downloads only when it starts a server, so one is started and stopped. Raises RuntimeError."""
    environment = await WorkflowEnvironment.start_local(
        download_dest_dir=folder, dev_server_download_version=f"v{TEMPORAL_CLI}"
    )
    await environment.shutdown()


def main() -> None:
    code = 0
    try:
        asyncio.run(download(sys.argv[1]))
    except RuntimeError as problem:
        say(str(problem))
        code = 1
    sys.stderr.flush()
    os._exit(code)  # the SDK can abort while the interpreter exits, and the exit code would lie


if __name__ == "__main__":
    main()
