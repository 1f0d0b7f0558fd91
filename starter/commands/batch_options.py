"""Orchestration: the options of `cutter orchestrate batch`. Those about a text are in `text_options`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

QueueFile = Annotated[Path, typer.Option("--queue", help="queue.yaml")]
Lanes = Annotated[int | None, typer.Option("--max-concurrent", help="Documents planned at once; 4, or 2 overnight")]
Strict = Annotated[bool, typer.Option("--stop-on-first-failure/--no-stop-on-first-failure")]
Quarantine = Annotated[bool, typer.Option("--quarantine", help="Set failed documents aside and continue")]
Overnight = Annotated[
    bool | None,
    typer.Option(
        "--overnight/--no-overnight",
        help="2 lanes, quarantine, 6 hours, nobody to ask; default for a file named overnight….yaml",
    ),
]
RunMode = Annotated[str, typer.Option(help="live, or dryrun: rehearse and write the requests")]
SkipCompleted = Annotated[bool, typer.Option("--skip-completed", help="Leave out enacted documents")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue this queue's batch")]
IncludeFailed = Annotated[
    bool,
    typer.Option("--include-failed", help="Include failed documents, each after a signature; names unsigned ones"),
]
Nightly = Annotated[
    bool, typer.Option("--nightly", help="Use the queue as a pattern with a new batch_id for this minute; for cron")
]
Check = Annotated[
    bool, typer.Option("--check", help="Mark each text and show what would start, in which order; start nothing")
]
