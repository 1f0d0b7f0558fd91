"""IO: `cutter mark FILE`: shows how a text would be cut, and the options about a text that other commands share.

The command needs no server and writes nothing. Exit 0 with the units, 4 with a refusal in one sentence, 2 if the
command line or the profile is wrong.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cutter import marking, sources
from cutter.domain.amounts import counted
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput
from cutter.limits import FINDINGS_OF_A_KIND_SHOWN, FINDINGS_SHOWN_MAX
from cutter.marking import PROFILES, Finding, Marking, MarkRefusal
from cutter.marking.page_lines import Cleaning, Removed
from cutter.marking.titles import cut_title
from cutter.settings import load
from starter.commands.options import Out
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, line, say, show, write_out
from starter.operator import explanations

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


def mark_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The law's text, as it would be pinned.")],
    profile: Profile = PROFILE,
    docprefix: DocPrefix = None,
    duplicates: Duplicates = None,
    empty: Empty = None,
    scope: Scope = None,
    deepest: Deepest = None,
    max_candidates: MaxCandidates = None,
    forbid: Forbid = None,
    nesting: Nesting = None,
    accept: Accept = None,
    because: Because = None,
    normalise: Normalise = None,
    remove_direction_marks: RemoveDirectionMarks = False,
    explain: Annotated[
        list[int] | None, typer.Option("--explain", help="Say why a line is a heading or not; may be repeated")
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Show how a text would be cut: units, exclusions, findings, and the proof that no byte is lost.

    Example: cutter mark law.md --profile generic-markdown
    """
    settings = load()
    sources.require_allowed(settings, max_candidates)
    text = sources.cleaned(sources.read(file), normalise=normalise, remove_direction_marks=remove_direction_marks)
    data = text.data
    if out is not None:
        if out.exists() and sources.read(out) != data:
            raise Conflict(f"--out {out} exists with other content: name a new file")
        write_out(out, out, data)
    if text.pages is not None and not as_json:
        say("\n".join(_pages_as_read(text.pages)))
    options = sources.chosen(
        duplicates=duplicates, empty=empty, scope=scope, deepest=deepest, max_candidates=max_candidates,
        nesting=nesting, accept=accepted(accept, because),
    )  # fmt: skip
    prefix = docprefix or sources.PREVIEW_PREFIX
    _, chosen = sources.profile_of(profile)
    typed = as_typed(context, skip=("explain", "as_json", "out"))
    if explain:
        asked = sources.bounded(settings, options, forbidden=tuple(forbid or ()))
        again = shlex.join(["cutter", "mark", str(file), *typed])
        way = explanations.Way(file=file, profile=profile, again=again)
        explanations.tell(data, chosen, prefix, asked, tuple(explain), way, as_json=as_json)
        return
    result = sources.outcome(settings, data, chosen, options, docprefix=prefix, forbidden=tuple(forbid or ()))
    if isinstance(result, Marking):
        # A person replaces DOCUMENT. The same options give the same cut.
        step = ["cutter", "source", "add", str(file), "--document-id", ID_TO_CHOOSE, *typed]
        answer = _as_json(file, text, result) | {"next": shlex.join(step)}
        show(answer, as_json=as_json, render=lambda out: _show(out, data, result))
        if not as_json:
            say(f"next: {answer['next']}")
        return
    sentences = [f"red {finding.name}: {finding.message}" for finding in result.findings]
    sentences.append(f"refused ({result.code}): {result.message}")
    if result.findings:
        # A profile of its own for the text, or what its own profile does with the line.
        step = ["cutter", "profile", "suggest", str(out or file)]
        if profile not in PROFILES:
            step = ["cutter", "mark", str(file), *typed, "--explain", str(result.findings[0].line)]
        sentences.append(f"next: {shlex.join(step)}")
    show(_as_json(file, text, result), as_json=as_json, render=lambda _: say("\n".join(sentences)))
    end(ExitCode.STOPPED)


def _as_json(file: Path, text: sources.Cleaned, result: Marking | MarkRefusal) -> dict[str, Any]:
    data = text.data
    head: dict[str, Any] = {"file": file.name, "sha256": sha256_hex(data)}
    if text.pages is not None:
        removed = [asdict(removal) for removal in text.pages.removed]
        head["pages"] = {**text.changes, "removed": removed, "kept": [asdict(kept) for kept in text.pages.kept]}
    if isinstance(result, MarkRefusal):
        details = dict(result.details)
        refusal = {"code": result.code, "line": result.line, "message": result.message, "details": details,
                   "findings": [_finding(finding) for finding in result.findings]}  # fmt: skip
        return as_failure(
            {**head, "refused": refusal}, code=result.code, message=result.message, next_command=result.then
        )
    return head | {
        "profile": {"id": result.profile_id, "sha256": result.profile_sha256},
        "region": {"start": result.region_start, "end": result.region_end, "sha256": result.region_sha},
        "mark_digest": result.mark_digest,
        "partition": _counts(result),
        "candidates": [
            asdict(unit) | {"sha256": sha256_hex(data[unit.start : unit.end])} for unit in result.candidates
        ],
        "exclusions": [asdict(piece) for piece in result.exclusions],
        "findings": [_finding(finding) for finding in result.findings],
        "findings_digest": result.findings_digest,
        "accepted": dict(result.accepted),
    }


def _pages_as_read(pages: Cleaning) -> Iterator[str]:
    """The removed lines, each once with the numbers of its lines in the file, then the lines in doubt that stay."""
    removed: dict[tuple[str, str], list[Removed]] = {}
    for removal in pages.removed:
        text = removal.text if removal.kind in ("page_line", "hyphen") else ""
        removed.setdefault((removal.kind, text), []).append(removal)
    if not removed:
        yield "--normalise pages: no head, foot or number of a page is certain, so the text is unchanged"
    for (kind, text), places in list(removed.items())[:FINDINGS_SHOWN_MAX]:
        sign = "joined" if kind == "hyphen" else "-"
        numbers = ", ".join(str(place.line) for place in places[:FINDINGS_OF_A_KIND_SHOWN])
        more = " …" if len(places) > FINDINGS_OF_A_KIND_SHOWN else ""
        where = f"{len(places)} times: lines" if len(places) > 1 else "line"
        yield f"{sign} {text or kind.replace('_', ' ')} ({where} {numbers}{more})"
    if len(removed) > FINDINGS_SHOWN_MAX:
        yield f"… and {len(removed) - FINDINGS_SHOWN_MAX} more (--json has them all)"
    for kept in pages.kept[:FINDINGS_OF_A_KIND_SHOWN]:
        yield f"stays: line {kept.line}: {cut_title(kept.text)}: {kept.why}"
    if len(pages.kept) > FINDINGS_OF_A_KIND_SHOWN:
        yield f"… and {len(pages.kept) - FINDINGS_OF_A_KIND_SHOWN} more that stay (--json has them all)"


def _finding(finding: Finding) -> dict[str, Any]:
    return asdict(finding) | {"name": finding.name}


def _counts(marking: Marking) -> dict[str, int]:
    return {
        "candidates_bytes": sum(unit.end - unit.start for unit in marking.candidates),
        "exclusions_bytes": sum(piece.end - piece.start for piece in marking.exclusions),
        "non_content_bytes": sum(gap.end - gap.start for gap in marking.non_content),
        "region_bytes": marking.region_end - marking.region_start,
    }


def _show(console: Console, data: bytes, marking: Marking) -> None:
    units = Table(title=f"{counted(len(marking.candidates), 'unit')} by {marking.profile_id}", title_justify="left")
    for name in ("address", "type", "title"):
        units.add_column(name, overflow="fold")
    units.add_column("line", justify="right")
    units.add_column("bytes", justify="right")
    for unit in marking.candidates:
        size = str(unit.end - unit.start)
        units.add_row(line(unit.address), unit.section_type, line(unit.title), str(unit.line), size)
    console.print(units)
    if marking.exclusions:
        title = counted(len(marking.exclusions), "exclusion")
        excluded = Table("reason", "known by", title=title, title_justify="left")
        excluded.add_column("line", justify="right")
        excluded.add_column("bytes", justify="right")
        for piece in marking.exclusions:
            excluded.add_row(piece.reason, piece.status_basis, str(piece.line), str(piece.end - piece.start))
        console.print(excluded)
    shown, left = _shown(marking.findings)
    for finding in shown:
        console.print(line(f"{finding.severity} {finding.name}: {finding.message}"), soft_wrap=True)
    if left:
        kinds = ", ".join(f"{code} {number}" for code, number in sorted(left.items()))
        console.print(f"… and {counted(left.total(), 'finding')} more: {kinds} (--json has them all)", soft_wrap=True)
    for name, reason in marking.accepted:
        console.print(line(f"accepted {name}: {reason}"), soft_wrap=True)
    marking.prove(data)
    counts = _counts(marking)
    console.print(
        f"partition proven: {counts['candidates_bytes']} bytes in units + {counts['exclusions_bytes']} excluded + "
        f"{counts['non_content_bytes']} blank or group headers = {counts['region_bytes']} of the region",
        soft_wrap=True,
    )
    console.print(f"region_sha  {marking.region_sha}", soft_wrap=True)
    console.print(f"mark_digest {marking.mark_digest}", soft_wrap=True)


def _shown(findings: Sequence[Finding]) -> tuple[list[Finding], Counter[str]]:
    """All red findings and the first finding of each other kind, in order, and the number of omitted findings by kind.

    A file with the line ends of another system has one finding for each line, which must not hide the other findings.
    """
    shown: list[Finding] = []
    of_a_kind, left = Counter[str](), Counter[str]()
    for finding in findings:
        of_a_kind[finding.code] += 1
        has_room = of_a_kind[finding.code] <= FINDINGS_OF_A_KIND_SHOWN and len(shown) < FINDINGS_SHOWN_MAX
        if finding.severity == "red" or has_room:
            shown.append(finding)
        else:
            left[finding.code] += 1
    return shown, left
