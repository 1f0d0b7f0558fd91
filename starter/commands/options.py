"""Orchestration: the arguments and options that several commands share."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from cutter.errors import InvalidInput
from cutter.messages import Mode

RUN = typer.Argument(help="Run id, or document id (its open run, else its newest)")
RUN_OR_BATCH = typer.Argument(help="Run id, batch id, or document id (its open run, else its newest)")
Run = Annotated[str, RUN]

Approver = Annotated[str | None, typer.Option("--approver", help="Your name in the policy; default: by your keys")]
Key = Annotated[str | None, typer.Option("--key", help="Primary fingerprint of your key")]
GpgHome = Annotated[
    Path | None, typer.Option("--gpg-home", help="GnuPG home; default: your own, for backups <keys_dir>/backup")
]

REASON = typer.Option("--reason", help="Why, in one sentence; it is recorded and shown")
Reason = Annotated[str, REASON]
OptionalReason = Annotated[str | None, REASON]

OUT = typer.Option("--out", "-o", help="File to write", dir_okay=False)
Out = Annotated[Path | None, OUT]
SHA256 = typer.Option("--sha256", help="The digest that was printed when the file was made")

RunMode = Annotated[Mode, typer.Option("--mode", help="live, or dryrun: rehearse the write and roll it back")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it ends or waits for people (exit 3).")]
WATCH = typer.Option("--watch/--no-watch", help="Follow it: a live table, or on a pipe one line for each change.")
BATCH_ID = typer.Option("--batch-id", help="The batch's id")
ApprovalSet = Annotated[
    str | None, typer.Option("--approval-set", help="Of a batch: folder of signed approvals, here or in the KB")
]
SourceUri = Annotated[
    str | None, typer.Option("--source-uri", help="Where the text comes from; a run refuses a source from elsewhere")
]

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: a free one")]
Host = Annotated[str, typer.Option("--host", help="Address to listen on; one other than loopback needs a proxy")]

Country = Annotated[
    str | None,
    typer.Option("--country", help="Country in the record, such as vn; default: of the source or its profile, else zz"),
]
Language = Annotated[
    str | None, typer.Option("--language", help="Language in the record, such as vie; default: likewise, else und")
]


def day(option: str, text: str | None) -> date | None:
    """A day that was typed; InvalidInput for anything else."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{option} {text} is no day: write it as 2026-07-01") from None
