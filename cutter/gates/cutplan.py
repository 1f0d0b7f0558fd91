"""Pure: IG_cutplan: the rows to write, built twice (seed 000 §4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cutter.gates.report import GateReport, Invariant, equal, holds
from cutter.marking.plan import CutPlan
from cutter.marking.revision import RevisionPlan

GATE = "IG_cutplan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The plan, the digest of the independent rebuild, what mark pinned and marking gives now, the live vocabulary.

    `same_digest_runs` are other open runs whose plan has this writer_digest; they are noted, not refused. `max_writes`
    is how many units the tenant may write in a run now, None without such a cap.
    """

    plan: CutPlan
    rebuilt_writer_digest: str
    mark_digest: str
    pinned_mark_digest: str
    region_sha: str
    pinned_region_sha: str
    candidate_count: int
    vocabulary: Mapping[str, frozenset[str]]
    same_digest_runs: tuple[str, ...]
    max_writes: int | None
    revision: RevisionPlan | None = None
    """The difference to the law in force. None for a first cut."""

    @property
    def writer_digest(self) -> str:
        """The digest to which approvals are bound."""
        return self.revision.writer_digest if self.revision else self.plan.writer_digest

    @property
    def writes(self) -> int:
        """The number of units that the run begins or ends."""
        return self.revision.changing if self.revision else len(self.plan.rows)


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - mark_reproduced, region_sha_reproduced: marking gives again what IG_mark pinned (ours)
    - writer_digest_stable: stable across two independent rebuilds (replay determinism)
    - exactly_n_rows: exactly N rows produced, N = mark rowset size
    - vocabulary_complete: publication_type, unit_kind, section_type and owner of every row are in the vocabulary
    - idempotency_keys_distinct: the set of keys has cardinality N
    - addresses_distinct: so has the set of addresses (ours)
    - within_max_writes_per_run: at most as many units as the tenant may write in a run (seed 003 §3.4; ours here), so
      that nobody is asked to approve more
    - revision_changes_law: a revision begins or ends at least one unit (ours)
    """
    rows, most, changes = evidence.plan.rows, evidence.max_writes, list[Invariant]()
    if evidence.revision is not None:
        counts = ", ".join(f"{operation} {count}" for operation, count in evidence.revision.counts.items())
        changing = evidence.revision.changing > 0
        changes = [holds("revision_changes_law", changing, counts, "a unit that begins or ends")]
    words = [
        *((("unit_kind"), row.unit_kind) for row in rows),
        *((("section_type"), row.section_type) for row in rows),
        *((("owner"), row.owner) for row in rows),
        *((("publication_type"), row.publication_type) for row in rows if row.publication_type is not None),
    ]
    unknown = sorted({f"{family} {word}" for family, word in words if word not in evidence.vocabulary.get(family, ())})
    return GateReport(
        gate=GATE,
        invariants=(
            equal("mark_reproduced", evidence.mark_digest, evidence.pinned_mark_digest),
            equal("region_sha_reproduced", evidence.region_sha, evidence.pinned_region_sha),
            equal("writer_digest_stable", evidence.writer_digest, evidence.rebuilt_writer_digest),
            equal("exactly_n_rows", len(rows), evidence.candidate_count),
            holds(
                "vocabulary_complete", not unknown, ", ".join(unknown) or "all known", "every word in the vocabulary"
            ),
            equal("idempotency_keys_distinct", len({row.idempotency_key for row in rows}), evidence.candidate_count),
            equal("addresses_distinct", len({row.address for row in rows}), evidence.candidate_count),
            holds(
                "within_max_writes_per_run",
                most is None or evidence.writes <= most,
                f"{evidence.writes} units",
                "no cap" if most is None else f"at most {most}: see `cutter tenants`",
            ),
            *changes,
        ),
        pins={
            "writer_digest": evidence.writer_digest,
            "cut_plan_digest": evidence.plan.cut_plan_digest,
            "section_type_cardinality": dict(evidence.plan.section_type_cardinality),
            **({"revision_rows": evidence.revision.counts} if evidence.revision else {}),
        },
        notes=tuple(f"the same writer_digest in run {run}" for run in evidence.same_digest_runs),
    )
