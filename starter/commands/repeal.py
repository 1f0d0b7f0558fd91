"""IO: `cutter repeal`: registers the repeal of a whole law, which a run then brings through every gate."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cutter import sources
from cutter.domain import ids
from cutter.settings import load
from starter.commands import text_options
from starter.console.terminal import AsJson, show, table


def repeal(
    document: Annotated[str, typer.Argument(help="The enacted law's document id")],
    reason: Annotated[str, typer.Option(help="Why the law ends, in one sentence; the request shows it")],
    effective: text_options.Effective = None,
    as_json: AsJson = False,
) -> None:
    """Register the repeal of a whole law. Its run needs both signatures, like any change of the law.

    Example: cutter repeal ICX-LAW-2026-001 --effective 2027-01-01 --reason "replaced by ICX-LAW-2026-014"
    """
    day = text_options.day(effective)
    answer = asdict(sources.repeal(load(), ids.document_id(document), effective=day, reason=reason))
    show(answer, as_json=as_json, render=lambda out: out.print(
        table(("field", "value"), sorted(answer.items()), title=f"next: cutter run {document}")))  # fmt: skip
