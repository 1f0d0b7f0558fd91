"""IO: shows the content of a request in a terminal: the short page, and the parts that the reader shares with it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from cutter.approvals.request import RequestDocument, digest_rows
from cutter.domain.amounts import counted
from cutter.domain.timestamps import readable
from cutter.limits import DIFFERENCE_IN_PAGE_CHARACTERS, FINDINGS_IN_PAGE, LINES_OF_A_UNIT, UNITS_IN_PAGE
from cutter.request_view.forms import view_digest
from cutter.request_view.view import RequestView, ShownFinding, ShownUnit, fitting
from starter.console.terminal import by_word, line, table

SEVERITY_STYLES = {"red": "bold red", "amber": "yellow", "info": ""}


def summary(document: RequestDocument, view: RequestView) -> Group:
    """A short page, the digests last. A change of law has the difference instead of the tree."""
    asked, findings = document.request, worst_first(view)
    lines = [
        heading(document, view),
        line(f"{asked.gate} of {asked.document_id}, open until {readable(document.expires_utc)}"),
        *change(document, view),
    ]
    severities: list[str] = [finding.severity for finding in findings]
    counts = ", ".join(f"{severities.count(severity)} {severity}" for severity in SEVERITY_STYLES)
    lines.append(line(f"{counted(len(findings), 'finding')} ({counts})", "bold"))
    for finding in findings[:FINDINGS_IN_PAGE]:
        accepted = f". {view.accepted_when}: {finding.because}" if finding.because is not None else ""
        text = f"  {finding.severity} line {finding.line}, {finding.name}: {finding.message}{accepted}"
        lines.append(line(text, SEVERITY_STYLES[finding.severity]))
    if len(findings) > FINDINGS_IN_PAGE:
        lines.append(_more(document, len(findings) - FINDINGS_IN_PAGE, "finding"))
    lines.append(line(_units(document, view), "" if view.revision else "bold"))
    if not view.revision:
        lines += [line(tree_line(unit)) for unit in view.units[:UNITS_IN_PAGE]]
        if len(view.units) > UNITS_IN_PAGE:
            lines.append(_more(document, len(view.units) - UNITS_IN_PAGE, "unit"))
    lines.append(line("digests, recomputed here", "bold"))
    lines.append(line(f"writer_digest {view.digests.writer_digest}"))
    lines.append(line(f"view_digest   {view_digest(view)}"))
    return Group(*lines)


def heading(document: RequestDocument, view: RequestView) -> Text:
    """The title of the law, in bold. A law without a title has the id of its document."""
    return line(view.title or document.request.document_id, "bold")


def change(document: RequestDocument, view: RequestView, room: int = DIFFERENCE_IN_PAGE_CHARACTERS) -> Iterator[Text]:
    """A newer version, if one is registered, and the times at which the effect policy denies the write. Then what the
    text changes in the law in force, by word: up to `room` characters. A first cut changes nothing.
    """
    if view.newer:
        yield line(f"newer version: {view.newer}", "bold yellow")
    if document.effect_policy:
        yield line(f"effect policy, by the time of the write: {document.effect_policy}", "bold yellow")
    plan = view.revision
    if plan is None:
        yield from (line(f"{name}: {value}") for name, value in view.terms)
        return
    if view.repeals:
        yield line(f"REPEAL: the whole law ends{_on(view)}. This is the text that ends:", "bold red")
    else:
        yield line(f"{plan.base.operation_kind}: this changes in the law in force{_on(view)}", "bold")
    if view.reason:
        yield line(f"reason: {view.reason}")
    if view.removed_pages:
        yield line(f"removed as parts of pages: {view.removed_pages}")
    shown, rest = fitting(view.difference, room)
    for item in shown:
        before = f", before {item.before}" if item.before else ""
        others = f" ({', '.join(item.other_fields)} differ)" if item.other_fields else ""
        yield line(f"{item.change}: {item.title}, {item.address}{before}{others}", "bold")
        yield by_word(item.words)
    if rest:
        yield line(f"… {rest} of {counted(len(view.difference), 'changed unit')} not shown whole: {_page(document)}")
    if plan.counts["keep"]:
        yield line(f"{counted(plan.counts['keep'], 'unit')} kept, without a change")


def _on(view: RequestView) -> str:
    return f" on {view.effective_from}" if view.effective_from else " on the day of enactment"


def worst_first(view: RequestView) -> list[ShownFinding]:
    return sorted(view.findings, key=lambda finding: list(SEVERITY_STYLES).index(finding.severity))


def _units(document: RequestDocument, view: RequestView) -> str:
    counts, revision = document.changes, view.revision
    # A revision writes no kept unit.
    drafts = revision.counts["create"] + revision.counts["revise"] if revision else len(view.units)
    stored = f"; {counted(drafts, 'draft')} stored as planned" if view.sealed else ""
    return (
        f"{counted(document.request.candidate_count, 'unit')}: {counts.added_count} added, {counts.changed_count} "
        f"changed, {counts.removed_count} removed{stored}"
    )


def tree_line(unit: ShownUnit) -> str:
    """A unit of the tree in one line of a terminal: title, kind, line, size, and how many findings it has."""
    noticed = f", {counted(len(unit.findings), 'finding')}" if unit.findings else ""
    facts = f"{unit.section_type}, line {unit.line}, {counted(unit.words, 'word')}{noticed}"
    return f"{'  ' * unit.level}{unit.title} ({facts})"


def unit_at_its_place(view: RequestView, unit: ShownUnit) -> Iterator[Text]:
    """A unit with its numbered source lines. Only the first lines of a long unit are shown."""
    yield line(f"{unit.title}: {unit.address}, {unit.size} bytes, sha256 {unit.body_sha256[:16]}…", "bold")
    last = min(unit.last_line, unit.first_line + LINES_OF_A_UNIT - 1)
    for number in range(unit.first_line, last + 1):
        yield line(f"{number:>6}  {view.lines[number - 1]}")
    if last < unit.last_line:
        yield line(f"        … and {counted(unit.last_line - last, 'line')} more")


def _more(document: RequestDocument, count: int, noun: str) -> Text:
    return line(f"  … and {counted(count, noun)} more: {_page(document)}")


def _page(document: RequestDocument) -> str:
    return f"see `cutter request {document.request.document_id} --open`"


def facts(document: RequestDocument, view: RequestView) -> Table:
    """What is asked, with every digest, and which of them were computed here."""
    own = {view.digests.writer_digest, view.digests.findings_digest, view.digests.region_sha, view_digest(view)}
    rows = [(name, f"{value} (recomputed here)" if value in own else value) for name, value in digest_rows(document)]
    rows.insert(0, ("units", _units(document, view)))
    return table(("", ""), rows, title=f"{document.request.gate} of {document.request.run_id}")
