"""Pure: renders a gate's report for the knowledge base from its receipt. Every try gives the same bytes."""

from __future__ import annotations

from typing import Any

from cutter.catalogue import BY_NAME, GATES
from cutter.domain.markdown import cell, code, escape, prose
from cutter.domain.run_record import AttemptRecord, Receipt, RunRecord

_MUTATION = {"IG_cut_leg_a_execute": "UNITS CREATED (draft)", "IG_leg_b_record": "GOVERNANCE ROWS",
             "IG_write_verify": "VERIFY RESULT", "IG_lifecycle_enact_execute": "UNITS ENACTED"}  # fmt: skip


def file_name(gate: str) -> str:
    """The name of a gate's report in the run folder (seed 000 §5, phase_report_paths)."""
    return f"phase-{BY_NAME[gate].number:02d}.md"


def render_failed(run: RunRecord, attempt: AttemptRecord, kb_id: str | None) -> bytes:
    """The report of a failed phase, from its last attempt. `kb_id` is the KB id of the stop-route report."""
    gate = BY_NAME[attempt.gate]
    lines = [
        f"# {run.document_id} · {gate.name} · {gate.number} of {len(GATES)}",
        "",
        f"phase: {gate.phase}  ",
        f"outcome: FAIL ({prose(_said(attempt.outcome or 'no answer'))})  ",
        "production_mutation: NONE  ",
        f"run_id: {run.run_id}  ",
        f"state: {gate.from_state.value} → {run.state}  ",
        f"attempt: {attempt.n}, {attempt.started_at} to {attempt.finished_at or 'no end'}  ",
        f"reason: {escape(_said(attempt.reason or 'none given'))}",
        "",
        *_table(invariants_of(attempt.report)),
        "",
        f"Stop-route report: {kb_id or 'not written yet'}",
        "",
        f"Next: `cutter status {run.run_id}` shows the command that continues the run",
        "",
    ]
    return "\n".join(lines).encode()


def invariants_of(report: object) -> list[dict[str, Any]]:
    """The invariants of a gate's report. If the report is malformed, only those that are readable."""
    invariants = report.get("invariants") if isinstance(report, dict) else None
    listed = invariants if isinstance(invariants, list) else []
    return [invariant for invariant in listed if isinstance(invariant, dict) and isinstance(invariant.get("name"), str)]


def render(run: RunRecord, receipt: Receipt) -> bytes:
    """The report as Markdown: n of m, outcome, ids, expected and observed values, next gate (facts-domain "Report
    style").
    """
    gate = BY_NAME[receipt.gate]
    follows = GATES[gate.number].name if gate.number < len(GATES) else "nothing: the run is closed"
    notes = receipt.result["notes"]
    lines = [
        f"# {run.document_id} · {gate.name} · {gate.number} of {len(GATES)}",
        "",
        f"phase: {gate.phase}  ",
        "outcome: PASS  ",
        f"production_mutation: {_MUTATION.get(gate.name, 'NONE')}  ",
        f"run_id: {run.run_id}  ",
        f"state: {gate.from_state.value} → {gate.to_state.value}  ",
        f"sealed: {receipt.sealed_at} by {receipt.role}, attempt {receipt.attempt}  ",
        f"receipt: {receipt.receipt_hash}",
        "",
        *_table(receipt.result["invariants"]),
        "",
        "## Pins",
        "",
        *(f"- {prose(name)}: {code(_said(value))}" for name, value in sorted(receipt.pins.items())),
        *(["", "## Notes", "", *(f"- {prose(_said(note))}" for note in notes)] if notes else []),
        "",
        f"Next: {follows}",
        "",
    ]
    return "\n".join(lines).encode()


def _table(invariants: list[dict[str, Any]]) -> list[str]:
    return [
        "## Invariants",
        "",
        "| invariant | observed | expected | match |",
        "| --- | --- | --- | --- |",
        *(
            f"| {cell(item['name'])} | {cell(_said(item.get('observed')))} | {cell(_said(item.get('expected')))}"
            f" | {'✓' if item.get('ok') is True else '✗'} |"
            for item in invariants
        ),
    ]


def _said(value: object) -> str:
    """A value on one line, with plain quotation marks around commands."""
    return str(value).replace("\n", " ").replace("`", "'")
