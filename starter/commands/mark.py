"""IO: `cutter mark FILE`: shows how a text would be cut. It needs no server and writes nothing.

Exit 0 with the units, 4 with a refusal in one sentence, 2 if the command line or the profile is wrong.
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

from cutter import sources
from cutter.domain.amounts import counted
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict
from cutter.limits import FINDINGS_OF_A_KIND_SHOWN, FINDINGS_SHOWN_MAX
from cutter.marking import PROFILES, Finding, Marking, MarkRefusal
from cutter.marking.page_lines import Cleaning, Removed
from cutter.marking.titles import cut_title
from cutter.settings import load
from starter.commands import text_options
from starter.commands.options import Out
from starter.console import output_file
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, line, say, show
from starter.operator import explanations


def mark_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The law's text, as it would be pinned.")],
    profile: text_options.Profile = text_options.PROFILE,
    docprefix: text_options.DocPrefix = None,
    duplicates: text_options.Duplicates = None,
    empty: text_options.Empty = None,
    scope: text_options.Scope = None,
    deepest: text_options.Deepest = None,
    max_candidates: text_options.MaxCandidates = None,
    forbid: text_options.Forbid = None,
    nesting: text_options.Nesting = None,
    accept: text_options.Accept = None,
    because: text_options.Because = None,
    normalise: text_options.Normalise = None,
    remove_direction_marks: text_options.RemoveDirectionMarks = False,
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
        output_file.write_out(out, out, data)
    if text.pages is not None and not as_json:
        say("\n".join(_pages_as_read(text.pages)))
    options = sources.chosen(
        duplicates=duplicates, empty=empty, scope=scope, deepest=deepest, max_candidates=max_candidates,
        nesting=nesting, accept=text_options.accepted(accept, because),
    )  # fmt: skip
    prefix = docprefix or sources.PREVIEW_PREFIX
    _, chosen = sources.profile_of(profile)
    typed = text_options.as_typed(context, skip=("explain", "as_json", "out"))
    if explain:
        asked = sources.bounded(settings, options, forbidden=tuple(forbid or ()))
        again = shlex.join(["cutter", "mark", str(file), *typed])
        way = explanations.Way(file=file, profile=profile, again=again)
        explanations.tell(data, chosen, prefix, asked, tuple(explain), way, as_json=as_json)
        return
    result = sources.outcome(settings, data, chosen, options, docprefix=prefix, forbidden=tuple(forbid or ()))
    if isinstance(result, Marking):
        # A person replaces DOCUMENT. The same options give the same cut.
        step = ["cutter", "source", "add", str(file), "--document-id", text_options.ID_TO_CHOOSE, *typed]
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
        yield f"{sign} {text or kind.replace('_', ' ')} ({len(places)} times; line {numbers}{more})"
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
