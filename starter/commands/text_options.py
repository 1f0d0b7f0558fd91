"""Orchestration: the options about a law's text that `mark`, `source add` and `batch --check` share."""

from __future__ import annotations

from typing import Annotated

import typer

from cutter import marking

PROFILE = "generic-markdown"
"""The profile that counts where none is named: in the preview and in the register alike."""

Profile = Annotated[str, typer.Option(help=f"{', '.join(marking.PROFILES)}, or a YAML file.")]
CheckProfile = Annotated[
    str | None, typer.Option("--profile", help="With --check: another profile than the registered one")
]
Duplicates = Annotated[str | None, typer.Option(help="refuse, or ordinal: repeats become ~2, ~3 …; default: profile's")]
Empty = Annotated[
    str | None, typer.Option(help="refuse, or heading_only: headings without text are units; default: profile's")
]
Scope = Annotated[str | None, typer.Option(help="all or enacted_only; default: profile's")]
Deepest = Annotated[str | None, typer.Option(help="Finest level that becomes a unit, such as khoan")]
MaxCandidates = Annotated[
    int | None, typer.Option(help="Units that the document may have; at most what the workers allow")
]
Forbid = Annotated[
    list[str] | None, typer.Option(help="An address segment that must not be cut, such as DIEU-44; may be repeated")
]
RemoveDirectionMarks = Annotated[
    bool,
    typer.Option("--remove-direction-marks", help="Remove invisible characters that change a line's order as shown"),
]
Normalise = Annotated[str | None, typer.Option(help="nfc: use the text in Unicode's composed form")]
