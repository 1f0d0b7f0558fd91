"""Pure: IG_grant_probe: the live grant matrix against the declared one, cell by cell (seed 000 §4)."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.gates.report import GateReport, Invariant, holds

GATE = "IG_grant_probe"

WRITERS = ("public.fn_iu_create", "public.fn_iu_apply_edit_draft", "public.fn_iu_enact")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The number of cells (role, object, verb), the granted ones, the digest of all, and the undeclared differences."""

    cells: int
    granted: tuple[tuple[str, str, str], ...]
    grants_sha256: str
    differences: tuple[str, ...]


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - exec_may_call_writers: cutter_exec has EXECUTE on fn_iu_create, fn_iu_apply_edit_draft and fn_iu_enact
    - verify_may_record: cutter_verify has SELECT and INSERT on cutter_governance.verify_result
    - directus_may_read_decisions: directus has SELECT on cutter_governance.review_decision
    - no_public_execute: no accidental PUBLIC EXECUTE on any writer, and nothing else granted to PUBLIC
    - matrix_as_declared: every live cell is as declared (ours)
    """
    granted = set(evidence.granted)
    public = sorted(name for role, name, verb in granted if role == "PUBLIC")
    return GateReport(
        gate=GATE,
        invariants=(
            _has("exec_may_call_writers", granted, [("cutter_exec", name, "EXECUTE") for name in WRITERS]),
            _has(
                "verify_may_record",
                granted,
                [("cutter_verify", "cutter_governance.verify_result", verb) for verb in ("SELECT", "INSERT")],
            ),
            _has("directus_may_read_decisions", granted, [("directus", "cutter_governance.review_decision", "SELECT")]),
            holds("no_public_execute", not public, ", ".join(public) or "none", "no grant to PUBLIC"),
            holds(
                "matrix_as_declared",
                evidence.cells > 0 and not evidence.differences,
                "; ".join(evidence.differences) or f"{evidence.cells} cells as declared",
                "the declared matrix: `cutter migrate` grants it",
            ),
        ),
        pins={"grants_sha256": evidence.grants_sha256},
    )


def _has(name: str, granted: set[tuple[str, str, str]], wanted: list[tuple[str, str, str]]) -> Invariant:
    lacking = [
        f"{role} lacks {verb} on {object_name}"
        for role, object_name, verb in wanted
        if (role, object_name, verb) not in granted
    ]
    return holds(name, not lacking, "; ".join(lacking) or "granted", "granted")
