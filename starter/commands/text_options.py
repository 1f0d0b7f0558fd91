"""Orchestration: the options about a law's text that `mark` and `source add` share."""

from __future__ import annotations

from typing import Annotated

import typer

from cutter import marking
from cutter.errors import InvalidInput

PROFILE = "generic-markdown"
"""The default profile, both for the preview and for the registration."""

ID_TO_CHOOSE = "DOCUMENT"
"""What a printed command says in the place of an id that a person chooses."""

Profile = Annotated[str, typer.Option(help=f"{', '.join(marking.PROFILES)}, or a YAML file.")]
DocPrefix = Annotated[
    str | None, typer.Option("--docprefix", help="First segment of every address; default: the document id, or LAW")
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
Nesting = Annotated[
    str | None,
    typer.Option(help="hashes or words: which decides if the number of # and the words disagree; default: profile's"),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        help="Name of a red finding that is accepted, such as nesting_differs:LAW/CHAPTER-II; may be repeated"
    ),
]
Because = Annotated[
    list[str] | None, typer.Option(help="Why: one reason for all accepted findings, or one for each in their order")
]
Normalise = Annotated[
    str | None,
    typer.Option(help="nfc: Unicode's composed form; pages: without heads, feet and numbers of pages; or nfc,pages"),
]


def accepted(names: list[str] | None, reasons: list[str] | None) -> dict[str, str] | None:
    """Each accepted finding with its reason, in the form that is pinned with the version. None if no finding is
    accepted.
    """
    names, reasons = names or [], reasons or []
    if not names and not reasons:
        return None
    if not names:
        raise InvalidInput(
            "--because: names a reason, and no --accept names a finding;", then="cutter mark", rest=" lists them"
        )
    if len(reasons) not in (1, len(names)):
        raise InvalidInput(
            f"--because: {len(reasons)} reasons for {len(names)} accepted findings; give one for all, or one for each"
        )
    if len(set(names)) != len(names):
        raise InvalidInput("--accept: a finding is named twice; name each once")
    return dict(zip(names, reasons * len(names) if len(reasons) == 1 else reasons, strict=True))


def is_typed(context: typer.Context, name: str) -> bool:
    """True if a person gave this option on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def as_typed(context: typer.Context, *, skip: tuple[str, ...]) -> list[str]:
    """The options of the running command as a person typed them, without those named in `skip`."""
    words: list[str] = []
    for option in context.command.params:
        name = option.name or ""
        if option.param_type_name != "option" or not is_typed(context, name) or name in skip:
            continue
        value = context.params[name]
        if isinstance(value, bool):
            words.append(option.opts[0])
        else:
            values = value if isinstance(value, list | tuple) else [value]
            words += [str(part) for item in values for part in (option.opts[0], item)]
    return words


Effective = Annotated[
    str | None, typer.Option(help="Day from which the law holds, such as 2027-01-01; default: the day of its enactment")
]


def because_of(correction: bool, reason: str | None) -> str | None:
    """The reason of a correction; None for a new text, which gives none."""
    if correction and not (reason or "").strip():
        raise InvalidInput("--correction needs --reason: say in one sentence what was wrong")
    if reason is not None and not correction:
        raise InvalidInput("--reason goes with --correction")
    return reason
