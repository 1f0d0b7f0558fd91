"""Pure: the report of a run as Markdown, with the content of the page, for people who keep it with other texts.

This module escapes every text of a law or a person. It shows the proofs of the run in short. The page and the evidence
bundle have all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from cutter.domain.markdown import cell, code, escape, fenced
from cutter.projections import run_summary, shown_law
from cutter.projections.report import NO_LAW, duration
from cutter.projections.run_view import ShownRun, short_time
from cutter.projections.shown_law import PinnedLaw
from cutter.request_view import markdown as law_markdown


def render(view: ShownRun, law: PinnedLaw = NO_LAW) -> bytes:
    """The report of a run's view and its law, in UTF-8. The same values give the same bytes."""
    parts = (_head(view, law), _signatures(view), _law(view, law), _record(view))
    return "".join(f"{line}\n" for part in parts for line in part).encode()


def _head(view: ShownRun, law: PinnedLaw) -> Iterator[str]:
    yield f"# {escape(law.title or view.document_id)}"
    yield ""
    reason = f" {escape(view.reason)}" if view.reason else ""
    yield f"**{run_summary.headline(view)}**{reason}"
    yield ""
    yield from _next(view)
    for name, value in _facts(view, law):
        yield f"- {name}: {value}"
    yield ""


def _next(view: ShownRun) -> Iterator[str]:
    stop, commands = view.stop, run_summary.next_commands(view)
    if stop:
        yield f"Stop ({escape(str(stop.kind))}) by {escape(str(stop.set_by))}: {escape(str(stop.reason))}"
        yield ""
    if commands:
        yield f"First: {escape(view.first)}. Then:" if view.first else "Next:"
        yield ""
        yield from fenced(commands, "sh")


def _facts(view: ShownRun, law: PinnedLaw) -> Iterator[tuple[str, str]]:
    yield "document", code(view.document_id)
    yield "state", code(view.state)
    yield "units", f"{run_summary.units_line(view, law)}. {run_summary.standing(view, law)}"
    yield "run", f"{code(view.run_id)}, {escape(view.mode)}"
    yield "started", f"{short_time(view.created_utc)} by {escape(view.starter)}"
    if view.ended_utc:
        yield "ended", short_time(view.ended_utc)
    for name, value in (("code", view.code), ("batch", view.batch_id), ("amends", view.amends)):
        if value:
            yield name, code(value)


def _signatures(view: ShownRun) -> Iterator[str]:
    yield "## Signatures"
    yield ""
    if view.approvals:
        yield "| decision | signed by | key | signed at | used at |"
        yield "| --- | --- | --- | --- | --- |"
    for approval in view.approvals:
        what = f"{approval.decision}, {run_summary.GATE_WORDS.get(approval.gate, approval.gate)}"
        because = f": {approval.reason}" if approval.reason else ""
        signed, used = short_time(approval.signed_utc or approval.recorded_at), short_time(approval.consumed_at)
        row = (what, f"{approval.approver}{because}", str(approval.fingerprint), signed, used or "not used")
        yield f"| {' | '.join(map(cell, row))} |"
    if not view.approvals:
        yield "Nobody has signed anything."
    yield ""
    for request in run_summary.open_requests(view):
        gate = escape(run_summary.GATE_WORDS.get(request.gate, request.gate))
        yield f"{gate}: asked {short_time(request.requested_at)}, open until {short_time(request.expires_at)}."
        yield ""


def _law(view: ShownRun, law: PinnedLaw) -> Iterator[str]:
    unlike = shown_law.differences(view.digests, law.view) if law.view else []
    if law.view is None or unlike:
        yield from _refused(law)
        yield "## Units"
        yield ""
        yield run_summary.other_cut(unlike) if unlike else escape(law.why)
        yield ""
        return
    for part in (law_markdown.findings, law_markdown.accepted, law_markdown.units):
        yield from part(law.view)


def _refused(law: PinnedLaw) -> Iterator[str]:
    if law.refused:
        yield "## Findings"
        yield ""
        yield from (f"- red, {code(finding.name)}: {escape(finding.message)}" for finding in law.refused)
        yield ""


def _record(view: ShownRun) -> Iterator[str]:
    yield "## Gates"
    yield ""
    yield "| # | gate | outcome | attempts | finished | took | receipt |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for gate in view.gates:
        row = (
            str(gate.number), gate.name, gate.outcome or "not reached", str(gate.attempts or ""),
            short_time(gate.finished_utc), duration(gate.seconds), gate.receipt_hash or "",
        )  # fmt: skip
        yield f"| {' | '.join(map(cell, row))} |"
    yield ""
    yield "## Digests and pins"
    yield ""
    pins = {**view.digests, **({"audit_head": view.audit_head} if view.audit_head else {})}
    yield from (f"- {code(name)}: {code(str(value))}" for name, value in sorted(pins.items()))
    yield ""
    yield "All times are UTC. They are from the database's clock, except a time of signing, which is from the signer's."
    yield f"`cutter report {view.run_id}` made this report from PostgreSQL. It proves nothing by itself."
    yield "For a proof, type `cutter evidence export`."
