"""What a batch puts into the knowledge base: each field that the seed lists, and the names that people look for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cutter.approvals.request import RequestDocument
from cutter.batch import batch_step, documents
from cutter.batch.documents import QueueLine
from cutter.batch.triage import Triage, disposition
from cutter.batch.ways import command_of
from cutter.domain.next_step import Needs, Step, StepFacts
from tests.cases.approval_cases import request_document, request_tuple
from tests.unit.batch.views import item, view

BATCH = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
FOLDER = f"knowledge/dev/batches/{BATCH}"
RUN = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
REQUEST, APPROVAL = "knowledge/a/SG1-request.md", "knowledge/a/SG1-approval.md"


def error_entry() -> str:
    case = Triage(
        run_id=RUN, document_id="ICX-1", state="stopped_drift_units", gate="IG_mark", code="STOP_DRIFT_units",
        error={"report": {"invariants": [{"name": "n", "ok": False, "expected": "3", "observed": "2"}]}},
        sidecar='{\n"state": "x"\n}', advice=disposition(StepFacts(run_id="R", document_id="D", state="failed_mark")),
        reproduction="cutter mark FILE", remedy=Step(needs=Needs.CORRECTION, commands=("cutter void X",)),
    )  # fmt: skip
    return documents.error_entry(case)


def review_entry() -> str:
    return documents.review_entry(
        batch_id=BATCH, run_id=RUN, document_id="ICX-1", state="awaiting_cut_authorization", gate="SG_cut_authz",
        reason="nobody signed it", request_kb_id=REQUEST, approval_kb_id=APPROVAL,
        payload={"manifest_digest": "m", "writer_digest": "w", "candidate_count": 3},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("run_id", f"run_id: {RUN}"),
        ("document_id", "document_id: ICX-1"),
        ("state_at_failure", "state_at_failure: stopped_drift_units"),
        ("failed_gate", "failed_gate: IG_mark"),
        ("invariant_diff", "## invariant_diff\n\n```diff\n--- expected\n+++ observed\n@@ n @@\n-3\n+2\n```"),
        ("drift_evidence", '## drift_evidence\n\n```json\n{\n  "invariants": ['),
        ("sidecar_snapshot_truncated", '## sidecar_snapshot_truncated\n\n```json\n{\n"state": "x"\n}\n```'),
        ("reproduction_command", "## reproduction_command\n\n```\ncutter mark FILE\n```"),
        ("recommended_disposition", "recommended_disposition: amend"),
    ],
)
def test_an_entry_of_the_error_queue_has_each_field(field: str, shown: str) -> None:
    """Seed 001 §10."""
    assert field in shown
    assert shown in error_entry()


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("run_id", f"run_id: {RUN}"),
        ("document_id", "document_id: ICX-1"),
        ("state_at_pause", "state_at_pause: awaiting_cut_authorization (SG_cut_authz)"),
        ("request_payload", f"## request_payload\n\nThe request: `{REQUEST}`\n\n```json\n{{\n"),
        ("manifest_digest", '"manifest_digest": "m"'),
        ("writer_digest", '"writer_digest": "w"'),
        ("candidate_count", '"candidate_count": 3'),
        ("reason_pre_batched_approval_missing", "reason_pre_batched_approval_missing: nobody signed it"),
        ("one_line_resume_command", f"## one_line_resume_command\n\nSign it:\n\n```\ncutter approve {RUN}\n```\n"),
    ],
)
def test_an_entry_of_the_human_review_queue_has_each_field(field: str, shown: str) -> None:
    """Seed 001 §11."""
    assert field in shown
    assert shown in review_entry()


def test_a_late_approval_that_was_signed_by_hand_is_handed_over_by_one_line() -> None:
    """Seed 001 §11."""
    assert f"\ncutter orchestrate resume --run-id {RUN} --approval-kb-id {APPROVAL}\n" in review_entry()


def test_what_waits_for_a_late_approval_says_so_by_the_seeds_code() -> None:
    """Seed 001 §7, 001 §11."""
    assert review_entry().startswith("# ICX-1 · STOP_NEEDS_LATE_APPROVAL\n")


@pytest.mark.parametrize(
    ("name", "kb_id"),
    [
        ("SG1-batch-overview.md", documents.overview_id(BATCH, "SG_cut_authz", 1)),
        ("SG2-batch-overview.md", documents.overview_id(BATCH, "SG_lifecycle_authz", 1)),
        ("SG1-pre-batched-approvals", documents.pre_batched(BATCH, "SG_cut_authz", "ICX-1").rpartition("/")[0]),
        ("SG2-pre-batched-approvals", documents.pre_batched(BATCH, "SG_lifecycle_authz", "ICX-1").rpartition("/")[0]),
        ("error_queue-summary.md", documents.summary_id(BATCH, "error_queue", 1)),
        ("quarantine_queue-summary.md", documents.summary_id(BATCH, "quarantine_queue", 1)),
        ("human_review_queue-summary.md", documents.summary_id(BATCH, "human_review_queue", 1)),
        ("batch_report.md", documents.report_id(BATCH, 1)),
    ],
)
def test_a_batchs_documents_have_the_seeds_names(name: str, kb_id: str) -> None:
    """Seed 001 §4, 001 §8, 001 §10, 001 §11."""
    assert kb_id == f"{FOLDER}/{name}"


def waits(document_id: str) -> RequestDocument:
    asked = replace(request_tuple(), document_id=document_id, candidate_count=2)
    return request_document(asked, datetime.now(UTC), kb_id=f"knowledge/{document_id}/SG1.md")


def test_one_overview_names_every_request_and_how_to_answer_all_of_them() -> None:
    """Seed 001 §4, 001 §12."""
    text = documents.overview(BATCH, "SG_cut_authz", [waits("ICX-1"), waits("ICX-2")], {"failed": 1}, {"anna": 2})
    for document_id in ("ICX-1", "ICX-2"):
        assert f"- {document_id}: `knowledge/{document_id}/SG1.md`" in text
    assert "2 documents wait for a signed approval each: 4 units, 2 added, 2 changed, 0 removed.\n" in text
    assert "\nOthers: failed 1.\n\nAsked: anna (2).\n" in text
    assert f"cutter approve --batch {BATCH}" in text
    assert "they stay paused" in text


def test_a_summary_of_a_queue_has_one_line_for_each_document() -> None:
    """Seed 001 §10, 001 §11, 001 §12."""
    failed = view(*(item(f"ICX-{n}", "failed_mark", run_id=f"R{n}", enacted=True) for n in (1, 2)))
    entries = [
        QueueLine(document_id=f"ICX-{n}", queue="error_queue", state="failed_mark", code="c", kb_id=f"k{n}.md")
        for n in (1, 2)
    ]
    text = documents.queue_summary(failed, "error_queue", entries)
    rows = [line for line in text.splitlines() if line.startswith("| ICX-")]
    assert rows == [
        f"| {entry.document_id} | failed_mark | c | `{entry.kb_id}` | `{command_of(BATCH, record)}` |"
        for entry, record in zip(entries, failed.items, strict=True)
    ]


def test_the_report_enumerates_every_document_with_its_outcome() -> None:
    """Seed 001 §6: successful and failed documents."""
    batch_view = view(item("ICX-1", "closeout_reported", run_id=RUN), item("ICX-2", "failed_mark", run_id=RUN))
    text = documents.batch_report(batch_view, batch_step.summarise(batch_view, attended=True))
    assert f"| 1 | ICX-1 | enacted | closeout_reported | {RUN} | `cutter report {RUN}` |" in text
    assert f"| 2 | ICX-2 | failed | failed_mark | {RUN} | `cutter source add " in text
    assert "enacted 1 · failed 1" in text
