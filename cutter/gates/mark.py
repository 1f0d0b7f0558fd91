"""Pure: IG_mark: the region and its candidates (seed 000 §4)."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.approvals.schema import NO_FINDINGS
from cutter.domain.digests import sha256_hex
from cutter.errors import ProgrammingError
from cutter.gates.report import GateReport, Invariant, equal, holds
from cutter.marking import Marking, MarkRefusal

GATE = "IG_mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The pinned bytes, their pinned digest, what the splitter made of them, and the limit on candidates."""

    snapshot: bytes
    content_sha256: str
    marking: Marking | MarkRefusal
    max_candidates: int
    preview: str = "cutter mark FILE"
    """The command that shows a person the refusal with its sentence, by the profile and options of this text."""


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - snapshot_matches_pin: the stored bytes are the pinned ones (ours)
    - text_can_be_marked: the profile does not refuse the text (ours)
    - region_sha_rebuilt: region_sha rebuilt from the bytes matches the recorded one
    - rowset_size_in_bounds: mark rowset size > 0 and at most the deployment's limit; a repeal's empty text has no row
    - partition_proven: every byte of the region belongs to exactly one part (ours)
    - red_findings_accepted: a person accepted by name every finding that says the cut is probably wrong (ours)
    """
    snapshot = equal("snapshot_matches_pin", sha256_hex(evidence.snapshot), evidence.content_sha256)
    marking = evidence.marking
    if isinstance(marking, MarkRefusal):
        # The code, the line and the counts. The sentence with its titles is in the report's notes.
        line = [f"line {marking.line}"] if marking.line else []
        counts = [f"{name} {value}" for name, value in marking.details if value.isdigit()]
        observed = f"{', '.join((marking.code, *line, *counts))}: see `{evidence.preview}`"
        refused = holds("text_can_be_marked", False, observed, "a text its profile accepts")
        return GateReport(gate=GATE, invariants=(snapshot, refused), notes=(marking.message,))
    count = len(marking.candidates)
    waiting, observed = marking.unaccepted, "none waits"
    if waiting:
        observed = f"{waiting[0].code}, line {waiting[0].line}, red {len(waiting)}: see `{evidence.preview}`"
    rebuilt = sha256_hex(evidence.snapshot[marking.region_start : marking.region_end])
    return GateReport(
        gate=GATE,
        invariants=(
            snapshot,
            holds("text_can_be_marked", True, "marked", "a text its profile accepts"),
            equal("region_sha_rebuilt", rebuilt, marking.region_sha),
            holds(
                "rowset_size_in_bounds",
                0 < count <= evidence.max_candidates if evidence.snapshot else count == 0,
                count,
                f"1 to {evidence.max_candidates}" if evidence.snapshot else "0, because the text is empty",
            ),
            _partition(marking, evidence.snapshot),
            holds("red_findings_accepted", not waiting, observed, "every red finding accepted by name"),
        ),
        pins={
            "region_sha": marking.region_sha,
            "mark_digest": marking.mark_digest,
            "candidate_count": count,
            "exclusion_count": len(marking.exclusions),
            "finding_count": len(marking.findings),
            "findings_digest": marking.findings_digest,
            "red_findings": " ".join(sorted(marking.red)) or NO_FINDINGS,
        },
    )


def _partition(marking: Marking, snapshot: bytes) -> Invariant:
    try:
        marking.prove(snapshot)
    except ProgrammingError as problem:
        return holds("partition_proven", False, problem, "every byte has one part")
    return holds("partition_proven", True, "every byte has one part", "every byte has one part")
