"""Pure: a gate's report for the knowledge base, rendered from its receipt: the same bytes at every try."""

from __future__ import annotations

from typing import Any

from cutter.domain import recorded
from cutter.gates.catalogue import BY_NAME, GATES

_MUTATION = {"IG_cut_leg_a_execute": "UNITS CREATED (draft)", "IG_leg_b_record": "GOVERNANCE ROWS",
             "IG_write_verify": "VERIFY RESULT", "IG_lifecycle_enact_execute": "UNITS ENACTED"}  # fmt: skip


def file_name(gate: str) -> str:
    """Name of a gate's report in the run folder (seed 000 §5, phase_report_paths)."""
    return f"phase-{BY_NAME[gate].number:02d}.md"


def render(run: dict[str, Any], receipt: dict[str, Any]) -> bytes:
    """Markdown: n of m, outcome, ids, expected against observed, what is next (facts-domain "Report style")."""
    gate = BY_NAME[receipt["gate"]]
    result = recorded.receipt(receipt)["result"]
    follows = GATES[gate.number].name if gate.number < len(GATES) else "nothing: the run is closed"
    lines = [
        f"# {run['document_id']} · {gate.name} · {gate.number} of {len(GATES)}",
        "",
        f"phase: {gate.phase}  ",
        "outcome: PASS  ",
        f"production_mutation: {_MUTATION.get(gate.name, 'NONE')}  ",
        f"run_id: {run['run_id']}  ",
        f"state: {gate.from_state.value} → {gate.to_state.value}  ",
        f"sealed: {receipt['sealed_at']} by {receipt['role']}, attempt {receipt['attempt']}  ",
        f"receipt: {receipt['receipt_hash']}",
        "",
        "## Invariants",
        "",
        "| invariant | observed | expected | match |",
        "| --- | --- | --- | --- |",
        *(
            f"| {item['name']} | {_cell(item['observed'])} | {_cell(item['expected'])} | {'✓' if item['ok'] else '✗'} |"
            for item in result["invariants"]
        ),
        "",
        "## Pins",
        "",
        *(f"- {name}: `{_cell(value)}`" for name, value in sorted(result["pins"].items())),
        *(["", "## Notes", "", *(f"- {_cell(note)}" for note in result["notes"])] if result["notes"] else []),
        "",
        f"Next: {follows}",
        "",
    ]
    return "\n".join(lines).encode()


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("`", "'")
