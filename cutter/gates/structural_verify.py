"""Pure: IG_structural_verify: the eleven booleans over the stored rows (seed 000 §4; spec "structural_verify")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from cutter.domain.digests import sha256_hex
from cutter.gates.report import GateReport, Invariant, equal, holds, probe_lines
from cutter.marking.plan import CutPlan, PlanRow
from cutter.marking.revision import RevisionPlan

GATE = "IG_structural_verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUnit:
    """One stored unit with its anchored version, as read from the database.

    `body` is None for a kept unit if the database has computed that the digest of its text is `content_hash`.
    """

    address: str
    section_type: str
    lifecycle: str
    version_lifecycle: str
    version_seq: int
    body: str | None
    content_hash: str
    anchors_agree: bool
    parent_address: str | None

    @property
    def body_sha256(self) -> str:
        return self.content_hash if self.body is None else sha256_hex(self.body)

    def has_text_of(self, row: PlanRow) -> bool:
        return self.body_sha256 == row.body_sha256 if self.body is None else self.body == row.body


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRow:
    """One row of a revision as leg A stored it."""

    address: str
    operation: str
    continues: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRevision:
    """The plan of a revision, and all of its rows as stored, in document order."""

    plan: RevisionPlan
    rows: tuple[StoredRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The stored rows under the prefix, the count of their versions, the plan, and the ids that must not appear.

    For a revision the rows are those of the new text, and a `version_seq` counts from the newest earlier version.
    """

    docprefix: str
    units: tuple[StoredUnit, ...]
    version_count: int
    plan: CutPlan
    section_type_cardinality: Mapping[str, int]
    forbidden_ids: tuple[str, ...]
    revision: StoredRevision | None = None


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless the eleven booleans of `eleven` hold, and parents_match_plan (ours): the tree is the plan's. For a
    revision also revision_rows_match_plan (ours): every row is stored with its operation, in document order.

    The notes say which of them are the seed's OD-W2 to OD-W9.
    """
    parents = {unit.address: unit.parent_address for unit in evidence.units}
    right = sum(parents.get(row.address, "") == row.parent_address for row in evidence.plan.rows)
    invariants = (*eleven(evidence), equal("parents_match_plan", right, len(evidence.plan.rows)))
    if evidence.revision is not None:
        planned = [(row.address, row.operation, row.continues) for row in evidence.revision.plan.rows]
        stored = [(row.address, row.operation, row.continues) for row in evidence.revision.rows]
        right = sum(row == other for row, other in zip(planned, stored, strict=False))
        rows = equal("revision_rows_match_plan", (right, len(stored)), (len(planned), len(planned)))
        invariants = (*invariants, rows)
    return GateReport(gate=GATE, invariants=invariants, notes=probe_lines())


def eleven(evidence: Evidence) -> tuple[Invariant, ...]:
    """The 11-bool probe (seed 000 §4, spec "structural_verify"):

    - iu_count, uv_count, distinct_addresses, content_hashes_match_plan (as a multiset), bodies_match_plan,
      anchors_exact, versions_first: the probe matches the OD-W cardinality assertions
    - section_type_cardinality: matches the cutplan output
    - all_draft, nothing_outside_prefix: nothing else was written
    - no_forbidden_ids: dieu_44_intrusion (or per-document forbidden-id intrusion) == 0
    """
    units, rows = evidence.units, evidence.plan.rows
    planned = {row.address: row for row in rows}
    stored_bodies = sum(unit.address in planned and unit.has_text_of(planned[unit.address]) for unit in units)
    hashes = Counter(unit.body_sha256 for unit in units) == Counter(row.body_sha256 for row in rows)
    agreeing = Counter(unit.content_hash for unit in units) == Counter(row.body_sha256 for row in rows)
    intrusions = [unit.address for unit in units if intrudes(unit.address, evidence.forbidden_ids)]
    outside = [unit.address for unit in units if not unit.address.startswith(evidence.docprefix + "/")]
    foreign = sorted({unit.address for unit in units} - planned.keys())
    cardinality = Counter(unit.section_type for unit in units)
    return (
        equal("iu_count", len(units), len(rows)),
        equal("uv_count", evidence.version_count, len(rows)),
        equal("distinct_addresses", len({unit.address for unit in units}), len(rows)),
        holds(
            "content_hashes_match_plan",
            hashes and agreeing,
            "equal" if hashes and agreeing else "differ",
            "the plan's, as a multiset",
        ),
        equal("bodies_match_plan", stored_bodies, len(rows)),
        equal("anchors_exact", sum(unit.anchors_agree for unit in units), len(rows)),
        equal("versions_first", sum(unit.version_seq == 1 for unit in units), len(rows)),
        equal(
            "section_type_cardinality",
            dict(sorted(cardinality.items())),
            dict(sorted(evidence.section_type_cardinality.items())),
        ),
        equal("all_draft", sum(_waits(unit, evidence.revision) for unit in units), len(rows)),
        holds("no_forbidden_ids", not intrusions, ", ".join(intrusions[:5]) or 0, 0),
        holds("nothing_outside_prefix", not outside and not foreign, ", ".join((outside + foreign)[:5]) or 0, 0),
    )


def _waits(unit: StoredUnit, revision: StoredRevision | None) -> bool:
    """True for a draft, and for a unit in force that a revision keeps or whose next version waits next to it."""
    stored = (unit.lifecycle, unit.version_lifecycle)
    operation = revision.plan.operations.get(unit.address, "create") if revision else "create"
    if operation == "keep":
        return stored == ("enacted", "enacted")
    if operation == "revise":
        return stored == ("enacted", "draft")
    # A repealed unit that comes back is retired until its new version is enacted.
    return stored == ("draft", "draft") or (revision is not None and stored == ("retired", "draft"))


def intrudes(address: str, forbidden: tuple[str, ...]) -> bool:
    """True when a whole segment of the address is a forbidden id (DIEU-4 is not DIEU-44)."""
    segments = {segment.split("~")[0] for segment in address.split("/")[1:]}
    return not segments.isdisjoint(forbidden)
