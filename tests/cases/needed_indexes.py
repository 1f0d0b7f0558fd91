"""Pure: the statement that each index of a growing table is for, and the indexes that only refuse rows.

Every index of a growing table is here, except those of the search. An index is in `CASES` if without it a statement of
the product reads a whole table that grows. It may be in `REFUSES` only if it is unique: it refuses a second row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The statement that an index is for: a named query, the one of a backup, or its text.

    A text calls a function of the database, or is a statement inside a function that only a role or a gate may call.
    """

    query: str = ""
    backup: bool = False
    text: LiteralString = ""


LEG_B = Case(query="leg_b_rows")
EVIDENCE = Case(query="run_evidence")
SIDECAR = Case(query="run_sidecar")
FACTS = Case(query="approval_facts")
OF_DOCUMENT = Case(query="approval_document_facts")

CASES = {
    "action_receipt_backups": Case(query="backups"),
    "action_receipt_payload": OF_DOCUMENT,
    "action_receipt_run": EVIDENCE,
    "action_receipt_target": OF_DOCUMENT,
    "action_receipt_tenant_idempotency_key_key": Case(
        text="select from cutter_governance.action_receipt where tenant = 'default' and idempotency_key = %(kb_id)s"
    ),
    "approval_consumption_decision_once": FACTS,
    "approval_consumption_of_request": Case(query="approved_decision"),
    "approval_consumption_pkey": OF_DOCUMENT,
    "approval_request_document": Case(
        text="update cutter_governance.approval_request set kb_id = kb_id where kb_id = %(kb_id)s"
    ),
    "approval_request_one_open": Case(query="gauges"),
    "approval_request_pkey": Case(
        text="select cutter_governance.fn_leg_b_problem(r) from cutter_governance.run r where r.run_id = %(run_id)s"
    ),
    "approval_request_run_id_gate_n_key": Case(query="request_payload"),
    "approval_revocation_pkey": OF_DOCUMENT,
    "approval_verdict_of_document": OF_DOCUMENT,
    "approval_verdict_of_run": SIDECAR,
    "audit_event_pkey": Case(query="audit_events"),
    "audit_head_pkey": SIDECAR,
    "batch_newest": Case(query="batch_names"),
    "batch_open": Case(query="batches_not_ended"),
    "batch_pkey": Case(query="batch_state"),
    "batch_queue_of_item": Case(query="queue_entries_before"),
    "batch_queue_open": Case(query="gauges"),
    "batch_queue_pkey": Case(text="update cutter_governance.batch_queue set kb_id = kb_id where kb_id = %(kb_id)s"),
    "cut_change_set_affected_row_change_set_id_unit_id_key": LEG_B,
    "cut_change_set_pkey": LEG_B,
    "cut_change_set_run_id_key": LEG_B,
    "decision_backlog_entry_of_run": LEG_B,
    "decision_backlog_entry_pkey": Case(
        text="select run_id from cutter_governance.decision_backlog_entry where entry_id = %(entry_id)s"
    ),
    "decision_backlog_history_entry_id_status_version_key": LEG_B,
    "dot_pair_signature_executor_once": LEG_B,
    "dot_pair_signature_pkey": Case(query="change_set_to_verify"),
    "dot_pair_signature_verifier_once": LEG_B,
    "drift_acknowledgement_of_run": Case(text="select cutter_governance.fn_expected_pins(%(run_id)s)"),
    "enactment_change_set_id_key": Case(query="law_units"),
    "enactment_pkey": Case(query="law_enacted"),
    "gate_attempt_pkey": SIDECAR,
    "gate_receipt_opened_xid_key": Case(text="select cutter_governance.fn_source_of_open_gate('A/b')"),
    "gate_receipt_pkey": Case(query="gates_sealed_between"),
    "information_unit_address_key": Case(query="rows_under_prefix"),
    "information_unit_pkey": Case(query="law_enacted"),
    "information_unit_withdrawn": Case(backup=True),
    "iu_lifecycle_log_change_set": Case(query="enactment_counts"),
    "iu_lifecycle_log_pkey": Case(text='select * from api.change where "cursor" > 1000000000000'),
    "iu_lifecycle_log_unit": Case(backup=True),
    "manifest_envelope_pkey": Case(
        text="select run_id from cutter_governance.manifest_envelope where envelope_id = %(envelope_id)s"
    ),
    "manifest_envelope_run_id_key": LEG_B,
    "message_refusal_of_run": Case(query="refusals_of_run"),
    "notification_asked_of_run": Case(
        text="select cutter_governance.fn_run_move(%(run_id)s, 'stopped_stop', 'operator')"
    ),
    "notification_delivery_pkey": Case(
        text="update cutter_governance.notification_delivery set attempts = 1 where id = 0"
    ),
    "notification_due": Case(text="select cutter_governance.fn_notification_take(%(channel)s, 60)"),
    "notification_given_up": Case(text="select cutter_governance.fn_notification_again(%(channel)s)"),
    "notification_once": Case(text="select cutter_governance.fn_notification_question(%(run_id)s, %(channel)s)"),
    "notification_once_a_channel": Case(
        text="select cutter_governance.fn_notification_question(%(request)s, %(channel)s)"
    ),
    "notification_pkey": Case(text="select cutter_governance.fn_notification_take(%(channel)s, 60)"),
    "notification_recent": Case(query="notification_runs_to_tell"),
    "order_consumption_of_run": Case(text="select cutter_governance.fn_evidence_approvals(%(run_id)s, now())"),
    "order_consumption_pkey": Case(
        text="select from cutter_governance.order_consumption where statement_sha256 = %(digest)s"
    ),
    "outbox_content": OF_DOCUMENT,
    "outbox_kb_id_key": Case(query="queue_document"),
    "outbox_of_batch": Case(query="documents_of_batch"),
    "outbox_of_run": Case(query="documents_of_run"),
    "outbox_pkey": Case(text="update cutter_governance.outbox set sha256 = null where id = 0"),
    "outbox_waiting": Case(query="runs_with_waiting_documents"),
    "prepared_decision_of": Case(
        text="select cutter_governance.fn_decisions_prepare(%(batch_id)s, array[%(document_id)s])"
    ),
    "prepared_decision_pkey": FACTS,
    "review_decision_pkey": FACTS,
    "review_decision_run": EVIDENCE,
    "run_document": Case(query="run_of_document"),
    "run_first_execution_id_key": Case(
        text="select cutter_governance.fn_run_register(%(run_id)s, %(document_id)s, 'live', 'olga', '{}', %(request)s)"
    ),
    "run_newest": Case(query="newest_runs"),
    "run_of_batch": Case(query="batch_now"),
    "run_open_of_tenant": Case(query="inbox"),
    "search_word_pkey": Case(text="select cutter_governance.fn_search_corrected('text')"),
    "signed_statement_pkey": FACTS,
    "source_document_doc_code_key": Case(query="document_known"),
    "source_document_pkey": Case(query="marked_by"),
    "source_snapshot_pkey": Case(query="snapshot_of_run"),
    "source_version_id_key": Case(query="marked_by"),
    "source_version_source_document_ref_version_seq_key": Case(query="text_of_newest_version"),
    "stop_latch_pkey": SIDECAR,
    "unit_search_pkey": Case(text="select count(*) from api.search('text')"),
    "unit_version_pkey": Case(query="law_enacted"),
    "unit_version_unit_id_version_seq_key": Case(query="version_count"),
    "unsigned_decision_run": Case(text="select cutter_governance.fn_gate_approvers(%(rehearsal)s, 'IG_mark')"),
    "verify_result_change_set_id_key": Case(query="verify_rows"),
    "verify_result_pkey": Case(query="verify_rows"),
    "void_record_opened_xid_key": Case(
        text="select run_id from cutter_governance.void_record where opened_xid = pg_current_xact_id()"
    ),
    "void_record_pkey": EVIDENCE,
}

REFUSES = frozenset({
    # Rows are found by another index that begins with the same columns.
    "approval_consumption_run_id_gate_approver_key", "approval_consumption_run_id_gate_fingerprint_key",
    "approval_consumption_run_id_gate_slot_key", "approval_verdict_accepted_once",
    "batch_item_batch_id_position_key", "batch_item_pkey",
    "enactment_once_for_each_base", "enactment_source_document_ref_n_key",
    "manifest_unit_block_envelope_id_proposed_canonical_address_key",
    "manifest_unit_block_envelope_id_render_order_key", "manifest_unit_block_pkey",
    "review_decision_cut_once",
    "revision_row_pkey", "revision_row_run_id_document_order_key", "revision_row_run_id_unit_id_key",
    "run_active_document", "run_success_once", "unit_version_enacted_once",
    "unsigned_decision_stop_account_key", "unsigned_decision_stop_approver_key",
    # PostgreSQL also finds a run by an index with the run's id as its second column.
    "run_pkey",
    # No statement asks for a row by these.
    "source_document_address_docprefix_key",
    "action_receipt_pkey", "approval_request_challenge_key", "approval_verdict_pkey",
    "cut_change_set_affected_row_pkey", "cut_change_set_idempotency_key_key", "cut_change_set_rollback_key_key",
    "decision_backlog_history_pkey", "drift_acknowledgement_pkey", "drift_acknowledgement_statement_sha256_key",
    "message_refusal_pkey", "run_active_docprefix", "run_trigger_ref_key", "source_document_id_key",
    "source_version_pkey", "unsigned_decision_pkey", "void_record_statement_sha256_key",
    # No statement of the product writes this table.
    "iu_edit_draft_pkey",
})  # fmt: skip
