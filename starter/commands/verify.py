"""IO: `cutter verify`: checks files that cutter wrote. All but an export of a law are checked without any server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cutter.domain.digests import is_digest
from cutter.errors import InvalidInput
from cutter.evidence.offline import CLOSING, EVENT
from cutter.law import export_check
from cutter.limits import LAW_EXPORT_BYTES_MAX
from cutter.projections import transitions_file
from starter.commands import audit, evidence, law_export
from starter.commands.options import Country, Language
from starter.console.terminal import AsJson, ExitCode, end, write

BUNDLE, EVENTS, TRANSITIONS, LAW = "an evidence bundle", "an audit export", "a transitions.jsonl", "an export of a law"
OF_KIND = {
    BUNDLE: ("head", "sha256", "history", "epoch"), EVENTS: ("head",), TRANSITIONS: (), LAW: ("country", "language"),
}  # fmt: skip
"""The options that each kind of file takes."""

STDIN = Path("-")


def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="A file, or all bundles of one law in order")],
    head: Annotated[list[str] | None, typer.Option(help="The audit head that was kept elsewhere")] = None,
    sha256: Annotated[list[str] | None, typer.Option(help="The bundle's digest that was kept elsewhere")] = None,
    history: Annotated[
        Path | None, typer.Option(help="What `temporal workflow show --output json` printed", exists=True)
    ] = None,
    epoch: Annotated[
        list[str] | None, typer.Option(help="The sha256 of a policy epoch that was in force; may be repeated")
    ] = None,
    country: Country = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Check an evidence bundle, audit export, transitions.jsonl or export of a law; exit 1 if a check fails.

    A bundle: each check prints OK, FAILED or NOT CHECKED. Several bundles must be those of one law, from its first cut
    on: each must follow the one before it, and --head and --sha256 are given once for each. Exit 5: nothing failed, but
    gpg is missing here, so no signature was checked. scripts/verify/verify_evidence.py does the same without cutter.

    An audit export: no event was deleted, altered, inserted or reordered. A transitions.jsonl, or - for standard input:
    schema, legality, invariants and time of every transition. An export of a law: it has the bytes that the database
    gives for its version; repeat a typed --country or --language.

    Example: cutter verify evidence.tar --head 3598c3b6…
    """
    kind = kind_of(files[0])
    given = {"head": head, "sha256": sha256, "history": history, "epoch": epoch, "country": country,
             "language": language}  # fmt: skip
    if other := [f"--{name}" for name, value in given.items() if value and name not in OF_KIND[kind]]:
        raise InvalidInput(f"{', '.join(other)}: {files[0]} is {kind}, which takes no such option")
    if kind != BUNDLE and len(files) > 1:
        raise InvalidInput(f"{files[0]} is {kind}: check one file at a time; only bundles go together")
    for name, values in (("head", head), ("sha256", sha256), ("epoch", epoch)):
        if wrong := [value for value in values or () if not is_digest(value)]:
            raise InvalidInput(f"--{name} {wrong[0]}: 64 lower-case hex characters, as the export printed them")
    if kind == BUNDLE:
        evidence.verify(files, head or [], sha256 or [], history, epoch or [], as_json=as_json)
    elif kind == EVENTS:
        audit.verify(files[0], head[-1] if head else None, as_json=as_json)
    elif kind == LAW:
        law_export.verify(files[0], country, language, as_json=as_json)
    else:
        valid = transitions_file.told(str(files[0]), write, as_json=as_json)
        end(ExitCode.DONE if valid else ExitCode.FAILED)


def kind_of(file: Path) -> str:
    """The kind of a file by its content. Raises InvalidInput for a file that cutter did not write.

    A damaged file keeps its kind if one whole line shows it, so that the check finds the damage.
    """
    if file == STDIN:
        return TRANSITIONS
    try:
        with file.open("rb") as stream:
            if stream.read(262)[257:] == b"ustar":
                return BUNDLE
            stream.seek(0)
            for line in transitions_file.lines(stream):
                if kind := _kind_of_line(line):
                    return kind
        if file.stat().st_size <= LAW_EXPORT_BYTES_MAX and export_check.form_of(file.read_bytes()) is not None:
            return LAW
    except OSError as problem:
        raise InvalidInput(f"{file}: {problem.strerror}: name a file that cutter wrote") from None
    if file.name.endswith("transitions.jsonl"):
        return TRANSITIONS
    raise InvalidInput(f"{file}: it is not {BUNDLE}, {EVENTS}, {TRANSITIONS} or {LAW};", then="cutter verify --help")


def _kind_of_line(line: bytes) -> str | None:
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if set(value) in ({*EVENT}, CLOSING):
        return EVENTS
    return TRANSITIONS if {"event_type", "entity_id"} <= value.keys() else None
