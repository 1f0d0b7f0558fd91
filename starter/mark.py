"""IO: `cutter mark FILE`, which shows how a text would be cut; needs no server and writes nothing.

Exit 0 with the units, 4 with a refusal in one sentence, 2 when the command line or the profile is wrong.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.table import Table

from cutter.domain.digests import sha256_hex
from cutter.domain.visible import json_text
from cutter.errors import InvalidInput
from cutter.limits import CANDIDATES_DEFAULT, FINDINGS_SHOWN_MAX
from cutter.marking import PROFILES, Marking, MarkRefusal, Options, Profile, load_profile, mark, parse_profile
from cutter.marking.options import Scope
from cutter.marking.profile import Duplicates, Empty
from starter.terminal import line, out, say, write

EXIT_REFUSED = 4
EXIT_USAGE = 2


def mark_command(
    file: Annotated[Path, typer.Argument(help="The law's text, as it would be pinned.")],
    profile: Annotated[str, typer.Option(help=f"{', '.join(PROFILES)}, or a YAML file.")] = "generic-markdown",
    docprefix: Annotated[str, typer.Option(help="First segment of every address.")] = "LAW",
    duplicates: Annotated[str | None, typer.Option(help="refuse, or ordinal: repeats become ~2, ~3 …")] = None,
    empty: Annotated[str | None, typer.Option(help="refuse, or heading_only: headings without text are units.")] = None,
    scope: Annotated[str | None, typer.Option(help="all or enacted_only; the profile's own unless given.")] = None,
    deepest: Annotated[str | None, typer.Option(help="Finest level that becomes a unit (dieu, khoan, diem …).")] = None,
    max_candidates: Annotated[int, typer.Option(help="Refuse more units than this.")] = CANDIDATES_DEFAULT,
    forbid: Annotated[list[str] | None, typer.Option(help="Address segment that must not be cut; repeatable.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show how a text would be cut: units, exclusions, findings, and the proof that no byte is lost.

    Example: cutter mark law.md --profile generic-markdown
    """
    try:
        data = _read(file)
        chosen = _profile(profile)
        options = Options(
            duplicates=cast(Duplicates | None, duplicates),  # Options itself refuses any other word
            empty=cast(Empty | None, empty),
            scope=cast(Scope | None, scope),
            deepest=deepest,
            max_candidates=max_candidates,
            forbidden_ids=tuple(forbid or ()),
        )
        result = mark(data, profile=chosen, docprefix=docprefix, options=options)
    except InvalidInput as error:
        say(str(error))
        raise typer.Exit(EXIT_USAGE) from error
    if json_output:
        write(json_text(_as_json(file, data, result), indent=2, sort_keys=False))
    elif isinstance(result, Marking):
        _show(out(), data, result)
    else:
        say(f"refused ({result.code}): {result.message}")
    if isinstance(result, MarkRefusal):
        raise typer.Exit(EXIT_REFUSED)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file}: {error.strerror or error}; name a readable file") from error


def _profile(name: str) -> Profile:
    if name.endswith((".yaml", ".yml")):
        return parse_profile(_read(Path(name)))
    return load_profile(name)


def _as_json(file: Path, data: bytes, result: Marking | MarkRefusal) -> dict[str, Any]:
    head: dict[str, Any] = {"file": file.name, "sha256": sha256_hex(data)}
    if isinstance(result, MarkRefusal):
        details = dict(result.details)
        return head | {
            "refused": {"code": result.code, "line": result.line, "message": result.message, "details": details}
        }
    return head | {
        "profile": {"id": result.profile_id, "sha256": result.profile_sha256},
        "region": {"start": result.region_start, "end": result.region_end, "sha256": result.region_sha},
        "mark_digest": result.mark_digest,
        "partition": _counts(result),
        "candidates": [
            asdict(unit) | {"sha256": sha256_hex(data[unit.start : unit.end])} for unit in result.candidates
        ],
        "exclusions": [asdict(piece) for piece in result.exclusions],
        "findings": [asdict(finding) for finding in result.findings],
    }


def _counts(marking: Marking) -> dict[str, int]:
    return {
        "candidates_bytes": sum(unit.end - unit.start for unit in marking.candidates),
        "exclusions_bytes": sum(piece.end - piece.start for piece in marking.exclusions),
        "non_content_bytes": sum(gap.end - gap.start for gap in marking.non_content),
        "region_bytes": marking.region_end - marking.region_start,
    }


def _show(console: Console, data: bytes, marking: Marking) -> None:
    console.print(_units(marking))
    if marking.exclusions:
        console.print(_exclusions(marking))
    for finding in marking.findings[:FINDINGS_SHOWN_MAX]:
        console.print(line(f"finding {finding.code}: {finding.message}"), soft_wrap=True)
    if len(marking.findings) > FINDINGS_SHOWN_MAX:
        console.print(f"… and {len(marking.findings) - FINDINGS_SHOWN_MAX} findings more (--json has them all)")
    _show_proof(console, data, marking)


def _units(marking: Marking) -> Table:
    table = Table(title=f"{len(marking.candidates)} units by {marking.profile_id}", title_justify="left")
    for name in ("address", "type", "title"):
        table.add_column(name, overflow="fold")
    table.add_column("line", justify="right")
    table.add_column("bytes", justify="right")
    for unit in marking.candidates:
        size = str(unit.end - unit.start)
        table.add_row(line(unit.address), unit.section_type, line(unit.title), str(unit.line), size)
    return table


def _exclusions(marking: Marking) -> Table:
    table = Table(title=f"{len(marking.exclusions)} exclusions", title_justify="left")
    for name in ("reason", "known by"):
        table.add_column(name)
    table.add_column("line", justify="right")
    table.add_column("bytes", justify="right")
    for piece in marking.exclusions:
        table.add_row(piece.reason, piece.status_basis, str(piece.line), str(piece.end - piece.start))
    return table


def _show_proof(console: Console, data: bytes, marking: Marking) -> None:
    marking.prove(data)
    counts = _counts(marking)
    console.print(
        f"partition proven: {counts['candidates_bytes']} bytes in units + {counts['exclusions_bytes']} excluded + "
        f"{counts['non_content_bytes']} blank or group headers = {counts['region_bytes']} of the region",
        soft_wrap=True,
    )
    console.print(f"region_sha  {marking.region_sha}", soft_wrap=True)
    console.print(f"mark_digest {marking.mark_digest}", soft_wrap=True)


def main() -> None:
    """Run the command alone: `python -m starter.mark FILE`."""
    typer.run(mark_command)


if __name__ == "__main__":
    main()
