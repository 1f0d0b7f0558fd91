"""Evidence of each gate that passes, the smallest that does; a wrong value of each of its fields; and how a test says
what a report must answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import date
from typing import Any

from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.domain.restore_point import RestorePoint
from cutter.gates import (
    backup,
    closeout,
    cut_leg_a,
    cutplan,
    grant_probe,
    leg_b_record,
    lifecycle_enact,
    mark,
    source_pin,
    structural_verify,
    write_verify,
)
from cutter.gates.report import GateReport, holds
from cutter.marking import CutPlan, Finding, Marking, build_plan, rebuild_digest_reversed
from cutter.marking.revision import Base, RevisionPlan, UnitInForce, plan_revision
from tests.unit.marking.texts import cut

TEXT = b"# Chapter 1\n\n## Article 1\nOne body.\n\n## Article 2\nTwo.\n"
MARKING: Marking = cut(TEXT)
PLAN: CutPlan = build_plan(TEXT, MARKING, docprefix="LAW", source_version_id="v1")
N = len(PLAN.rows)
RUN = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
OTHER = sha256_hex("another")

VERSION = source_pin.SourceVersion(
    id="v1", content_checksum=sha256_hex(TEXT), size_bytes=len(TEXT), source_format="text/markdown",
    profile_id="generic-markdown", profile_sha256=sha256_hex("profile"), manifest_digest=None,
)  # fmt: skip

SOURCE_PIN = source_pin.Evidence(
    document_id="ICX-LAW-1", source_document_id="d1", docprefix="LAW", registered_uri="file:law.md",
    requested_uri="file:law.md", snapshot=TEXT, base=None, today=date(2026, 11, 21),
    version=dataclasses.replace(VERSION, manifest_digest=source_pin.manifest_digest("ICX-LAW-1", VERSION)),
)  # fmt: skip

IN_FORCE = source_pin.Base(
    run_id=RUN, source_version_id="v0", receipt_hash=sha256_hex("receipt"), effective_from=date(2026, 11, 1)
)
NEXT_YEAR = source_pin.Base(
    run_id=RUN, source_version_id="v0", receipt_hash=sha256_hex("receipt"), effective_from=date(2027, 1, 1)
)

# A new text in which every unit is new.
LAW_IN_FORCE = Base(operation_kind="revision", source_version_id="v0", receipt_hash=sha256_hex("receipt"), units=())
REVISION: RevisionPlan = plan_revision(PLAN, LAW_IN_FORCE)

STORED_REVISION = structural_verify.StoredRevision(
    plan=REVISION,
    rows=tuple(
        structural_verify.StoredRow(address=row.address, operation=row.operation, continues=row.continues)
        for row in REVISION.rows
    ),
)
NOTHING_NEW: RevisionPlan = plan_revision(
    PLAN,
    dataclasses.replace(LAW_IN_FORCE, units=tuple(
        UnitInForce(**{field.name: getattr(row, field.name) for field in dataclasses.fields(UnitInForce)})
        for row in PLAN.rows
    )),
)  # fmt: skip

MARK = mark.Evidence(snapshot=TEXT, content_sha256=sha256_hex(TEXT), marking=MARKING, max_candidates=1_000)

CUTPLAN = cutplan.Evidence(
    plan=PLAN,
    rebuilt_writer_digest=rebuild_digest_reversed(TEXT, MARKING, docprefix="LAW"),
    mark_digest=MARKING.mark_digest,
    pinned_mark_digest=MARKING.mark_digest,
    region_sha=MARKING.region_sha,
    pinned_region_sha=MARKING.region_sha,
    candidate_count=N,
    vocabulary={
        "unit_kind": frozenset({"law_unit"}),
        "section_type": frozenset(row.section_type for row in PLAN.rows),
        "owner": frozenset(row.owner for row in PLAN.rows),
        "publication_type": frozenset({"law", *(row.publication_type or "law" for row in PLAN.rows)}),
    },
    same_digest_runs=(),
    max_writes=N,
)

_SHA, _TAKEN = sha256_hex("cipher"), "2026-11-21T09:00:00Z"
_BESIDE = backup.Beside(sha256=_SHA, size_bytes=10, taken_utc=_TAKEN)
BACKUP = backup.Evidence(
    artifact_id=f"{RUN}/pre_write.gpg", stored_sha256=_SHA, backup_sha256=_SHA, recorded_sha256=_SHA, size_bytes=10,
    taken_utc=_TAKEN, beside=_BESIDE, recipient="A" * 40,
    pinned_recipient="A" * 40, snapshot_fingerprint="f1", restored_fingerprint="f1",
)  # fmt: skip
POINT = RestorePoint(
    name="cutter:0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b:01234567", lsn="0/3000060", wal_file="000000010000000000000003",
    timeline=1, system_identifier="7712958892359409218", created_utc=_TAKEN,
    archived_wal="000000010000000000000002", archived_utc="2026-11-21T08:59:00Z", waiting_files=0,
    archive_timeout_seconds=60,
)  # fmt: skip
OTHER_POINT = dataclasses.replace(POINT, lsn="0/3000061")
BACKUP_WITH_POINT = dataclasses.replace(
    BACKUP, beside=dataclasses.replace(_BESIDE, restore_point=POINT), restore_point_asked=True, restore_point=POINT,
    recorded_restore_point=POINT,
)  # fmt: skip

GRANTED = (
    *(("cutter_exec", name, "EXECUTE") for name in grant_probe.WRITERS),
    *(("cutter_verify", "cutter_governance.verify_result", verb) for verb in ("SELECT", "INSERT")),
    ("directus", "cutter_governance.review_decision", "SELECT"),
)
GRANT_PROBE = grant_probe.Evidence(cells=100, granted=GRANTED, grants_sha256=sha256_hex("grants"), differences=())

AUTHORIZED = cut_leg_a.Authorization(
    approval_sha256=sha256_hex("approval"), document_id="ICX-LAW-1", writer_digest=PLAN.writer_digest,
    change_set_id="c1",
)  # fmt: skip
CUT_LEG_A = cut_leg_a.Evidence(
    authorizations=(AUTHORIZED,), threshold=1, document_id="ICX-LAW-1", change_set_id="c1",
    pinned_writer_digest=PLAN.writer_digest, planned_writer_digest=PLAN.writer_digest,
    stored_writer_digest=PLAN.writer_digest, rows_before=0, planned=N, statuses=("created",) * N, not_draft=0,
    opened_in="7", written_in="7", autocommit=False,
)  # fmt: skip
READ_BACK = cut_leg_a.ReadBack(
    receipt_sealed=True, units=N, units_created=N, writer_digest=PLAN.writer_digest,
    approved_writer_digest=PLAN.writer_digest,
)  # fmt: skip

UNITS = tuple(
    structural_verify.StoredUnit(
        address=row.address, section_type=row.section_type, lifecycle="draft", version_lifecycle="draft",
        version_seq=1, body=row.body, content_hash=row.body_sha256, anchors_agree=True,
        parent_address=row.parent_address,
    )
    for row in PLAN.rows
)  # fmt: skip
STRUCTURAL_VERIFY = structural_verify.Evidence(
    docprefix="LAW", units=UNITS, version_count=N, plan=PLAN,
    section_type_cardinality=PLAN.section_type_cardinality, forbidden_ids=("DIEU-44",),
)  # fmt: skip

LEG_B = leg_b_record.Evidence(
    change_set_id="c1", manifest_envelope_id="m1", executor_signature_id="s1",
    rows_before=dict.fromkeys((*leg_b_record.SINGLE, *leg_b_record.PER_UNIT), 0),
    rows_after={**dict.fromkeys(leg_b_record.SINGLE, 1), **dict.fromkeys(leg_b_record.PER_UNIT, N)},
    change_sets=1, units_in_blocks=N, units_affected=N, units=N, changing=N, executor_tool_revision="cutter/1+exec",
    verifier_tool_revision="cutter/1+verify", verifier_signatures=0,
)  # fmt: skip

WRITE_VERIFY = write_verify.Evidence(
    principal="cutter_verify", holds_executor_dsn=False, executor_signature_good=True, executor_fingerprint="E" * 40,
    verifier_fingerprint="F" * 40, executor_tool_revision="cutter/1+exec", verifier_tool_revision="cutter/1+verify",
    structural=structural_verify.eleven(STRUCTURAL_VERIFY), rebuilt_writer_digest=PLAN.writer_digest,
    stored_writer_digest=PLAN.writer_digest, pinned_writer_digest=PLAN.writer_digest, affected_rows=N, units=N,
    results_before=0,
)  # fmt: skip
RECORDED = write_verify.Recorded(results=1, this_result=1, verifier_signatures=1)

LIFECYCLE_ENACT = lifecycle_enact.Evidence(
    approvals=(sha256_hex("approval"),), threshold=1, approved_review_decisions=("r1",), open_review_decision="r1",
    consumed_review_decision="r1", statuses=("enacted",) * N, units=N, not_enacted=0, log_rows=N, verdict="pass",
    triggers=lifecycle_enact.TRIGGERS, opened_in="9", written_in="9", autocommit=False,
)  # fmt: skip

DOCUMENTS = tuple(
    closeout.KbDocument(kb_id=f"runs/{subject}.md", kind=kind, subject=subject, recorded_sha256=_SHA, found_sha256=_SHA)
    for kind, subject in sorted(closeout.EXPECTED)
)
CLOSEOUT = closeout.Evidence(
    documents=DOCUMENTS, units_enacted=N, units_planned=N, receipts_sealed=closeout.RECEIPTS,
    approvals_consumed=frozenset(gate.value for gate in Sovereign), audit_head=sha256_hex("head"), chain_intact=True,
    bundle_id=f"{RUN}/evidence.tar", bundle_sha256=sha256_hex("bundle"), bundle_found_sha256=sha256_hex("bundle"),
    history_sha256=sha256_hex("history"),
)  # fmt: skip
_LINE = closeout.index_line(run_id=RUN, document_id="ICX-LAW-1", audit_head=sha256_hex("head"), sealed_utc=_TAKEN)
FINISH = closeout.Finish(
    run_id=RUN, sidecar_run_id=RUN, sidecar_status="success", index_line=_LINE, index_line_found=_LINE,
    documents_waiting=0,
)  # fmt: skip

Evaluate = Callable[[Any], GateReport]

PASSING: dict[str, tuple[Any, Evaluate]] = {
    "IG_source_pin": (SOURCE_PIN, source_pin.evaluate),
    "IG_source_pin of a revision": (dataclasses.replace(SOURCE_PIN, base=IN_FORCE), source_pin.evaluate),
    "IG_mark": (MARK, mark.evaluate),
    "IG_cutplan": (CUTPLAN, cutplan.evaluate),
    "IG_cutplan of a revision": (
        dataclasses.replace(CUTPLAN, revision=REVISION, rebuilt_writer_digest=REVISION.writer_digest),
        cutplan.evaluate,
    ),
    "IG_backup": (BACKUP, backup.evaluate),
    "IG_backup with a restore point": (BACKUP_WITH_POINT, backup.evaluate),
    "IG_grant_probe": (GRANT_PROBE, grant_probe.evaluate),
    "IG_cut_leg_a_execute": (CUT_LEG_A, cut_leg_a.evaluate),
    "IG_cut_leg_a_execute after COMMIT": (READ_BACK, cut_leg_a.read_back),
    "IG_structural_verify": (STRUCTURAL_VERIFY, structural_verify.evaluate),
    "IG_structural_verify of a revision": (
        dataclasses.replace(STRUCTURAL_VERIFY, revision=STORED_REVISION),
        structural_verify.evaluate,
    ),
    "IG_leg_b_record": (LEG_B, leg_b_record.evaluate),
    "IG_write_verify": (WRITE_VERIFY, lambda evidence: write_verify.evaluate(evidence, RECORDED)),
    "IG_write_verify as recorded": (RECORDED, lambda recorded: write_verify.evaluate(WRITE_VERIFY, recorded)),
    "IG_lifecycle_enact_execute": (LIFECYCLE_ENACT, lifecycle_enact.evaluate),
    "IG_closeout": (CLOSEOUT, closeout.evaluate),
    "IG_closeout after COMMIT": (FINISH, closeout.finished),
}
"""Every report of every gate: evidence that passes, and what evaluates it."""


def forged_plan(**changes: Any) -> CutPlan:
    """A plan built without its own checks, as a bug or a forger would."""
    other = object.__new__(CutPlan)
    for field in dataclasses.fields(CutPlan):
        object.__setattr__(other, field.name, changes.get(field.name, getattr(PLAN, field.name)))
    return other


def forged_marking(**changes: Any) -> Marking:
    """The same for a marking."""
    other = object.__new__(Marking)
    for field in dataclasses.fields(Marking):
        object.__setattr__(other, field.name, changes.get(field.name, getattr(MARKING, field.name)))
    return other


def unit(position: int = 1, **changes: Any) -> tuple[structural_verify.StoredUnit, ...]:
    """The stored units with one of them changed."""
    return tuple(
        dataclasses.replace(stored, **changes) if at == position else stored for at, stored in enumerate(UNITS)
    )


def without(*cells: tuple[str, str, str]) -> tuple[tuple[str, str, str], ...]:
    """The granted cells without these."""
    return tuple(cell for cell in GRANTED if cell not in cells)


BROKEN = (*WRITE_VERIFY.structural[:10], holds("nothing_outside_prefix", False, "LAW2/X", 0))


_NONE_LEFT: tuple[Any, ...] = ()

RED = Finding(code="number_missing", line=1, message="article 2 is missing", severity="red")

FLIPS: dict[str, dict[str, tuple[Any, str]]] = {
    "IG_source_pin": {
        "document_id": ("ICX-LAW-2", "manifest_digest_matches"),
        "source_document_id": (None, "source_document_exists"),
        "docprefix": (None, ""),
        "registered_uri": ("file:other.md", "source_uri_matches"),
        "requested_uri": ("file:other.md", "source_uri_matches"),
        "version": (None, "source_version_exists"),
        "snapshot": (b"# Other\n", "snapshot_matches_checksum"),
        "base": (NEXT_YEAR, "takes_effect_in_order"),
        "today": (date(2026, 11, 22), ""),
    },
    "IG_mark": {
        "snapshot": (b"# Other\n", "snapshot_matches_pin"),
        "content_sha256": (OTHER, "snapshot_matches_pin"),
        "marking": (forged_marking(region_sha=OTHER), "region_sha_rebuilt"),
        "max_candidates": (N - 1, "rowset_size_in_bounds"),
    },
    "IG_cutplan": {
        "plan": (forged_plan(rows=()), "exactly_n_rows"),
        "rebuilt_writer_digest": (OTHER, "writer_digest_stable"),
        "mark_digest": (OTHER, "mark_reproduced"),
        "pinned_mark_digest": (OTHER, "mark_reproduced"),
        "region_sha": (OTHER, "region_sha_reproduced"),
        "pinned_region_sha": (OTHER, "region_sha_reproduced"),
        "candidate_count": (N + 1, "exactly_n_rows"),
        "vocabulary": ({}, "vocabulary_complete"),
        "same_digest_runs": (("another run",), ""),
        "max_writes": (N - 1, "within_max_writes_per_run"),
        "revision": (REVISION, "writer_digest_stable"),
    },
    "IG_backup": {
        "artifact_id": ("elsewhere.gpg", ""),
        "stored_sha256": (OTHER, "backup_target_reachable"),
        "backup_sha256": (OTHER, "backup_target_reachable"),
        "recorded_sha256": (OTHER, "backup_sha256_recorded"),
        "size_bytes": (0, "sidecar_json_written"),
        "taken_utc": ("", "sidecar_json_written"),
        "beside": (None, "sidecar_json_written"),
        "recipient": ("B" * 40, "gpg_fingerprint_pinned"),
        "pinned_recipient": ("B" * 40, "gpg_fingerprint_pinned"),
        "snapshot_fingerprint": ("f2", "restore_equals_snapshot"),
        "restored_fingerprint": ("f2", "restore_equals_snapshot"),
        "restore_point_asked": (True, "restore_point_marked"),
        "restore_point": (POINT, "sidecar_json_written"),
        "recorded_restore_point": (POINT, "restore_point_marked"),
    },
    "IG_grant_probe": {
        "cells": (0, "matrix_as_declared"),
        "granted": (_NONE_LEFT, "exec_may_call_writers"),
        "grants_sha256": (OTHER, ""),
        "differences": (("one",), "matrix_as_declared"),
    },
    "IG_cut_leg_a_execute": {
        "authorizations": (_NONE_LEFT, "approval_resolves_to_signed_document"),
        "threshold": (2, "approval_resolves_to_signed_document"),
        "document_id": ("ICX-LAW-2", "approval_authorizes_cut"),
        "change_set_id": ("c2", "approval_authorizes_cut"),
        "pinned_writer_digest": (OTHER, "plan_reproduced"),
        "planned_writer_digest": (OTHER, "approval_authorizes_cut"),
        "stored_writer_digest": (OTHER, "stored_writer_digest"),
        "rows_before": (1, "g_cut_once"),
        "planned": (N + 1, "exactly_n_created"),
        "statuses": (_NONE_LEFT, "exactly_n_created"),
        "not_draft": (1, "zero_units_not_draft"),
        "opened_in": ("8", "transaction_unbroken"),
        "written_in": ("8", "transaction_unbroken"),
        "autocommit": (True, "transaction_unbroken"),
        "rehearsal": (True, ""),
        "revised": ({**REVISION.counts, "keep": 1}, "exactly_n_created"),
    },
    "IG_cut_leg_a_execute after COMMIT": {
        "receipt_sealed": (False, "transaction_committed"),
        "units": (0, "transaction_committed"),
        "units_created": (N + 1, "transaction_committed"),
        "writer_digest": (OTHER, "transaction_committed"),
        "approved_writer_digest": (OTHER, "transaction_committed"),
    },
    "IG_structural_verify": {
        "docprefix": ("LAW2", "nothing_outside_prefix"),
        "units": (UNITS[:-1], "iu_count"),
        "version_count": (N + 1, "uv_count"),
        "plan": (forged_plan(rows=PLAN.rows[:-1]), "iu_count"),
        "section_type_cardinality": ({}, "section_type_cardinality"),
        "forbidden_ids": ((UNITS[1].address.rsplit("/", 1)[-1],), "no_forbidden_ids"),
        "revision": (structural_verify.StoredRevision(plan=REVISION, rows=()), "revision_rows_match_plan"),
    },
    "IG_leg_b_record": {
        "change_set_id": ("", "change_set_id_present_and_unique"),
        "manifest_envelope_id": ("", "envelope_and_signature_present"),
        "executor_signature_id": ("", "envelope_and_signature_present"),
        "rows_before": ({"cut_change_set": 1}, "g_leg_b_once"),
        "rows_after": ({}, "g_leg_b_once"),
        "change_sets": (2, "change_set_id_present_and_unique"),
        "units_in_blocks": (N - 1, "g_leg_b_once"),
        "units_affected": (N - 1, "g_leg_b_once"),
        "units": (N + 1, "g_leg_b_once"),
        "changing": (N + 1, "g_leg_b_once"),
        "executor_tool_revision": ("cutter/1+verify", "lane_overlap_invariants"),
        "verifier_tool_revision": ("cutter/1+exec", "lane_overlap_invariants"),
        "verifier_signatures": (1, "lane_overlap_invariants"),
    },
    "IG_write_verify": {
        "principal": ("cutter_exec", "verifier_principal"),
        "holds_executor_dsn": (True, "executor_dsn_absent"),
        "executor_signature_good": (False, "executor_signature_verified"),
        "executor_fingerprint": ("F" * 40, "principals_differ"),
        "verifier_fingerprint": ("E" * 40, "principals_differ"),
        "executor_tool_revision": ("cutter/1+verify", "principals_differ"),
        "verifier_tool_revision": ("cutter/1+exec", "principals_differ"),
        "structural": (BROKEN, "axis_1_round_trip"),
        "rebuilt_writer_digest": (OTHER, "writer_digest_rebuilt"),
        "stored_writer_digest": (OTHER, "writer_digest_stored"),
        "pinned_writer_digest": (OTHER, "writer_digest_rebuilt"),
        "affected_rows": (N - 1, "affected_rows_match"),
        "units": (N + 1, "affected_rows_match"),
        "results_before": (1, "g_verify_once"),
    },
    "IG_write_verify as recorded": {
        "results": (2, "g_verify_once"),
        "this_result": (0, "verify_result_inserted"),
        "verifier_signatures": (0, "verifier_signature_inserted"),
    },
    "IG_lifecycle_enact_execute": {
        "approvals": (_NONE_LEFT, "approval_resolves_to_signed_document"),
        "threshold": (2, "approval_resolves_to_signed_document"),
        "approved_review_decisions": (("r0",), "review_decision_matches"),
        "open_review_decision": ("r0", "review_decision_matches"),
        "consumed_review_decision": ("r0", "review_decision_matches"),
        "statuses": (_NONE_LEFT, "exactly_n_enacted"),
        "units": (N + 1, "exactly_n_enacted"),
        "retired": (1, "exactly_n_enacted"),
        "not_enacted": (1, "zero_partial"),
        "log_rows": (N - 1, "lifecycle_log_rows"),
        "verdict": ("fail", "verify_result_passed"),
        "triggers": ({}, "immutability_triggers_enabled"),
        "opened_in": ("8", "single_transaction"),
        "written_in": ("8", "single_transaction"),
        "autocommit": (True, "single_transaction"),
    },
    "IG_closeout": {
        "documents": (DOCUMENTS[1:], "kb_documents_uploaded"),
        "units_enacted": (N - 1, "units_enacted"),
        "units_planned": (N + 1, "units_enacted"),
        "receipts_sealed": (9, "receipts_sealed"),
        "approvals_consumed": (frozenset(), "approvals_consumed"),
        "audit_head": (OTHER, ""),
        "chain_intact": (False, "audit_chain_intact"),
        "bundle_id": ("another", ""),
        "bundle_sha256": (OTHER, "evidence_bundle_sealed"),
        "bundle_found_sha256": (OTHER, "evidence_bundle_sealed"),
        "history_sha256": (OTHER, ""),
    },
    "IG_closeout after COMMIT": {
        "run_id": ("another", "sidecar_finalized"),
        "sidecar_run_id": (None, "sidecar_finalized"),
        "sidecar_status": (None, "sidecar_finalized"),
        "index_line": (b"", "run_id_in_runs_index"),
        "index_line_found": (None, "run_id_in_runs_index"),
        "documents_waiting": (1, "kb_documents_complete"),
    },
}
"""Report → field of its evidence → (a wrong value, the invariant that must say so)."""

for _gate in ("IG_source_pin", "IG_cutplan", "IG_structural_verify"):
    FLIPS[f"{_gate} of a revision"] = dict(FLIPS[_gate])
FLIPS["IG_backup with a restore point"] = FLIPS["IG_backup"] | {
    "restore_point_asked": (False, ""),
    "restore_point": (None, "sidecar_json_written"),
    "recorded_restore_point": (OTHER_POINT, "restore_point_recorded"),
}
FLIPS["IG_source_pin of a revision"]["today"] = (date.min, "takes_effect_in_order")
FLIPS["IG_cutplan of a revision"]["revision"] = (NOTHING_NEW, "revision_changes_law")

ONLY_SHOWN = {
    ("IG_source_pin", "today"): "the first law of a document takes effect on any day",
    ("IG_source_pin of a revision", "docprefix"): "a pin, as for a first cut",
    ("IG_cutplan of a revision", "same_digest_runs"): "a note for people, as for a first cut",
    ("IG_source_pin", "docprefix"): "a pin; its column is NOT NULL and it enters every address",
    ("IG_cutplan", "same_digest_runs"): "a note for people: another run may plan the same rows",
    ("IG_backup", "artifact_id"): "a pin; its bytes are what is checked",
    ("IG_backup with a restore point", "artifact_id"): "a pin; its bytes are what is checked",
    ("IG_backup with a restore point", "restore_point_asked"): "a point that was marked is checked even if nobody asks",
    ("IG_grant_probe", "grants_sha256"): "a pin; the cells are what is checked",
    ("IG_cut_leg_a_execute", "rehearsal"): "waives the approvals of what the database never commits",
    ("IG_closeout", "audit_head"): "a pin; the chain to it is what is checked",
    ("IG_closeout", "bundle_id"): "a pin; its bytes are what is checked",
    ("IG_closeout", "history_sha256"): "a pin: Temporal is not believed, its history is only kept",
}

INSIDE: list[tuple[str, str, Any, str]] = [
    ("IG_mark", "marking", forged_marking(candidates=MARKING.candidates[:-1]), "partition_proven"),
    ("IG_mark", "marking", forged_marking(findings=(RED,)), "red_findings_accepted"),
    ("IG_source_pin", "version", dataclasses.replace(VERSION, change_kind="correction"), "change_has_its_base"),
    ("IG_source_pin", "snapshot", b"", "snapshot_size_in_bounds"),
    ("IG_source_pin", "snapshot", b"\xff", "snapshot_is_utf8"),
    ("IG_source_pin", "snapshot", "e\u0301".encode(), "snapshot_is_nfc"),
    ("IG_cutplan", "plan", forged_plan(rows=PLAN.rows[:1] * N), "addresses_distinct"),
    ("IG_cutplan", "plan", forged_plan(rows=PLAN.rows[:1] * N), "idempotency_keys_distinct"),
    ("IG_grant_probe", "granted", (), "verify_may_record"),
    ("IG_grant_probe", "granted", (), "directus_may_read_decisions"),
    ("IG_grant_probe", "granted", (*GRANTED, ("PUBLIC", "x", "EXECUTE")), "no_public_execute"),
    ("IG_structural_verify", "units", unit(address=UNITS[0].address), "distinct_addresses"),
    ("IG_structural_verify", "units", unit(content_hash=OTHER), "content_hashes_match_plan"),
    ("IG_structural_verify", "units", unit(body="other"), "bodies_match_plan"),
    ("IG_structural_verify", "units", unit(anchors_agree=False), "anchors_exact"),
    ("IG_structural_verify", "units", unit(version_seq=2), "versions_first"),
    ("IG_structural_verify", "units", unit(section_type="appendix"), "section_type_cardinality"),
    ("IG_structural_verify", "units", unit(lifecycle="enacted"), "all_draft"),
    ("IG_structural_verify", "units", unit(version_lifecycle="enacted"), "all_draft"),
    ("IG_structural_verify", "units", unit(parent_address=None), "parents_match_plan"),
    ("IG_structural_verify", "units", unit(address="OTHER/X"), "nothing_outside_prefix"),
]
"""Fields with parts of their own: one flip for each further invariant that looks into them."""


WORDS = {"IG_mark": {"preview"}}
"""Fields that only word a refusal: no invariant judges them."""


def assert_holds(evidence: Any, name: str, **changes: Any) -> None:
    """The report passes as a whole, and has that invariant."""
    report = _report(evidence, changes)
    assert report.passed, report.reason()
    assert name in {item.name for item in report.invariants}


def assert_refuses(evidence: Any, name: str, **changes: Any) -> None:
    """The report refuses, naming that invariant; both sides are said."""
    report = _report(evidence, changes)
    assert not report.passed
    violated = {item.name: item for item in report.violations}
    assert name in violated, report.reason()
    assert violated[name].observed != violated[name].expected
    assert report.reason().startswith(f"{report.violations[0].name}: observed ")


def _report(evidence: Any, changes: dict[str, Any]) -> GateReport:
    evaluate = next(how for example, how in PASSING.values() if type(example) is type(evidence))
    return evaluate(dataclasses.replace(evidence, **changes))
