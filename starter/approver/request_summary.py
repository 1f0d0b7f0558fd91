"""IO: shows the content of a request in the prompt of `cutter approve`: findings, tree, changes and digests."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from cutter.approvals.request import RequestDocument
from cutter.domain.amounts import counted
from cutter.domain.timestamps import readable
from cutter.limits import FINDINGS_SHOWN_MAX, LINES_IN_PROMPT, UNITS_IN_PROMPT
from cutter.request_view import RequestView, ShownFinding, ShownUnit, view_digest
from starter.console.terminal import line, table

SEVERITY_STYLES = {"red": "bold red", "amber": "yellow", "info": ""}


def summary(document: RequestDocument, view: RequestView) -> Group:
    """The findings first, then the tree with titles and sizes, and the digests last. This machine built all of it."""
    return Group(*_findings(document, view), *_tree(document, view), facts(document, view))


def _findings(document: RequestDocument, view: RequestView) -> Iterator[Text]:
    counts = ", ".join(f"{_count(view, severity)} {severity}" for severity in SEVERITY_STYLES)
    yield line(f"{counted(len(view.findings), 'finding')} ({counts})", "bold")
    ordered = worst_first(view)
    for finding in ordered[:FINDINGS_SHOWN_MAX]:
        accepted = f". {view.accepted_when}: {finding.because}" if finding.because is not None else ""
        text = f"  {finding.severity} line {finding.line}, {finding.name}: {finding.message}{accepted}"
        yield line(text, SEVERITY_STYLES[finding.severity])
    if len(ordered) > FINDINGS_SHOWN_MAX:
        yield _more(document, len(ordered) - FINDINGS_SHOWN_MAX, "finding")


def worst_first(view: RequestView) -> list[ShownFinding]:
    """The findings of a view, red ones first."""
    return sorted(view.findings, key=lambda finding: list(SEVERITY_STYLES).index(finding.severity))


def _count(view: RequestView, severity: str) -> int:
    return sum(finding.severity == severity for finding in view.findings)


def _tree(document: RequestDocument, view: RequestView) -> Iterator[Text]:
    yield line(counted(len(view.units), "unit"), "bold")
    for unit in view.units[:UNITS_IN_PROMPT]:
        yield line(tree_line(unit))
    if len(view.units) > UNITS_IN_PROMPT:
        yield _more(document, len(view.units) - UNITS_IN_PROMPT, "unit")


def tree_line(unit: ShownUnit) -> str:
    """A unit of the tree in one line of a terminal: title, kind, line, size, and how many findings it has."""
    noticed = f", {counted(len(unit.findings), 'finding')}" if unit.findings else ""
    facts = f"{unit.section_type}, line {unit.line}, {counted(unit.words, 'word')}{noticed}"
    return f"{'  ' * unit.level}{unit.title} ({facts})"


def unit_at_its_place(view: RequestView, unit: ShownUnit) -> Iterator[Text]:
    """A unit with its numbered source lines. Only the first lines of a long unit are shown."""
    yield line(f"{unit.title}: {unit.address}, {unit.size} bytes, sha256 {unit.body_sha256[:16]}…", "bold")
    last = min(unit.last_line, unit.first_line + LINES_IN_PROMPT - 1)
    for number in range(unit.first_line, last + 1):
        yield line(f"{number:>6}  {view.lines[number - 1]}")
    if last < unit.last_line:
        yield line(f"        … and {counted(unit.last_line - last, 'line')} more")


def _drafts(view: RequestView) -> int:
    """The units that leg A wrote: a revision writes no kept unit."""
    return view.revision.counts["create"] + view.revision.counts["revise"] if view.revision else len(view.units)


def _more(document: RequestDocument, count: int, noun: str) -> Text:
    return line(f"  … and {counted(count, noun)} more: see `cutter request {document.request.run_id} --open`")


def facts(document: RequestDocument, view: RequestView) -> Table:
    """What is asked, with every digest that was computed here."""
    asked, changes = document.request, document.changes
    counts = f"{changes.added_count} added, {changes.changed_count} changed, {changes.removed_count} removed"
    rows = [
        ("document", asked.document_id),
        ("gate", asked.gate),
        ("units", f"{asked.candidate_count}: {counts}"),
        *view.terms,
        *(("stored", f"{counted(_drafts(view), 'draft')} as planned") for _ in view.sealed[:1]),
        ("accepted", asked.accepted_findings),
        ("writer_digest", f"{view.digests.writer_digest} (recomputed here)"),
        ("findings_digest", f"{view.digests.findings_digest} (recomputed here)"),
        ("view_digest", f"{view_digest(view)} (recomputed here)"),
        ("manifest_digest", asked.manifest_digest),
        ("backup_sha", document.backup_sha),
        *((("restore_point", document.restore_point),) if document.restore_point else ()),
        ("challenge", asked.challenge),
        ("expires", readable(document.expires_utc)),
    ]
    return table(("", ""), rows, title=f"{asked.gate} of {asked.run_id}")
