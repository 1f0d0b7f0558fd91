"""Pure: the guards of P24: for each the file, its text, what stands there once it is gone, and the test that sees it.

The text must stand in its file exactly once; a guard that moved is a failure of the campaign, so that this table
cannot rot. Each names the narrowest test that is about it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One guard, and how it is taken out. `test` is a node id of pytest, below tests/."""

    what: str
    file: str
    old: str
    new: str
    test: str


def _of(file: str, tests: str, *guards: tuple[str, str, str, str]) -> tuple[Guard, ...]:
    """Guards of one file: (what it keeps out, its text, what is left, the test, which may continue `tests`)."""
    return tuple(
        Guard(what=what, file=file, old=old, new=new, test=tests + test if test.startswith(("::", "[")) else test)
        for what, old, new, test in guards
    )


_SQL = "cutter/storage/sql/"
_STORAGE = "integration/storage/"
_GATES = f"{_STORAGE}test_gate_functions.py"
_CONSUME = f"{_STORAGE}test_consumption.py"
_PEOPLE = f"{_STORAGE}test_people.py"
_UNITS = f"{_STORAGE}test_unit_functions.py"
_ALONE = f"{_STORAGE}test_one_password_alone.py"
_AUDIT = f"{_STORAGE}test_audit_and_immutability.py"
_LIVING = "integration/living_law/test_guards_of_a_revision.py"
_ATTACKS = "integration/living_law/test_attacks_on_a_revision.py"
_IN_BATCHES = "integration/living_law/test_revisions_in_batches.py"
_NOISE = f"{_STORAGE}test_what_roles_may_take.py"
_POLICY = f"{_STORAGE}test_policy_in_the_database.py"
_COMMAND_OF_POLICY = "integration/policy/test_policy_command.py"
_NIGHT = f"{_STORAGE}test_signed_before.py"
_FORGED = "integration/attacks/test_forged_orders.py"
_REVOKED = "integration/attacks/test_revocations.py"
_FACTS = "integration/attacks/test_facts_of_one_role.py"
_VERIFY = "unit/approvals/test_approval_verify.py::test_one_change_refuses_with_its_own_step_and_code"
_LISTS = "property/test_approvals_properties.py"
_STATEMENT = "unit/approvals/test_approval_statement.py"
_FORMS = f"{_STATEMENT}::test_bytes_that_are_no_statement_are_refused_each_by_its_code"
_OVER = f"{_STORAGE}test_pinned_law.py::test_an_open_request_whose_units_were_changed_is_refused_in_every_form"
_QUEUE = "unit/batch/test_queue_file.py"
_PLAIN = f"{_QUEUE}::test_a_file_beyond_plain_yaml_is_refused_with_its_line"

_RED = f"{_STORAGE}test_red_findings_at_the_gate.py"
_RED_ROUTES = "workflow/test_red_texts.py"
_FAULTS = "unit/marking/test_red_findings.py::"

_SHOWN = "acceptance/cli/test_shown_before_signing.py"

_KEYS = "integration/gpg/test_deployment_keys.py"

DELIVERY = (
    *_of(
        "starter/commands/keys.py", _KEYS,
        ("a second private key in a home", "        if set(there) - {fingerprint}:", "        if False:",
         "::test_a_home_never_gets_a_second_private_key"),
        ("a pin of an absent key", "        if fingerprint not in {*given, *there}:", "        if False:",
         "::test_a_pin_of_a_key_that_is_not_there_is_refused"),
        ("a new key in the place of an old one", "    if path.exists():", "    if False:",
         "::test_no_key_is_ever_replaced"),
        ("an approver's key without a passphrase", "    if not gpg.has_passphrase(fingerprint):", "    if False:",
         "::test_a_key_without_a_passphrase_makes_no_approver"),
    ),
    *_of(
        "cutter/gpg.py", _KEYS,
        ("a public key in the place of a private one", "        if secret and not taken.sec_read:", "        if False:",
         "::test_a_public_key_is_not_taken_for_the_private_one"),
    ),
)  # fmt: skip
"""Keys of a deployment."""

OPENING = (
    *_of(
        f"{_SQL}functions/gates/fn_gate_open.sql", _GATES,
        ("another role's gate", "case when step.role is distinct from session_user then 'wrong_role'",
         "case when false then 'wrong_role'",
         "::test_a_gate_is_its_own_role_s_alone"),
        ("an older snapshot", "when current_setting('transaction_isolation') <> 'read committed' then",
         "when false then", "::test_an_older_snapshot_opens_no_gate"),
        ("a stop during a gate", "where run_id = p_run_id for share;", "where run_id = p_run_id;",
         "::test_a_stop_waits_for_the_open_transaction_and_then_holds"),
        ("altered receipts",
         "'code', v_refusal);\n    end if;\n    v_drift := cutter_governance.fn_receipts_drift(p_run_id);",
         "'code', v_refusal);\n    end if;", f"{_AUDIT}::test_a_receipt_that_was_altered_stops_the_next_gate"),
        ("a write without an approval", "if v_refusal is not null then\n            return",
         "if false then\n            return", f"{_CONSUME}::test_no_approval_is_too_few"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_lane_take.sql", _GATES,
        ("two leg A at once", "where name = 'write' for update skip locked;", "where name = 'write';",
         "::test_one_leg_a_at_a_time_holds_the_write_lane"),
    ),
    *_of(
        f"{_SQL}functions/survey/fn_grant_matrix.sql", "integration/storage/test_catalogue_keys.py",
        ("a privilege that changed since", "c.dimension = 'matrix' and c.catalog_key = v_key;",
         "c.dimension = 'matrix';", "::test_the_grant_matrix_is_read_again_after_a_change"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_stop_answer.sql", _GATES,
        ("a gate after a stop", "        when p_latch.stopped then", "        when false then",
         "::test_a_stop_that_came_first_keeps_the_gate_shut"),
        ("a gate of a stopped run", r"        when p_run.state like 'stopped\_%' then", "        when false then",
         "::test_a_run_in_a_stopped_state_opens_nothing_until_it_is_resumed"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_refusal.sql", _GATES,
        ("a gate of an ended run", "when p_run.ended_at is not null then 'run_ended'\n        when p_prev",
         "when p_prev",
         "::test_a_run_that_is_over_opens_nothing"),
        ("a gate out of its order", "when p_prev_hash is null then 'predecessor_not_sealed'", "when false then ''",
         "::test_a_gate_needs_the_sealed_receipt_of_the_one_before_it"),
        ("an older attempt", "        when p_attempt is distinct from (select max(n)",
         "        when 0 > (select max(n)",
         "::test_an_older_attempt_does_not_open"),
        ("a rehearsal of a live run", "when p_rehearse and (p_run.mode <> 'dryrun' or not p_step.rehearsable)",
         "when false",
         "::test_a_live_run_rehearses_nothing"),
        ("a write of a rehearsal", "when not p_rehearse and p_run.mode = 'dryrun' and exists (",
         "when false and exists (",
         "::test_a_dry_run_opens_no_writing_gate_for_real"),
        ("a write without the policy", "when p_step.writes is not null and not exists (", "when false and not exists (",
         f"{_POLICY}::test_without_any_record_of_the_policy_a_writing_gate_stays_shut"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_survey.sql", _GATES,
        ("drift before a gate",
         "    if v_drift is not null then\n        return", "    if false then\n        return",
         f"{_PEOPLE}::test_an_acknowledgement_of_one_drift_is_none_of_another"),
    ),
    *_of(
        f"{_SQL}functions/survey/fn_survey_after.sql", _GATES,
        ("a row that changes while a gate is open",
         "case when p_before ->> 'row_versions' = v_versions", "case when true",
         "::test_a_row_that_changes_while_a_gate_is_open_is_drift"),
    ),
    *_of(
        f"{_SQL}functions/survey/fn_rows_seen.sql", _GATES,
        ("a row that changes between two gates", "where row_versions = v_versions", "",
         "::test_a_row_that_changes_between_two_gates_is_drift"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_survey.sql", _GATES,
        ("all rows before the law changes", "p_step.effect in ('units_created', 'units_enacted')", "false",
         "::test_a_gate_that_changes_the_law_reads_all_rows"),
    ),
    *_of(
        f"{_SQL}functions/survey/fn_rows_versions.sql", _GATES,
        ("a version that changes while a gate is open",
         "bit_xor(hashtidextended(v.ctid, hashxidextended(v.xmin, 0)))", "0",
         "::test_a_row_that_changes_while_a_gate_is_open_is_drift"),
        ("a unit that changes while a gate is open",
         "bit_xor(hashtidextended(u.ctid, hashxidextended(u.xmin, 0)))", "0",
         "::test_a_row_that_changes_while_a_gate_is_open_is_drift"),
    ),
    *_of(
        f"{_SQL}functions/policy/fn_policy_install.sql", _GATES,
        ("an epoch during a gate",
         "perform from cutter_governance.lane where name = 'policy_epoch' for update;", "",
         f"{_CONSUME}::test_a_new_epoch_of_the_policy_waits_for_the_gate_that_consumes"),
    ),
    *_of(
        f"{_SQL}functions/policy/fn_effect_policy_install.sql", _GATES,
        ("a policy in force that nobody saw", "if v_newest is distinct from p_instead_of then", "if false then",
         f"{_COMMAND_OF_POLICY}::test_nobody_replaces_a_policy_that_they_did_not_see"),
    ),
    *_of(
        f"{_SQL}functions/survey/fn_grant_definitions.sql", _GATES,
        ("a setting of who writes", "and (s.setrole = 0 or r.rolname in ('cutter_owner', 'cutter_exec'))", "and false",
         f"{_NOISE}::test_a_setting_of_who_writes_is_drift_when_it_could_affect_a_write"),
    ),
)  # fmt: skip

NOISY = (
    *_of(
        f"{_SQL}functions/batches/fn_batch_notify.sql", "campaigns/test_noisy_roles.py",
        ("a COMMIT that meets a full queue", "if pg_notification_queue_usage() < 0.5 then", "if true then",
         "::test_no_commit_meets_a_queue_of_notifications_that_a_role_has_filled"),
    ),
    *_of(
        "cutter/storage/roles.py", _NOISE,
        ("everybody's locks",
         'connection.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC, {}").format(signature, everyone))',
         "pass", "::test_no_role_calls_what_would_keep_the_others_from_their_work"),
        ("all connections for one role", 'sql.SQL("ALTER ROLE {} CONNECTION LIMIT {}")',
         'sql.SQL("ALTER ROLE {} CONNECTION LIMIT -1 -- {}")',
         "integration/stack/test_bootstrap.py::test_the_roles_together_leave_connections_for_the_superuser"),
        ("a disk full of temporary files", '"temp_file_limit": f"{limits.READER_TEMP_FILES_MIB}MB",', "",
         "::test_a_role_does_not_raise_its_temporary_files"),
    ),
    *_of(
        "cutter/storage/sql/sessions.sql", _NOISE,
        ("a session that stays", "count(*) filter (where pg_terminate_backend(s.pid))", "count(*)",
         "::test_a_transaction_that_outstays_its_limit_is_ended_and_others_are_not"),
    ),
)  # fmt: skip

CLOSED = (
    *_of(
        f"{_SQL}functions/approvals/fn_unsigned_may.sql", _GATES,
        ("a live run that goes on unsigned", "p_mode = 'dryrun' and p_tier in", "p_tier in",
         "integration/policy/test_slack_decisions.py::test_a_live_run_takes_signatures_whatever_the_epoch_says"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_close.sql", _GATES,
        ("a refused gate that is closed", " or receipt.prev_hash = ''\n", "\n",
         "::test_a_gate_whose_opening_was_refused_is_not_closed"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_check_receipt.sql", _GATES,
        ("a receipt that was never opened", "    if receipt.prev_hash is distinct from cutter_governance.fn_prev_hash",
         "    if false and receipt.prev_hash is distinct from cutter_governance.fn_prev_hash",
         "::test_a_receipt_that_no_opening_made_cannot_be_committed"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_governance_guard.sql", _GATES,
        ("the record of a refused gate", " and r.prev_hash <> ''", "",
         "::test_a_refused_gate_lets_no_row_of_its_record_in"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_gate_approvers.sql", _GATES,
        ("one person by two keys", "least(count(distinct fingerprint), count(distinct approver)) from signed",
         "count(distinct fingerprint) from signed", f"{_POLICY}::test_one_person_whose_key_was_rotated_is_one_of_two"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_approvals_needed.sql", _GATES,
        ("one person for two", "greatest(1, case p_tier when 'high' then 2 end, (", "greatest(1, (",
         f"{_CONSUME}::test_a_high_tier_asks_for_two_whatever_the_policy_names"),
        ("nobody's approval", "select greatest(1, case", "select greatest(0, case",
         f"{_CONSUME}::test_a_policy_that_asks_for_nobody_still_asks_for_one"),
    ),
)  # fmt: skip

CONSUMING = (
    *_of(
        f"{_SQL}functions/approvals/fn_approvals_consume.sql", _CONSUME,
        ("without a request", "if not found then\n        return 'no_open_request';",
         "if false then\n        return '';",
         "::test_without_an_open_request_nothing_is_consumed"),
        ("a request without document", "if request.request_sha256 is null then", "if false then",
         "::test_a_request_whose_document_was_never_bound_is_no_request"),
        ("an expired request", "if request.expires_at <= clock_timestamp() then", "if false then",
         "::test_an_expired_request_consumes_nothing"),
        ("a request for another plan",
         "if request.tuple ->> 'writer_digest' is distinct from v_pins ->> 'writer_digest' then", "if false then",
         "::test_a_request_for_another_digest_than_the_plan_s_consumes_nothing"),
        ("a request for other findings",
         "if request.tuple ->> 'findings_digest' is distinct from v_pins ->> 'findings_digest' then", "if false then",
         "::test_a_request_for_other_findings_than_the_run_s_consumes_nothing"),
        ("more than the slots", "if v_slot > v_needed then", "if false then",
         "::test_more_approvals_than_slots_are_not_consumed"),
        ("too few approvals", "if v_slot < v_needed then", "if false then", "::test_one_person_is_not_two"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_approval_consume_one.sql", _CONSUME,
        ("a refused verdict", "v.run_id = p_run.run_id and v.gate = p_request.gate and v.accepted\n",
         "v.run_id = p_run.run_id and v.gate = p_request.gate\n", "::test_a_refused_verdict_opens_nothing"),
        ("an expired approval", "if verdict.not_after <= v_now then", "if false then",
         "::test_an_expired_approval_opens_nothing"),
        ("a revoked approval",
         "if exists (select from cutter_governance.approval_revocation r where r.approval_sha256 = "
         "verdict.approval_sha256)", "if false", "::test_a_revoked_approval_opens_nothing"),
        ("one person twice",
         "(c.slot = p_slot or c.approver = verdict.approver or c.fingerprint = verdict.fingerprint)",
         "c.slot = p_slot", "::test_one_person_with_two_documents_is_not_two"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_tuple_covers.sql", "integration/storage/test_signed_before.py",
        ("other findings than those of the night",
         "        and p_request.tuple ->> 'findings_digest' = p_statement ->> 'findings_digest'\n", "",
         "::test_one_other_word_covers_nothing"),
        ("another acceptance than that of the night",
         "        and p_request.tuple ->> 'accepted_findings' = p_statement ->> 'accepted_findings'\n", "",
         "::test_one_other_word_covers_nothing"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_approval_consume_one.sql", _CONSUME,
        ("another decision", "when verdict.decision <> 'approve' then", "when false then",
         "::test_only_an_approval_approves"),
        ("another tuple's challenge",
         "else verdict.challenge is distinct from p_request.challenge\n                    or",
         "else", "::test_an_approval_of_a_request_that_is_not_the_open_one_opens_nothing"),
        ("what the writer did not judge",
         "or verdict.challenge is distinct from p_offered ->> 'challenge' end)", "end)",
         "::test_the_exec_worker_names_the_challenge_that_it_verified_itself"),
        ("another digest", "or verdict.writer_digest is distinct from p_request.tuple ->> 'writer_digest'", "",
         "::test_an_approval_of_another_tuple_opens_nothing"),
        ("another epoch's approval", "when verdict.policy_sha256 <> p_epoch.sha256 then", "when false then",
         "::test_an_approval_under_another_policy_epoch_opens_nothing"),
    ),
)  # fmt: skip

CLOSING = (
    *_of(
        f"{_SQL}functions/gates/fn_gate_close.sql", _GATES,
        ("closing another's gate",
         "if receipt.opened_xid is distinct from pg_current_xact_id() or receipt.sealed_at is not null",
         "if receipt.sealed_at is not null", "::test_only_the_transaction_that_opened_a_gate_closes_it"),
        ("a zombie's close", "if p_attempt is distinct from receipt.attempt or p_attempt is distinct from (",
         "if 0 > (",
         "::test_a_zombie_is_refused_when_it_closes_and_its_successor_goes_on"),
        ("more than the declared effect",
         "    if v_drift is not null then\n        return jsonb_build_object('status', 'drift', 'drift', v_drift || ",
         "    if false then\n        return jsonb_build_object('status', 'drift', 'drift', v_drift || ",
         "::test_a_second_survey_outside_the_declared_effect_is_drift"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_pins_refusal.sql", _GATES,
        ("a source that is not registered", "when p_step.pins_source and not exists (",
         "when false and not exists (",
         "::test_the_first_gate_pins_the_registered_source_and_no_other"),
        ("pins that contradict", "where p_pins ? pinned.key and p_pins -> pinned.key <> pinned.value)", "where false)",
         "::test_a_later_gate_does_not_pin_anew_what_an_earlier_one_pinned"),
        ("a result without pins", "when p_pins is null or jsonb_typeof(p_pins) <> 'object'", "when false",
         "::test_a_result_without_pins_is_not_sealed"),
        ("a red finding that the version does not accept", "when p_step.gate = 'IG_mark' and not string_to_array(",
         "when false and not string_to_array(",
         f"{_RED}::test_the_database_seals_no_red_finding_that_the_version_does_not_accept"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_check_receipt.sql", _GATES,
        ("an unsealed gate at COMMIT", "    if receipt.sealed_at is null then\n        raise",
         "    if false then\n        raise", "::test_an_open_gate_that_was_not_sealed_cannot_be_committed"),
        ("a rehearsal at COMMIT", "    if receipt.rehearsal then", "    if false then",
         "::test_a_rehearsal_writes_in_its_transaction_and_can_never_be_committed"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_approved_rows_problem.sql", _GATES,
        ("other rows than approved",
         "if cutter_governance.fn_writer_digest(p_run.docprefix) is distinct from approved.writer_digest", "if false",
         f"{_CONSUME}::test_rows_other_than_the_approved_ones_cannot_be_committed"),
    ),
    *_of(
        f"{_SQL}functions/cut_record/fn_leg_b_problem.sql", _GATES,
        ("leg B with rows left out",
         "if v_blocks <> approved.candidate_count or v_affected <> approved.candidate_count then", "if false then",
         "::test_leg_b_without_one_of_its_rows_is_not_whole"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_check_receipt.sql", _GATES,
        ("a verification without result", "then 'no passing, signed verify_result for its change set' end",
         "then null end", "::test_a_verification_without_its_result_cannot_be_committed"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_check_run_of_row.sql", _GATES,
        ("another run's governance rows", "r.run_id = v_run and r.gate = any (tg_argv)", "r.gate = any (tg_argv)",
         f"{_ALONE}::test_gate_8_of_one_run_writes_nothing_about_another"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_check_run_of_rows.sql", _ALONE,
        ("a block of another run", "                and r.run_id = written.run_id and", "                and",
         "::test_gate_8_of_one_run_writes_no_block_of_another"),
    ),
    *_of(
        f"{_SQL}functions/audit/fn_append_only.sql", _GATES,
        ("altered evidence",
         "raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'CU005';",
         "return null;", f"{_AUDIT}::test_append_only_tables_refuse_even_the_owner_and_the_superuser"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_run_move.sql", _GATES,
        ("a signed stop made an unsigned one",
         "or (cutter_governance.fn_stop_is_signed(v_from) and p_to like 'stopped\\_%'\n        and not "
         "cutter_governance.fn_stop_is_signed(p_to))\n    then", "\n    then",
         f"{_PEOPLE}::test_a_stop_that_needs_a_signature_is_not_turned_into_one_that_needs_none"),
    ),
    *_of(
        f"{_SQL}triggers/run.sql", _PEOPLE,
        ("a request that outlives its run", "when (old.ended_at is null and new.ended_at is not null and",
         "when (false and", "::test_no_request_outlives_its_run"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_run_make.sql", _GATES,
        ("two live runs of a document", "if found and p_mode = 'live' then", "if false then",
         f"{_STORAGE}test_registration.py::"
         "test_a_second_live_run_of_a_document_is_not_registered_and_the_open_one_is_named"),
    ),
)  # fmt: skip

PEOPLE = (
    *_of(
        f"{_SQL}functions/approvals/fn_request_open.sql", _PEOPLE,
        ("a request for ever", "if p_ttl_seconds not between 1 and",
         "if p_ttl_seconds not between -9999999 and 9999999 +",
         "::test_a_request_lives_at_most_as_long_as_its_gate_allows"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_request_refusal.sql", _PEOPLE,
        ("a request of a stopped run", "    if v_code is null and v_stop is not null then", "    if false then",
         "::test_a_new_request_does_not_lift_a_stop"),
        ("a request after its gate",
         "where r.run_id = p_run.run_id and r.gate = v_step.gate and r.sealed_at is not null)",
         "where false)", "::test_a_gate_that_is_sealed_is_not_asked_for_again"),
        ("a request out of its order", "fn_prev_hash(p_run.run_id, v_step.gate) is null",
         "fn_prev_hash(p_run.run_id, v_step.gate) = ''", "::test_a_request_needs_its_predecessor"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_request_approvals.sql", _PEOPLE,
        ("a revoked approval that is counted",
         "\n        and not exists (select from cutter_governance.approval_revocation x where x.approval_sha256 = "
         "v.approval_sha256)", "", f"{_REVOKED}::"
         "test_an_approval_that_was_taken_back_is_counted_no_more_and_the_other_one_still_is"),
        ("an approval of an epoch before that is counted", "and v.policy_sha256 = (select e.sha256",
         "and '' <> (select e.sha256", f"{_REVOKED}::test_an_approval_under_the_epoch_before_is_counted_no_more"),
        ("another request's approval that is counted", "and (v.challenge = p_request.challenge or", "and (true or",
         f"{_REVOKED}::test_what_approves_no_open_request_is_not_counted"),
        ("a refusal of another approval that counts", "and coalesce(t.report ->> 'approval_sha256', v.approval_sha256)",
         "and v.approval_sha256", "workflow/test_messages.py::"
         "test_of_two_approvals_the_one_that_was_taken_back_takes_the_other_one_with_it_no_more"),
        ("an approval that its gate refused is counted", "and t.outcome = 'approval_refused'\n", "and false\n",
         f"{_FACTS}::test_a_genuine_statement_with_another_signature_costs_a_second_approval_only"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_request_end.sql", _PEOPLE,
        ("an early end of a request", "or (p_status = 'expired' and request.expires_at > clock_timestamp())", "",
         "::test_an_open_request_expires_by_the_clock_and_not_by_whoever_says_so"),
        ("a rejection of another request", "and approval_sha256 = p_approval_sha256 and challenge = request.challenge;",
         "and approval_sha256 = p_approval_sha256;", "::test_a_rejection_names_the_open_request"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_run_stop.sql", _PEOPLE,
        ("a cancel after a write", "(p_state <> 'voided_cancelled' or v_wrote\n        or",
         "(p_state <> 'voided_cancelled'\n        or", "::test_a_cancel_ends_only_what_has_written_nothing"),
        ("a report of another drift", "coalesce(v_drift, p_report)", "coalesce(p_report, v_drift)",
         "::test_what_stops_a_run_by_drift_is_reported_as_the_database_sees_it"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_run_resume.sql", _PEOPLE,
        ("a resume without signature", "    if (latch.stopped or cutter_governance.fn_stop_is_signed(v_run.state))",
         "    if cutter_governance.fn_stop_is_signed(v_run.state)",
         "::test_a_latched_stop_needs_a_signature_whatever_the_state"),
        ("an acknowledgement of another drift", "is distinct from verdict.statement ->> 'fingerprint' then",
         "= '' then",
         "::test_an_acknowledgement_of_one_drift_is_none_of_another"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_resume_verdict.sql", _PEOPLE,
        ("a resume of an earlier stop",
         "or verdict.recorded_at <= greatest(p_run.state_at,\n            case when p_needed = 'resume' and "
         "p_latch.stopped then p_latch.set_at end)", "",
         "::test_a_resume_that_was_signed_for_an_earlier_stop_does_not_lift_a_later_one"),
    ),
    *_of(
        f"{_SQL}functions/policy/fn_policy_stop.sql", _PEOPLE,
        ("a stop of an unknown tier", "substring(r.last_error -> 'report' ->> 'tier' from '^(low|medium)$')",
         "r.last_error -> 'report' ->> 'tier'", "::test_a_stop_of_an_unknown_tier_asks_for_the_highest"),
    ),
    *_of(
        f"{_SQL}functions/void/fn_void_open.sql", _PEOPLE,
        ("a void of enacted law", "where run_id = p_run_id and gate = 'IG_lifecycle_enact_execute')\n    then",
         "where false)\n    then", "::test_enacted_law_is_never_voided"),
        ("a void against the policy", "    if v_refusal is not null then", "    if false then",
         f"{_POLICY}::test_a_void_needs_the_policy_s_leave_too"),
        ("a void of an unknown tier", "or coalesce(decision ->> 'tier' not in ('low', 'medium', 'high'), true) then",
         "then", f"{_POLICY}::test_a_void_needs_the_policy_s_leave_too"),
        ("a void that two people must sign", "            then 'SG_lifecycle_authz' else 'SG_cut_authz' end, decision",
         "            then null end, decision",
         f"{_POLICY}::test_a_void_carries_one_signature_and_each_tier_asks_for_as_many_as_the_epoch_says"),
    ),
    *_of(
        f"{_SQL}functions/void/fn_check_void.sql", _PEOPLE,
        ("a void that is left open", "where run_id = new.run_id) is null then",
         "where run_id = new.run_id) = 'infinity' then", "::test_a_void_that_is_not_closed_cannot_be_committed"),
    ),
    *_of(
        f"{_SQL}functions/void/fn_void_close.sql", _PEOPLE,
        ("a void into any state", "or length(p_state) > 47 or p_state = 'voided_cancelled' then", "then",
         "::test_a_signed_void_ends_in_a_bounded_state_of_its_own"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_revocation_record.sql", _PEOPLE,
        ("a revocation from another run", "if (select count(*) > 0 and not bool_or(run_id = p_run_id)",
         "if (select false",
         "integration/attacks/test_revocations.py::test_the_database_itself_revokes_no_approval_of_another_run"),
        ("a revocation too late",
         "if exists (select from cutter_governance.approval_consumption where approval_sha256 = p_approval_sha256) "
         "then", "if false then",
         "integration/attacks/test_revocations.py::test_a_revocation_that_comes_too_late_says_so"),
        ("a revocation during a gate",
         "never in between.\n    perform from cutter_governance.stop_latch where run_id = "
         "p_run_id for update;", "never in between.",
         f"{_CONSUME}::test_a_gate_waits_for_the_revocation_that_came_first"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_action_record.sql", _PEOPLE,
        ("a backup that is only said", "when 'backup' then 'cutter_backup'",
         "when 'backup' then session_user", "::test_only_the_backup_role_says_that_there_is_a_backup"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_action_note.sql", _PEOPLE,
        ("an action done otherwise", "    if existing.payload_sha256 <> p_payload_sha256 and v_digest is null then",
         "    if false then",
         "::test_an_action_is_recorded_once_and_another_payload_is_a_conflict"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_run_outcome.sql", _PEOPLE,
        ("an end by a word",
         "if v_run.ended_at is not null or p_outcome not in ('rehearsed', 'skipped') or (v_run.mode <> 'dryrun'",
         "if v_run.ended_at is not null or (false", "::test_a_live_run_that_has_written_is_not_ended_by_a_word"),
    ),
)  # fmt: skip

UNITS = (
    *_of(
        f"{_SQL}functions/units/fn_iu_gateway_guard.sql", _UNITS,
        ("a write beside the gateway", "tg_op = 'DELETE' or session_user <> 'cutter_exec'", "tg_op = 'DELETE'",
         "::test_the_gateway_refuses_whoever_writes_beside_it"),
        ("a write without an open gate", "    if not found then\n        raise exception 'IU Gateway blocked: % for %:",
         "    if false then\n        raise exception 'IU Gateway blocked: % for %:",
         f"{_ALONE}::test_nothing_is_created_after_the_seal_even_when_the_checks_were_called_forward"),
        ("a write after the seal", "and g.sealed_at is null and g.prev_hash <> ''", "and g.prev_hash <> ''",
         f"{_ALONE}::test_nothing_is_created_after_the_seal_even_when_the_checks_were_called_forward"),
        ("another document's rows", "            and starts_with(v_address, r.docprefix || '/')\n", "",
         f"{_ALONE}::test_an_approval_for_one_document_creates_nothing_under_another_prefix"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_enacted_immutable.sql", _UNITS,
        ("a change of enacted law", "    if old.lifecycle_status <> 'draft'\n", "    if false\n",
         f"{_AUDIT}::test_each_immutability_trigger_refuses_alone"),
    ),
    *_of(
        f"{_SQL}triggers/information_unit.sql", _UNITS,
        ("the guard in replica mode", "enable always trigger trg_iu_enacted_immut_always;",
         "enable trigger trg_iu_enacted_immut_always;",
         f"{_AUDIT}::test_the_twin_holds_in_replica_mode_without_the_gateway_s_guard"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_iu_birth_gate_layer1.sql", _UNITS,
        ("a word that nobody knows", "    if missing is not null then", "    if false then",
         "::test_what_is_not_in_the_vocabulary_is_not_born"),
        ("a unit born as law", "    if new.lifecycle_status <> 'draft' then", "    if false then",
         "::test_units_are_born_as_drafts"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_iu_birth_gate_layer2.sql", _UNITS,
        ("anchors that disagree", "and u.content_anchor_ref = v.id::text and u.lifecycle_status = v.lifecycle_status)",
         ")", "::test_a_unit_that_says_other_than_its_version_is_seen_when_the_transaction_ends"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_iu_apply_edit_draft.sql", _UNITS,
        ("an edit of enacted law", "if not found or unit.lifecycle_status <> 'draft' then", "if not found then",
         "::test_the_edit_function_adds_a_version_to_a_draft_and_refuses_enacted_law"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_enact_refusal.sql", _UNITS,
        ("an enactment by another decision",
         "and d.type = 'lifecycle_enactment' and d.verdict = 'PASS'\n                and c.", "and c.",
         "::test_only_a_lifecycle_decision_enacts"),
        ("an enactment without its approval", "when not p_dry_run and not exists (", "when false and not exists (",
         "::test_nothing_is_enacted_outside_a_transaction_that_consumed_its_approval"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_iu_enact.sql", _UNITS,
        ("a unit outside the change set",
         " or not cutter_governance.fn_affected_as_stored(affected, unit) then", " then",
         "::test_a_unit_outside_the_change_set_is_not_enacted"),
        ("a unit that is ended instead of enacted",
         "(affected.operation = 'repeal') <> (p_target_lifecycle = 'retired')\n                or not", "not",
         "::test_enactment_names_its_reason_to_refuse"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_may_end.sql", _LIVING,
        ("a version that the change set does not end", " and p_old ->> 'id' = a.ended_version_id::text", "",
         "::test_an_enactment_ends_no_version_that_its_change_set_does_not_end"),
        ("the text of an ended version", "and p_new - ended = p_old - ended", "",
         "::test_the_text_of_an_ended_version_never_changes"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_iu_keep.sql", _LIVING,
        ("a kept unit that is not there", "from planned where known)", "from planned)",
         "::test_a_unit_that_is_not_in_force_is_not_kept"),
    ),
    *_of(
        f"{_SQL}triggers/revision_row.sql", _LIVING,
        ("a planned row of another run", "fn_check_run_of_rows('IG_cut_leg_a_execute')",
         "fn_append_only()", "::test_a_row_is_planned_only_for_the_run_whose_leg_a_is_open"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_revision_problem.sql", _LIVING,
        ("rows that were not approved", "is distinct from p_approved_digest", "is null",
         "::test_leg_a_commits_no_rows_but_the_approved_ones"),
        ("a base that is not in force", "    if v_problem is not null then", "    if false then",
         "::test_two_revisions_of_one_base_are_never_both_enacted"),
        ("a planned row that was not enacted", "    if v_as_planned <> v_rows then", "    if false then",
         "::test_an_enactment_is_whole"),
        ("a draft outside the plan", "            then 'a draft is not in the plan' end;", "            then null end;",
         "::test_leg_a_writes_no_draft_outside_the_plan"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_survey.sql", _LIVING,
        ("an acknowledged base that is not in force", "    if v_drift is null and v_base is not null then",
         "    if false then", "::test_a_base_that_changed_stops_the_run_with_drift_of_the_base"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_pins_refusal.sql", _LIVING,
        ("a base of the caller's choice", "'run', e.run_id,", "'run', p_pins -> 'base_run_id',",
         "::test_the_first_gate_cannot_choose_its_base"),
    ),
)  # fmt: skip

REVISIONS = (
    *_of(
        f"{_SQL}triggers/enactment.sql", f"{_ATTACKS}::test_a_grant_too_many_changes_nothing_of_what_was_enacted",
        ("a change of an enactment", "before update or delete or truncate", "before delete or truncate",
         "[the base of an enactment]"),
    ),
    *_of(
        f"{_SQL}triggers/revision_row.sql", f"{_ATTACKS}::test_a_grant_too_many_changes_nothing_of_what_was_enacted",
        ("a change of a plan", "before update or delete or truncate", "before delete or truncate",
         "[the plan of a revision]"),
        ("a plan that is emptied", "before update or delete or truncate", "before update or delete",
         "[a plan that is gone]"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_may_end.sql", _ATTACKS,
        ("an end after the enactment", "where g.opened_xid = pg_current_xact_id() and g.sealed_at is null and",
         "where", "::test_no_version_ends_outside_the_enactment_that_is_open"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_close.sql", _ATTACKS,
        ("an end without its successor", "receipt.before_pins, p_result), v_survey);\n    if v_drift is not null then",
         "receipt.before_pins, p_result), v_survey);\n    if false then",
         "::test_a_version_that_ends_without_its_successor_is_not_sealed"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_base_problem.sql", _ATTACKS,
        ("a base that is not as it was sealed", "when newest.run_id is not null and (g.receipt_hash",
         "when false and (g.receipt_hash", "::test_a_base_that_is_not_as_it_was_sealed_opens_no_gate"),
    ),
    *_of(
        f"{_SQL}migrations/0009_living_law.sql", _ATTACKS,
        ("two successors of one base in the table",
         "constraint enactment_once_for_each_base unique nulls not distinct (source_document_ref, base_run_id),",
         "constraint enactment_once_for_each_base check (true),", "::test_a_base_has_one_successor_in_the_table_too"),
    ),
    *_of(
        f"{_SQL}functions/survey/fn_revision_digest.sql", _ATTACKS,
        ("a digest of another base",
         "concat_ws(E'\\x1f', r.operation_kind, r.base_source_version_id, r.base_receipt_hash)", "r.operation_kind",
         f"{_LIVING}::test_the_approved_rows_of_a_revision_commit"),
    ),
    *_of(
        "cutter/marking/revision.py", _LIVING,
        ("an approval that fits two bases",
         ".encode())\n    head = UNIT_SEPARATOR.join((base.operation_kind, base.source_version_id, base.receipt_hash))",
         ".encode())\n    head = base.operation_kind",
         "::test_an_approval_of_an_earlier_revision_approves_no_later_one"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_approval_consume_one.sql", _ATTACKS,
        ("an approval of an earlier revision", "where v.run_id = p_run.run_id and v.gate", "where v.gate",
         "::test_the_approvals_of_an_earlier_revision_open_neither_gate_of_a_later_one"),
    ),
    *_of(
        "cutter/approvals/verify.py", "workflow/test_batches_of_revisions.py",
        ("an approval for an earlier base", "if wanted is None or getattr(claims, field) != wanted:",
         "if False:", "::test_an_approval_for_an_earlier_base_enacts_nothing_in_the_night"),
    ),
    *_of(
        f"{_SQL}functions/units/fn_law_of.sql", f"{_STORAGE}test_backfill_of_living_law.py",
        ("a law from before revisions", "select a.unit_version_id from", "select null::uuid from",
         "::test_a_law_that_was_enacted_before_the_migration_is_revised_after_it"),
    ),
    *_of(
        f"{_SQL}functions/batches/fn_item_kept_out.sql", _IN_BATCHES,
        ("a failed revision of an enacted law", " and e.enacted_at > coalesce((",
         " and e.enacted_at > least('-infinity', (",
         "::test_a_revision_that_failed_is_left_out_until_somebody_signs_or_a_later_one_is_enacted"),
    ),
    *_of(
        f"{_SQL}queries/batch.sql", _IN_BATCHES,
        ("a failure before the last enactment", "and r.created_at > coalesce((",
         "and r.created_at > least('-infinity', (",
         "::test_a_revision_that_failed_is_left_out_until_somebody_signs_or_a_later_one_is_enacted"),
    ),
    *_of(
        f"{_SQL}functions/sources/fn_source_register.sql", _IN_BATCHES,
        ("an older version for the newest", "and v.version_seq = (select max", "and v.version_seq <= (select max",
         "::test_a_text_that_is_registered_again_is_the_newest_version"),
    ),
)  # fmt: skip

TABLES = (
    *_of(
        f"{_SQL}migrations/0001_sources_and_units.sql", _UNITS,
        ("an address of another form", "check (canonical_address ~ '^[A-Z0-9-]+(/[A-Za-z0-9~._-]+)+$')",
         "check (true)", "::test_an_address_has_one_form"),
        ("a title over two lines", "identity_profile ->> 'title' !~ '[\\n\\x1f]')", "true)",
         "::test_a_title_that_would_break_a_digest_line_is_refused"),
        ("a reserved prefix", "check (address_docprefix !~ '^DIEU' and address_docprefix <> 'ICX-CONST')",
         "check (true)", f"{_PEOPLE}::test_the_database_too_refuses_a_reserved_prefix"),
    ),
    *_of(
        f"{_SQL}migrations/0002_gates_and_runs.sql", _AUDIT,
        ("a hash of something else", "receipt_hash is null or receipt_hash = encode(",
         "true or receipt_hash = encode(", "::test_a_hash_that_is_not_of_its_body_cannot_even_be_stored"),
        ("two live runs in the table", "create unique index run_active_document on",
         "create index run_active_document on",
         f"{_STORAGE}test_registration.py::test_the_tables_own_indexes_hold_one_live_run"),
    ),
    *_of(
        "starter/commands/run.py", "workflow/test_outages.py",
        ("a resume that an outage waits for", "execution is not None and not execution.in_outage",
         "execution is not None",
         "::test_a_resume_reaches_an_approved_run_in_an_outage_although_no_exec_worker_beats"),
    ),
    *_of(
        f"{_SQL}functions/workers/fn_worker_beat.sql", f"{_STORAGE}test_worker_rows.py",
        ("another role's heartbeat", "if seen.owner <> session_user then", "if false then",
         "::test_nobody_beats_for_a_worker_of_another_role"),
        ("a worker of no queue", "    if v_role is null then", "    if false then",
         "::test_who_serves_no_queue_registers_no_worker"),
        ("workers that never end", ">= 1000\n        then", ">= 1000000\n        then",
         "::test_rows_of_a_week_ago_go_and_a_role_has_a_thousand_at_most"),
        ("a crash loop's rows without end", "worker_id offset 1000);", "worker_id offset 1000000);",
         "::test_a_crash_loop_keeps_no_worker_out_and_its_rows_do_not_grow"),
        ("a crash loop that keeps others out", "            where owner = session_user and state <> 'shutdown') >=",
         "            where owner = session_user) >=",
         "::test_a_crash_loop_keeps_no_worker_out_and_its_rows_do_not_grow"),
    ),
    *_of(
        f"{_SQL}functions/workers/fn_workers_judge.sql", f"{_STORAGE}test_worker_rows.py",
        ("a start that never ended", "where state <> 'shutdown' and seen_at",
         "where state <> 'initializing' and seen_at",
         "::test_one_that_never_came_to_serve_is_closed_after_ten_minutes"),
    ),
    *_of(
        f"{_SQL}migrations/0002_gates_and_runs.sql", _GATES,
        ("a gate that seals over a stop",
         "create table cutter_governance.gate_receipt (\n    run_id text not null references cutter_governance.run,",
         "create table cutter_governance.gate_receipt (\n    run_id text not null,",
         "::test_an_outage_s_stop_waits_for_the_open_gate_so_that_none_seals_over_it"),
    ),
    *_of(
        f"{_SQL}functions/decisions/fn_review_decision_once.sql", f"{_STORAGE}test_review_decisions.py",
        ("a decision that is made twice", "if old.verdict = 'PENDING' and decided.verdict", "if decided.verdict",
         "::test_a_decision_is_made_once"),
        ("a decision that nobody made", "and decided.verdict <> 'PENDING'\n", "\n",
         "::test_a_pending_decision_is_decided_by_no_statement"),
    ),
    *_of(
        f"{_SQL}functions/decisions/fn_review_decision_begins.sql", f"{_STORAGE}test_review_decisions.py",
        ("a verdict that is written with its row", "    new.verdict := 'PENDING';\n", "",
         "::test_a_verdict_in_an_insert_is_not_taken_over"),
    ),
    *_of(
        f"{_SQL}functions/decisions/fn_request_decides.sql", f"{_STORAGE}test_review_decisions.py",
        ("pins that follow a change before the decision", "    if v_as_pinned then", "    if true then",
         "::test_a_decision_that_was_changed_before_the_approval_is_drift_all_the_same"),
    ),
    *_of(
        f"{_SQL}functions/notifications/fn_notification_enter.sql", f"{_STORAGE}test_slack_outbox.py",
        ("an answer to a card that was given up", "(asked.done_at is not null or asked.in_doubt is not true)",
         "asked.in_doubt is not true",
         "::test_the_answer_to_a_card_that_was_given_up_in_doubt_waits_for_nothing[given_up]"),
    ),
    *_of(
        f"{_SQL}functions/notifications/fn_notification_failed.sql", f"{_STORAGE}test_slack_outbox.py",
        ("an answer that waits for a card given up later", "where d.id = p_id and", "where false and",
         "::test_the_answer_to_a_card_that_was_given_up_in_doubt_waits_for_nothing[decided]"),
    ),
    *_of(
        "worker.py", "acceptance/cli/test_workers.py",
        ("a start that failed and says nothing", "exits.push_async_callback(presence.say, SHUTDOWN)", "pass",
         "::test_a_build_that_cannot_serve_says_that_it_leaves"),
        ("a worker that keeps unused memory", "        await asyncio.to_thread(give_back)", "        pass",
         "::test_a_worker_gives_unused_memory_back_while_it_serves"),
    ),
    *_of(
        "worker.py", "acceptance/test_worker_memory.py",
        ("an arena for each thread", "    limit_arenas()\n", "",
         "::test_the_threads_of_a_worker_share_a_few_arenas"),
    ),
    *_of(
        "activities/worker/process.py", "acceptance/test_worker_memory.py",
        ("free pages that a worker keeps", "        trim(0)", "        pass",
         "::test_free_pages_between_used_ones_go_back_to_the_system"),
    ),
    *_of(
        "cutter/storage/grants.yaml", _ALONE,
        ("a reader who may write units", "      - cutter_governance.fn_run_version\n",
         "      - cutter_governance.fn_run_version\n      - public.fn_iu_create\n",
         "::test_cutter_read_neither_writes_units_nor_consumes"),
        ("a writer who may record verdicts and open requests",
         "  cutter_backup:\n    EXECUTE:\n      - *gate_functions\n",
         "  cutter_backup:\n    EXECUTE:\n      - *gate_functions\n      - cutter_governance.fn_request_open\n",
         "::test_no_statement_of_a_role_gets_around_the_gates"),
    ),
)  # fmt: skip

APPROVALS = (
    *_of(
        "cutter/approvals/signed_list.py", _LISTS,
        ("a place that a signed list does not have",
         "if place.index >= place.count or len(place.siblings) != _depth(place):", "if False:",
         "::test_a_signature_file_of_a_list_has_one_form"),
        ("a statement at the place of another one", "    if index < middle:\n        return _node(_root(",
         "    if True:\n        return _node(_root(",
         "::test_each_statement_of_a_list_proves_the_head_that_was_signed"),
        ("a list with more statements than were signed", "statements: {count}\\n", "statements: any\\n",
         "::test_a_statement_that_is_not_at_its_place_proves_another_head"),
    ),
    *_of(
        "cutter/approvals/reader.py", "unit/approvals/test_gpg_answers.py",
        ("an old answer about a signature", "if self._clock() - at < limits.LIST_ANSWER_SECONDS:", "if at > 0:",
         "::test_an_answer_is_used_again_until_its_time_is_over"),
        ("an answer that decided nothing", "if answer.unverifiable is None:", "if True:",
         "::test_what_gpg_could_not_judge_is_asked_again"),
    ),
    *_of(
        "cutter/evidence/offline/notation.py", _LISTS,
        ("a place outside of a signed list", "if not 0 <= index < count or (count == 1) != (not siblings):",
         "if False:", "::test_a_signature_file_of_a_list_has_one_form"),
    ),
    *_of(
        "cutter/approvals/verify.py", _VERIFY,
        ("step 2: our own document", "if case.expected.written_by_us:", "if False:", "[our own document]"),
        ("step 3: two signatures", "if len(evidence.records) != 1:", "if not evidence.records:", "[gpg sees two]"),
        ("step 3: a bad signature", "if record.outcomes[0] is not Outcome.GOOD:", "if False:", "[wrong signature]"),
        ("step 3: good beside expired", "if len(record.outcomes) != 1:", "if not record.outcomes:",
         "[good beside expired]"),
        ("step 3: no full fingerprint", "if record.primary_fingerprint is None or record.created is None:",
         "if False:", "[good without VALIDSIG]"),
        ("step 3: a text signature", "if signature.signature_class != _BINARY_DOCUMENT:", "if False:",
         "[text class, says gpg]"),
        ("step 3: a weak digest", "if signature.digest_algorithm not in STRONG_DIGESTS:", "if False:",
         "[SHA-1 on both sides]"),
        ("step 3: another gate's approver", "if case.expected.gate not in approver.gates or", "if",
         "[no gates at all]"),
        ("step 3: from the future", "if record.created > now + timedelta(seconds=limits.CLOCK_SKEW_SECONDS):",
         "if False:", "[future signature]"),
        ("step 3: an approver's dates", "if not (approver.within(now) and approver.within(record.created)):",
         "if False:", "[approver's time is over]"),
        ("step 5: a decision not awaited", "if claims.decision not in expected.decisions:", "if False:",
         "[decision not awaited]"),
        ("step 5: another binding", "if claims.binding not in expected.bindings:", "if False:",
         "[tuple where only run counts]"),
        ("step 5: another value", "if wanted is None or getattr(claims, field) != wanted:", "if wanted is None:",
         "[other run]"),
        ("step 5: another challenge", "if claims.challenge is not None and (", "if False and (", "[other challenge]"),
        ("step 6: expired", "if claims.not_after <= expected.now:", "if False:", "[expired this second]"),
        ("step 6: another time than signed", "if not earliest <= claims.signed_utc <= latest:", "if False:",
         "[signed_utc too early]"),
        ("step 6: a life too long", "if claims.not_after > min(claims.signed_utc, created) + life:", "if False:",
         "[a second too long]"),
        ("step 6: an expired request", "if is_answer and (", "if False and (",
         "[request expired this second]"),
        ("step 6: signed before the stop", "if not_before is not None and", "if False and",
         "[before the stop that it lifts]"),
        ("step 6: revoked", "if expected.revoked:", "if False:", "[revoked]"),
        ("step 6: another run has used it", "if expected.consumed_by_another:", "if False:", "[spent]"),
        ("step 7: another's name", "if claims.approver != approver.name:", "if False:", "[another's name]"),
        ("step 7: who started it", "if claims.approver == case.expected.starter:", "if False:", "[the starter]"),
        ("step 7: one person, two slots",
         " and verdict.approval_sha256 not in documents:", ":",
         "unit/approvals/test_approval_verify.py::test_one_document_fills_one_slot"),
        ("step 8: a used decision", "if row.used:", "if False:", "[a used decision]"),
        ("step 8: another group", "if row.actor_group not in approver.groups:", "if False:",
         "[another group's decision]"),
        ("step 8: not fresh", "return None if fresh else", "return None if True else",
         "[not the request's own]"),
    ),
    *_of(
        "cutter/approvals/statement.py", _STATEMENT,
        ("a field twice", "if name in fields:", "if False:", "::test_no_field_may_repeat"),
        ("an unknown field", "        if name not in schema.FORMS:\n",
         "        if name not in schema.FORMS:\n            continue\n        if name not in schema.FORMS:\n",
         "::test_an_unknown_field_is_named_with_its_line"),
        ("a hidden character", 'if character == "\\t" or not is_hidden(character):', "if True:", _FORMS),
        ("text in another normal form", 'if not unicodedata.is_normalized("NFC", text):', "if False:", _FORMS),
        ("a statement without bound", "if len(body) > limits.STATEMENT_BYTES_MAX:", "if False:", _FORMS),
    ),
)  # fmt: skip

BATCHES = (
    *_of(
        "cutter/plain_yaml.py", _QUEUE,
        ("anchors", 'if getattr(event, "anchor", None):', "if False:",
         f"{_PLAIN}[created_by: ops@example-created_by: &a ops@example-3-anchors]"),
        ("tags", 'if getattr(event, "tag", None):', "if False:", _PLAIN),
        ("a key twice", "elif key.text in keys:", "elif False:", _PLAIN),
        ("depth", "if depth > limits.YAML_DEPTH_MAX:", "if False:", "::test_deep_nesting_is_refused_before_it_is_read"),
        ("a second document", "if not isinstance(after, yaml.StreamEndEvent):", "if False:", _PLAIN),
        ("a line that looks other than it is read", "for match in _MISLEADING.finditer(text):", "for match in ():",
         "::test_a_comment_that_looks_other_than_it_is_read_is_refused_with_its_line"),
        ("flaws without end", "if len(self.flaws) >= limits.YAML_FLAWS_MAX:", "if False:",
         "::test_the_first_hostile_lines_end_the_reading"),
    ),
    *_of(
        "cutter/batch/queue.py", _QUEUE,
        ("too many documents", "if len(items) > items_max:", "if False:",
         "::test_a_hundred_documents_by_default_ten_thousand_by_setting_and_no_more"),
        ("too many bytes", "if len(data) > _bytes_max(len(items)):", "if False:",
         "::test_the_file_has_at_most_64_kib_for_each_hundred_documents"),
        ("a document twice", "if first is not entry:", "if False:", "::test_a_document_stands_once"),
        ("a cycle",
         "for circle in circles({name: [need.text for need in entry.needs] for name, entry in by_name.items()}):",
         "for circle in ():", "::test_a_cycle_is_named_with_its_way"),
        ("a secret in a line", 'reading.note_flaws(sensitive_lines(data.decode("utf-8", "replace")))', "pass",
         "unit/batch/test_queue_secrets.py::test_a_secret_is_refused_in_every_place_and_never_shown"),
    ),
    *_of(
        "cutter/batch/plan.py", "property/test_batch_properties.py",
        ("more than the lanes", "return min(lanes - planning, ", "return max(0, ",
         "::test_every_night_comes_to_an_end_within_its_lanes"),
        ("what it depends on", "[item for item in pending if good.issuperset(item.depends_on)]", "pending",
         "unit/batch/test_batch_plan.py::test_a_dependent_begins_when_all_it_needs_is_law"),
    ),
    *_of(
        "cutter/batch/batch_step.py", "unit/batch/test_batch_step.py",
        ("a halted batch that never ends", "(view.halted_seconds or 0.0) > HEARD_BY_SECONDS",
         "False", "::test_a_halted_batch_ends_although_a_document_comes_to_no_stop"),
    ),
    *_of(
        "cutter/batch/batch_step.py", "unit/batch/test_batch_step.py",
        ("a signature beyond the lanes", 'item.included or (item.decided == "blocked"',
         '(item.decided == "blocked"', "::test_what_signatures_take_in_again_keeps_to_the_lanes_and_the_window"),
        ("blocked once, blocked for ever", " and item.run_id is None and not item.kept_out)", " and False)",
         "::test_what_was_blocked_begins_when_its_dependency_becomes_law_after_all"),
        ("over before the last has begun", "bool(signed or plan.startable(planned))", "bool(signed)",
         "::test_what_was_blocked_begins_when_its_dependency_becomes_law_after_all"),
        ("stops without end", "return stopped[: limits.BATCH_ORDERS_AT_ONCE]", "return stopped",
         "::test_a_halt_stops_some_documents_at_each_look"),
        ("starts without end", "some = opened[: limits.BATCH_ORDERS_AT_ONCE]", "some = opened",
         "::test_open_items_are_named_again_in_parts"),
    ),
    *_of(
        "cutter/batch/batch_step.py", "unit/batch/test_ways.py",
        ("a halt because of what a halt has stopped", "if stopped_by_the_batch(item))}", "if False)}",
         "::test_what_the_batch_itself_has_stopped_does_not_halt_it_again"),
    ),
    *_of(
        "cutter/batch/item.py", "unit/batch/test_batch_state.py",
        ("a failure that is a person's stop", "(Outcome.FAILED, Outcome.STOPPED) and self.held_at is None",
         "(Outcome.FAILED, Outcome.STOPPED)", "::test_a_stop_by_a_person_stops_nothing_else"),
    ),
    *_of(
        "cutter/batch/plan.py", "unit/batch/test_batch_plan.py",
        ("a document that a person holds blocks nothing", "and not item.stands and item.held_at is None",
         "and not item.stands", "::test_what_a_person_holds_blocks_nothing"),
    ),
    *_of(
        "cutter/batch/ways.py", "unit/batch/test_ways.py",
        ("a resume that is undone at once", "    if halt is not None:", "    if False:",
         "::test_a_document_that_stopped_under_strict_is_seen_to_before_the_batch_is_resumed"),
        ("drafts under a second cut", "    if run.wrote:", "    if False:",
         "::test_drafts_are_withdrawn_before_a_document_is_cut_again"),
    ),
    *_of(
        "cutter/batch/ways.py", "unit/batch/test_ways.py",
        ("a busy document, asked again and again", " and not item.open_run", "",
         "::test_what_another_run_holds_up_is_not_asked_again_before_that_run_has_ended"),
    ),
    *_of(
        "cutter/batch/admission.py", "unit/batch/test_queue_admission.py",
        ("a text that is cut in another scope", "if facts.scope not in (None, wanted):", "if False:",
         "::test_a_document_that_would_be_cut_in_another_scope_is_refused_with_both_ways_out"),
        ("a request to nobody", "item.actor is not None and item.actor not in approvers", "False",
         "::test_an_actor_whom_the_policy_does_not_know_is_refused_and_without_a_policy_nobody_is"),
    ),
    *_of(
        "workflows/batch.py", "workflow/test_batch_resumed_late.py",
        ("a set that nobody follows", "if step.over and not await self._goes_on():", "if step.over:",
         "::test_a_set_that_is_judged_after_the_last_look_at_its_batch_is_followed_to_its_end"),
    ),
    *_of(
        f"{_SQL}functions/sources/fn_vocabulary_extend.sql", f"{_STORAGE}test_vocabulary.py",
        ("a word of a vocabulary that is fixed",
         "where f.family not in ('owner', 'publication_type', 'unit_kind')\n        or coalesce", "where coalesce",
         "::test_other_vocabularies_and_forms_of_words_are_refused_and_nothing_is_added"),
    ),
    *_of(
        "cutter/storage/sql/queries/batch.sql", _REVOKED,
        ("an approval before the night that no longer holds", "and t.code is null and e.code is null as good",
         "and t.code is null as good", "::test_an_approval_under_the_epoch_before_is_counted_no_more"),
    ),
    *_of(
        "activities/gates/runner.py", "workflow/test_outages.py",
        ("a run's cap over a lower one of the worker",
         "cap = min(cap, attempt.run.caps", "cap = max(cap, attempt.run.caps",
         "::test_a_lower_soft_cap_of_the_worker_holds_against_the_run_s"),
    ),
    *_of(
        "activities/gates/verified_approvals.py", _FORGED,
        ("a resume that nobody signed", "    approval_judge.require_signed_orders(deps, Role.EXEC, facts)\n", "",
         "::test_a_stop_that_nobody_s_signature_lifted_writes_nothing"),
        ("a resume while a writer verifies", "if orders is not None and _digests(", "if True or _digests(",
         "::test_a_resume_that_comes_while_a_writer_verifies_is_verified_by_its_next_attempt"),
    ),
    *_of(
        "activities/approval_judge.py", _FORGED,
        ("a resume of another document", "if verdict.approval_sha256 != order.statement_sha256", "if False",
         "::test_a_document_that_is_another_than_was_used_lifts_nothing"),
        ("a resume from before the stop", "stopped_at=_moment(order.stopped_at)", "stopped_at=None",
         "::test_a_resume_that_was_signed_before_a_stop_does_not_lift_it_whatever_it_is_called"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_run_orders.sql", _FORGED,
        ("the epoch that a verdict names", "'policy_sha256', (select e.sha256 from cutter_governance.policy_epoch e"
         " where e.installed_at <= v.recorded_at\n            order by e.number desc limit 1)",
         "'policy_sha256', v.policy_sha256",
         "::test_the_epoch_that_is_in_force_counts_and_not_the_one_that_the_verdict_names"),
        ("the stop that a resume was for", "'stopped_state', o.stopped_state", "'stopped_state', 'stopped_hard_cap'",
         "::test_a_genuine_resume_of_another_stop_does_not_lift_this_one"),
        ("the gate that a verdict names",
         "'gate', case when exists (select from cutter_governance.gate_receipt r where",
         "'gate', v.gate, 'x', case when exists (select from cutter_governance.gate_receipt r where",
         "::test_an_order_of_one_gate_s_approver_is_judged_by_the_gate_that_was_ahead"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_stopped_at.sql", _FORGED,
        ("a stop that was made again", "greatest(r.state_at, case when l.stopped then l.set_at end)", "r.state_at",
         "::test_a_stop_is_no_older_for_a_state_that_the_run_had_already_stopped_in"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_run_stop.sql", _FORGED,
        ("a signed stop as a policy's", "or p_state like 'stopped\\_policy\\_%'", "",
         "::test_a_signed_stop_does_not_become_a_policy_s_that_old_approvals_lift"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_ended_by_people_at.sql", _FORGED,
        ("what people ended in a batch", "where e.chain = other.run_id and e.kind = 'stop'", "where false",
         "::test_what_was_signed_for_a_batch_is_not_for_a_second_run_after_people_ended_the_first"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_run_register.sql", "integration/storage/test_registration.py",
        ("a run that names a batch", "if p_batch_id is not null and not exists (", "if false and not exists (",
         "::test_a_run_that_its_batch_has_not_made_is_none_of_it"),
    ),
    *_of(
        "cutter/stack/postgres.py", "integration/stack/test_embedded_postgres.py",
        ("a recovery that is begun anew", "if alive(process) or addresses", "if addresses",
         "::test_a_server_that_still_recovers_is_not_begun_anew"),
    ),
    *_of(
        "activities/batch/approval_set.py", _STORAGE,
        ("a set that refuses what a killed worker had judged", "view.without_approvals()", "view",
         f"{_STORAGE}test_work_of_a_document.py::"
         "test_a_set_that_is_judged_again_takes_what_a_killed_worker_had_judged"),
        ("a set that misses what is approved", "covered |= {item.document_id for item in view.items if item.approved}",
         "pass",
         f"{_STORAGE}test_work_of_a_document.py::"
         "test_a_set_that_is_judged_again_takes_what_a_killed_worker_had_judged"),
    ),
    *_of(
        "starter/approver/session_requests.py", _STORAGE,
        ("a session that reads what is not there yet", "batch_step.waiting_at(view, gate) if item.request_kb_id",
         "batch_step.waiting_at(view, gate)", f"{_STORAGE}test_work_of_a_document.py::"
         "test_a_signing_session_leaves_out_a_request_that_the_worker_has_not_put_yet"),
        ("a session that takes the same ones again", "sorted(rows, key=lambda asked: asked[0].signed)", "rows",
         f"{_STORAGE}test_work_of_a_document.py::"
         "test_the_first_of_two_people_finds_those_that_nobody_has_signed_first"),
        ("a session that offers what its approver has signed", "item.run_id in mine and item.signed > 0", "False",
         f"{_STORAGE}test_work_of_a_document.py::test_a_session_leaves_out_what_its_approver_has_signed"),
        ("a rehearsal that offers what its approver has signed",
         "item, item.document_id in mine)", "item, False)",
         f"{_STORAGE}test_work_of_a_document.py::test_a_session_leaves_out_what_its_approver_has_signed_in_advance"),
    ),
    *_of(
        "starter/approver/session_requests.py", _STORAGE,
        ("a session that believes what a statement says of its signer",
         "statement.parse(document.body) if is_signed else None", "statement.parse(document.body)",
         f"{_STORAGE}test_work_of_a_document.py::test_a_session_offers_what_only_another_key_has_signed_in_advance"),
        ("a session that takes an approval of another document", "approval.document_id, approval.request_sha256,",
         "item.document_id, request,",
         f"{_STORAGE}test_work_of_a_document.py::test_a_copy_of_an_approval_hides_no_other_document"),
        ("a session that takes an approval of an earlier text", "approval.request_sha256,", "request,",
         f"{_STORAGE}test_work_of_a_document.py::test_an_approval_of_an_earlier_request_hides_no_document"),
        ("a session that waits for as many statements as there are", "if monotonic() > end:", "if False:",
         f"{_STORAGE}test_work_of_a_document.py::test_the_look_for_signatures_ends"),
        ("a session that reads the oldest statements", "name.startswith(later)), reverse=True)",
         "name.startswith(later)))", f"{_STORAGE}test_work_of_a_document.py::test_the_look_for_signatures_ends"),
        ("a session that reads every statement in a signer's name", "own[: limits.SIGNED_LOOK_STATEMENTS]", "own",
         f"{_STORAGE}test_work_of_a_document.py::test_the_look_for_signatures_ends"),
    ),
    *_of(
        f"{_SQL}functions/batches/fn_batch_view.sql", _STORAGE,
        ("a request that nobody can read yet", "where o.kb_id = a.kb_id and o.done_at is not null)",
         "where o.kb_id = a.kb_id)",
         f"{_NIGHT}::test_a_batch_shows_a_request_after_it_was_put"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_people_signed.sql", _STORAGE,
        ("one signer by two keys in a batch", "least(count(distinct v.fingerprint), count(distinct v.approver))",
         "count(distinct v.fingerprint)", f"{_NIGHT}::test_one_person_whose_key_was_rotated_is_one"),
    ),
    *_of(
        f"{_SQL}functions/batches/fn_batch_item_start.sql", _STORAGE,
        ("two open runs of a document", "where document_id = p_document_id and ended_at is null order by",
         "where false order by", f"{_STORAGE}test_registration.py::"
         "test_a_batch_starts_no_run_beside_an_open_one_whatever_the_modes"),
    ),
    *_of(
        f"{_SQL}functions/void/fn_void_close.sql", _STORAGE,
        ("a void that leaves drafts standing", "    if v_drafts > 0 then", "    if false then",
         f"{_PEOPLE}::test_a_void_that_leaves_drafts_standing_cannot_be_closed"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_action_record.sql", _STORAGE,
        ("a receipt that another role needs", "    if v_role is distinct from session_user then", "    if false then",
         f"{_PEOPLE}::test_nobody_spoils_a_receipt_that_another_role_will_need"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_stop_set.sql", _STORAGE,
        ("a halt that waits for a gate", "    if not p_wait then", "    if false then",
         f"{_STORAGE}test_batch_steps.py::test_a_gate_that_holds_its_latch_keeps_back_neither_the_halt_nor_the_others"),
    ),
    *_of(
        f"{_SQL}functions/batches/fn_batch_halt.sql", "workflow/test_batch_resumed_late.py",
        ("a worker that lifts a halt", "if p_halted is null and session_user = 'cutter_read' then", "if false then",
         "::test_no_worker_lets_go_on_what_a_person_halted"),
        ("a cap that outweighs a person's stop", "and not (p_halted = 'stop' and v_before = 'hard_cap')", "",
         "::test_a_persons_stop_outweighs_the_cap_and_a_cancel_all"),
    ),
    *_of(
        "activities/run/approval_requests.py", _REVOKED,
        ("an approval of an epoch before, sent again", "verdict = _as_recorded(deps, input, verdict)", "pass",
         "::test_an_approval_under_the_epoch_before_is_counted_no_more"),
    ),
    *_of(
        "activities/batch/advance.py", "workflow/test_batch_policies.py",
        ("a document that nobody drives", ", *_silent(deps, view)]", "]",
         "::test_a_document_whose_workflow_was_terminated_goes_on_while_its_batch_does"),
        ("what people changed unheard", "view = watch.seen(connection, whole=not input.seen)",
         "view = watch.seen(connection)",
         "integration/storage/test_batch_steps.py::test_a_step_that_people_asked_for_reads_what_nobody_named"),
        ("an end by an old view", "view = watch.seen(connection, whole=True)", "view = watch.seen(connection)",
         "integration/storage/test_batch_steps.py::test_a_batch_that_seems_over_is_read_as_a_whole_first"),
    ),
    *_of(
        "activities/worker/batch_watch.py", "integration/storage/test_batch_watch.py",
        ("a change that nobody names", "or monotonic() > self.whole_again:", "or False:",
         "::test_facts_that_nobody_names_are_read_after_a_while"),
        ("a view without the changes of a failed look", "self.view, self.changed = None, set()\n",
         "self.changed = set()\n", "::test_a_look_that_fails_leaves_no_view_that_lacks_changes"),
        ("a batch that changed as a whole", 'if "" in own:', "if False:",
         "::test_a_change_of_the_batch_itself_and_a_request_of_people_read_everything_again"),
        ("names without end", "if whole or many or view is None", "if whole or view is None",
         "::test_too_many_changes_read_everything_again"),
        ("a flood that is read to its end", "for _ in range(limits.WATCH_READS):", "while True:",
         "::test_a_flood_of_notifications_is_read_in_parts"),
        ("a watch after a failure", "                watch.close()\n                raise\n", "                raise\n",
         "::test_after_a_failure_nothing_is_kept"),
        ("a connection that broke unheard", "        watch.hear(0)\n    except", "        pass\n    except",
         "::test_a_broken_connection_is_replaced"),
        ("a connection that was lost without an error", "if monotonic() - watch.opened > limits.STEER_SECONDS:",
         "if False:", "::test_an_old_connection_is_replaced"),
        ("connections without end", "if full and self._kept else []", "if False else []",
         "::test_the_oldest_watch_makes_room"),
        ("a watch that nobody takes", "                timer.start()\n", "",
         "::test_a_watch_that_no_step_takes_is_closed"),
    ),
    *_of(
        f"{_SQL}triggers/batch_item.sql", "integration/storage/test_batch_watch.py",
        ("a decided item unheard", "after update of decided on", "after update of kept_out on",
         "::test_a_look_reads_only_the_document_that_has_changed"),
        ("a batch that wakes itself", "when (old.decided is distinct from new.decided) ", "",
         "::test_the_same_decision_again_is_not_named"),
    ),
    *_of(
        f"{_SQL}triggers/batch_queue.sql", "integration/storage/test_batch_watch.py",
        ("a queued item unheard", "after insert or update on cutter_governance.batch_queue\n    for each row execute "
         "function cutter_governance.fn_batch_notify()", "after update on cutter_governance.batch_queue\n    for "
         "each row execute function cutter_governance.fn_batch_notify()",
         "::test_a_look_reads_only_the_document_that_has_changed"),
    ),
    *_of(
        f"{_SQL}triggers/outbox.sql", "integration/storage/test_batch_watch.py",
        ("a request that is put unheard", "new.kind = 'request' and", "new.kind = 'none' and",
         "::test_a_request_that_is_put_is_heard_too"),
    ),
    *_of(
        "starter/approver/signing_desk.py", "integration/attacks/test_writers_of_the_knowledge_base.py",
        ("another run's request", "    if not is_own:", "    if False:",
         "::test_a_genuine_request_of_another_run_is_not_signed_in_its_place"),
        ("a request that shows something else", "        if here != there:", "        if False:",
         "integration/attacks/test_shown_and_signed.py::test_a_request_that_says_something_else_is_not_signed"),
        ("stored rows that are not the plan's", "    if view.stored_differences:", "    if False:",
         "integration/attacks/test_shown_and_signed.py::test_a_stored_unit_that_is_not_the_planned_one_is_not_signed"),
        ("an altered request as one that is over", "        if is_open or not", "        if not", _OVER),
    ),
    *_of(
        "starter/approver/session.py", "unit/starter/test_signing_screens.py",
        ("a request that nobody opened", "        if asked.key not in self.journal.ledger.opened:\n            return",
         "        if False:\n            return", "::test_nothing_is_approved_before_it_was_opened"),
        ("a request that differs here", "        if asked.key in self.refused:\n            return f",
         "        if False:\n            return f",
         "::test_a_request_that_this_machine_computes_otherwise_is_refused"),
    ),
    *_of(
        "starter/operator/request_state.py", "unit/starter/test_rejections.py",
        ("a reason from a file that was not judged", " if sha256_hex(body) == approval_sha256 else None", "",
         "::test_a_file_that_was_not_judged_gives_no_reason"),
    ),
    *_of(
        "starter/approver/full_screen/app.py", "unit/starter/test_signing_screens.py",
        ("a decision typed for the page before", " and key.time < self.page_open_since + EARLY_KEY_SECONDS",
         " and False", "::test_a_decision_typed_before_the_page_can_be_seen_is_ignored"),
        ("a decision typed while its page opens", "self.page_open_since, self._quiet_until = math.inf, -math.inf",
         "self._quiet_until = -math.inf", "::test_two_keys_typed_at_once_decide_about_one_request"),
        ("a text typed for a dialog that did not open", " and key.time < self._quiet_until", " and False",
         "::test_a_text_typed_for_a_dialog_that_did_not_open_decides_nothing"),
        ("an answer typed before its dialog", "Deciding | LastPage | Question)", "Deciding | LastPage)",
         "::test_a_dialog_and_the_last_page_ignore_an_early_answer"),
        ("a last y typed before its page", "Deciding | LastPage | Question)", "Deciding | Question)",
         "::test_a_dialog_and_the_last_page_ignore_an_early_answer"),
    ),
    *_of(
        "starter/approver/signing_session.py", "unit/starter/test_signing_screens.py",
        ("a text that changed after the decision", "                    shown.build(request)\n",
         "                    pass\n",
         "::test_a_decision_about_what_has_changed_since_is_not_signed"),
    ),
    *_of(
        "starter/approver/signing_session.py", "",
        ("a decision that a person kept", "if not asks and before is not None and", "if False and",
         f"{_SHOWN}::test_yes_never_overrides_what_a_person_kept_and_a_question_names_it"),
        ("what was signed elsewhere meanwhile", "    shown.gone = shown.look()\n", "",
         "unit/starter/test_signing_screens.py::"
         "test_what_was_signed_elsewhere_a_moment_ago_is_not_signed_again"),
    ),
    *_of(
        "starter/approver/session.py", "unit/starter/test_signing_screens.py",
        ("a decision about what no longer waits", "            return self.gone[asked.key]\n", "            pass\n",
         "::test_an_open_session_notices_what_was_signed_or_withdrawn_elsewhere"),
    ),
    *_of(
        "starter/commands/approvers.py", _SHOWN,
        ("an epoch that is signed unseen",
         "    err().print(*_changes(present, following), sep=\"\\n\", soft_wrap=True)\n", "",
         "::test_a_command_that_signs_shows_first_and_asks[approvers sign in with_a_proposed_epoch]"),
    ),
    *_of(
        "starter/commands/approve.py", _SHOWN,
        ("a revocation without a question",
         "    orders.confirm(order, rows, yes=yes)\n", "",
         "::test_a_command_that_signs_shows_first_and_asks[revoke in waiting_for_the_lane]"),
    ),
    *_of(
        "starter/console/confirmation.py", _SHOWN,
        ("a signature without a yes", "if not yes and not confirmed(question):", "if False:",
         "::test_a_command_that_signs_shows_first_and_asks[void in waiting_at_the_cut]"),
    ),
    *_of(
        "starter/approver/session.py", "unit/starter/test_decisions.py",
        ("a second session of one approver", "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass",
         "::test_two_sessions_of_one_approver_do_not_mix"),
        ("half a line of a journal", "            os.ftruncate(descriptor, self._size)\n", "",
         "::test_a_decision_that_the_disk_does_not_take_is_refused_and_spoils_nothing"),
        ("a decision about another request", "SessionJournal(descriptor, ledger.of(waiting), size)",
         "SessionJournal(descriptor, ledger, size)",
         "::test_a_second_session_continues_the_first_and_forgets_requests_that_wait_no_more"),
    ),
    *_of(
        "starter/cli.py", "unit/starter/test_placeholders.py",
        ("a printed word as a reason", "if word in STANDS_FOR:", "if False:",
         "::test_the_word_in_the_place_of_a_reason_is_no_reason"),
    ),
    *_of(
        "starter/commands/pages.py", "",
        ("an altered request as a document", "    newer = signing_desk.recompute(settings, document).newer if is_open",
         "    newer = None if is_open", _OVER),
    ),
)  # fmt: skip

MARKING = _of(
    "cutter/marking/checks.py", "unit/marking/test_refusals.py",
    ("too large a file", "if len(data) > SOURCE_BYTES_MAX:", "if False:", "::test_a_file_that_is_too_large_is_refused"),
    ("U+0000", r'if "\x00" in text:', "if False:", "::test_a_character_that_no_database_holds_is_refused"),
    ("another normal form", 'if not unicodedata.is_normalized("NFC", text):', "if False:",
     "::test_text_that_is_not_nfc_is_refused_with_the_command"),
    ("no unit", "    if units:", "    if True:", "::test_nothing_to_cut_is_refused"),
    ("too many units", "if len(units) > options.max_candidates:", "if False:",
     "::test_more_units_than_allowed_are_refused_with_the_count"),
    ("a forbidden unit", "if segments & forbidden:", "if False:", "::test_forbidden_ids_match_whole_segments"),
    ("an address twice", 'if again and options.duplicates == "refuse":', "if False:",
     "unit/marking/test_profiles.py::test_the_profiles_choices_count_unless_the_options_say_otherwise"),
) + _of(
    "cutter/marking/headings.py", "unit/marking/test_headings.py",
    ("a heading that reads otherwise", "if sign is not None:", "if False:",
     "::test_a_bidi_control_in_a_heading_refuses"),
) + _of(
    "cutter/marking/assessment.py", "unit/marking/test_red_findings.py",
    ("a red finding that nobody accepted", "    if not waiting:\n", "    if True:\n",
     "::test_each_fault_is_refused_with_its_kind_and_line"),
    ("an acceptance of something else", "    if unknown:\n", "    if False:\n",
     "::test_an_acceptance_that_is_not_needed_is_refused_with_the_valid_names"),
) + _of(
    "cutter/marking/uncut.py", "unit/marking/test_red_findings.py",
    ("a heading after a line break that is no LF", "if not lines.opaque[i] and _HEADING_IN_LINE.search(line)]",
     "if False]", "::test_each_fault_is_refused_with_its_kind_and_line"),
    ("a heading without a sign that fills a gap", ", *_filling(open_lines, around, pieces.lines)}", "}",
     "::test_each_fault_is_refused_with_its_kind_and_line"),
    ("a sentence taken for the missing heading", " and len(text) <= LIKELY_HEADING_BYTES and text[-1:] not in",
     " or text in",
     "::test_a_line_of_text_in_a_gap_is_not_taken_for_the_missing_heading"),
    ("a single article that is text", "if (alone or pair or", "if (pair or",
     "::test_each_fault_is_refused_with_its_kind_and_line"),
    ("numbered titles that are text", "if len(run) >= _RUN:\n        yield", "if False:\n        yield",
     "::test_each_fault_is_refused_with_its_kind_and_line"),
    ("an item of a list taken for a title", " and _is_last_of_paragraph(line.index, lines)]", "]",
     "::test_a_text_that_only_looks_like_the_fault_is_marked"),
    ("the first heading of another form", "later = max(first", "later = min(first",
     "::test_articles_in_two_forms_are_amber_and_articles_in_one_are_not"),
) + _of(
    "cutter/marking/heading_lines.py", "unit/marking/test_red_findings.py",
    ("a number before its word", "in ((numbered, _NUMBER_FIRST), (cjk", "in ((cjk",
     "::test_each_fault_is_refused_with_its_kind_and_line"),
) + _of(
    "cutter/marking/numbers.py", "unit/marking/test_suggestion.py",
    ("a range taken for a letter", "A-NP-Z])\" + _AT_END + r\"|[", "A-NP-Z])|[",
     "::test_a_letter_after_a_blank_is_of_the_number_only_at_its_end"),
) + _of(
    "cutter/marking/uncut.py", "unit/marking/test_numbers_first.py",
    ("a heading in a sentence",
     "if quoted or not (lines.is_blank(before) or lines.lines[before].rstrip().endswith(_ENDS)):",
     "if quoted:", "::test_a_heading_that_continues_a_sentence_is_amber"),
    ("a quotation that a colon announces", "quoted = inserted and last is not None and", "quoted = False and",
     "::test_an_inserted_heading_that_a_colon_announces_may_be_quoted"),
    ("an inserted line below a sentence", " and not before.endswith(_ENDS):\n", ":\n",
     "::test_an_inserted_line_below_a_sentence_is_amber"),
    ("a paragraph that begins like a heading", "if beginning is not None:", "if False:",
     "::test_a_paragraph_that_begins_like_a_heading_is_amber"),
) + _of(
    "cutter/marking/recognise.py", "unit/marking/test_numbers_first.py",
    ("a title that begins like a number", "after = tuple(word for word in level.words if follows_number(word))",
     "after = level.words", "::test_a_title_that_begins_with_a_letter_and_a_word_of_a_level_is_a_title"),
    ("thin blanks", "text = with_plain_blanks(beginning(line, PLAIN_CHARACTERS)).rstrip()",
     "text = beginning(line, PLAIN_CHARACTERS).rstrip()", "::test_each_form_of_a_number_is_read"),
) + _of(
    "cutter/marking/heading_lines.py", "unit/marking/test_numbers_first.py",
    ("a Finnish ending taken for a sign", " and not _CONTINUED.match(rest)\n", "\n",
     "::test_an_ending_of_a_word_after_a_sign_is_no_title"),
    ("a reference with a comma", "return None if reference else _shown(match.group())", "return _shown(match.group())",
     "::test_a_paragraph_that_begins_like_a_heading_is_amber"),
) + _of(
    "cutter/marking/asides.py", "unit/marking/test_hard_laws.py",
    ("an article that is quoted", 'if heading.form != "atx" and heading.index in quoted:', "if False:",
     "::test_the_suggested_profile_cuts_a_hard_law_right[13-quoted-inserted-articles]"),
    ("a reference that begins a line", "elif heading.index in glued or _goes_on(", "elif False and _goes_on(",
     "::test_the_suggested_profile_cuts_a_hard_law_right[20-reference-at-line-start]"),
    ("a title after which the numbers continue", "if again or (first is None and not is_head):", "if True:",
     "::test_a_title_after_which_the_numbers_continue_is_text"),
) + _of(
    "cutter/marking/checks.py", "",
    ("articles that lost their text", "if lost and 2 * len(lost) < articles:", "if False:",
     f"{_FAULTS}test_each_fault_is_refused_with_its_kind_and_line[an article that lost its text]"),
) + _of(
    "cutter/marking/uncut.py", "",
    ("a contents list that is the law", 'if piece.reason == "table_of_contents" and piece.end - piece.start > cut:',
     "if False:", f"{_FAULTS}test_each_fault_is_refused_with_its_kind_and_line[a contents list that swallows the law]"),
) + _of(
    "cutter/marking/nesting.py", "",
    ("a kind that the word contradicts", "wrong[known.word, section_type].append(node)", "pass",
     f"{_FAULTS}test_each_fault_is_refused_with_its_kind_and_line[articles that a profile calls sections]"),
) + _of(
    "cutter/marking/page_lines.py", "unit/marking/test_remains_of_pages.py",
    ("a heading at the edge of a page", "if index in numbers or text.is_fixed(index) or", "if index in numbers or",
     "::test_a_heading_or_a_row_of_a_table_stays_at_each_edge"),
    ("articles that are lone numbers", "if names_pages or _is_proven(text, series):", "if True:",
     "::test_articles_that_are_lone_numbers_stay_and_are_named"),
    ("a hyphen of the word itself", 'and f"{word}-{end}".lower() not in text.words', "",
     "::test_a_hyphen_that_can_belong_to_the_word_stays"),
    ("the title as the head of the first page", "whole = edge.above >= 0 and", "whole =",
     "::test_between_form_feeds_the_head_of_the_first_page_stays_too"),
) + _of(
    "cutter/marking/uncut.py", "unit/marking/test_numbers_first.py",
    ("a wrapped item of a list", "return len(lines.lines[index]) <= SHORT_TITLE_BYTES and following[0][:1].isupper()",
     "return True", "::test_a_wrapped_item_of_a_list_is_no_title"),
) + _of(
    "cutter/marking/uncut.py", "unit/marking/test_explained_sizes_and_gaps.py",
    ("a long piece in the list that explains a size", "sum(map(len, piece)) <= GIANT_ITEM_BYTES or", "True or",
     "::test_a_long_article_that_may_hide_another_stays_red"),
    ("lists that begin again", 'if value < last + (not item["inserted"]) or (last == 0 and value != 1):', "if False:",
     "::test_a_long_article_that_may_hide_another_stays_red"),
    ("a few items", "return len(matches) >= GIANT_UNIT_ITEMS and", "return",
     "::test_a_long_article_that_may_hide_another_stays_red"),
    ("a line like a heading in a list", "and not any(_BOLD_LINE.match(line) or read_line(line) for line in own[1:])",
     "", "::test_a_long_article_that_may_hide_another_stays_red"),
    ("items that may be units", "if outermost is None or outermost in not_of:", "if outermost is None:",
     "::test_items_that_are_written_like_the_headings_may_be_units"),
    ("a list in a unit without a number", "nodes[position].heading.number is not None", "nodes",
     "::test_a_list_does_not_explain_the_size_of_a_unit_without_a_number"),
    ("a list in one of few units", "len(sizes) >= 4 and nodes[", "nodes[",
     "::test_a_list_does_not_explain_the_size_of_one_of_three_units"),
) + _of(
    "cutter/marking/number_order.py", "unit/marking/test_explained_sizes_and_gaps.py",
    ("a swallowed article about a repeal", 'if not closed and _END.fullmatch(note["rest"]) is None:', "if False:",
     "::test_a_swallowed_article_about_a_repeal_stays_red"),
) + _of(
    "cutter/marking/number_order.py", "unit/marking/test_explained_sizes_and_gaps.py",
    ("a repeal of headings of another kind", "if mine and (mine.startswith(other) or other.startswith(mine)):",
     "if True:", "::test_a_note_about_other_headings_explains_no_gap"),
    ("text beside a dash", "return len(text) == 1 and text[0] in _DASHES",
     "return any(map(_DASHES.__contains__, text))",
     "::test_two_headings_with_a_dash_between_them_are_a_range"),
) + _of(
    "cutter/marking/result.py", "unit/gates/test_reading_gates.py",
    ("a finding accepted by another's name", "if finding.name not in names)", "if not names)",
     "::test_red_findings_accepted_violated_when_one_waits"),
    ("a run of a text that nobody accepted", "if finding.name not in names)", "if False)",
     f"{_RED_ROUTES}::test_a_run_of_it_fails_at_the_gate"),
    ("a run of it that Temporal alone starts", "in self.red.values() if", "in () if",
     f"{_RED_ROUTES}::test_a_run_that_temporal_alone_starts_and_feeds_with_approvals_fails_at_the_gate"),
    ("a batch with it", "return tuple(finding for finding in self.red.values() if finding.name not in names)",
     "return ()", f"{_RED_ROUTES}::test_a_batch_sets_it_aside_and_takes_it_in_again_in_vain"),
    ("an approval of it from before the night", 'if finding.severity == "red"}', "if False}", f"{_RED_ROUTES}::"
     "test_an_approval_that_was_signed_before_the_night_is_of_no_use_once_the_acceptance_is_gone"),
    ("a resume of it", "names = {name for name, _ in self.accepted}", "names = self.red",
     f"{_RED_ROUTES}::test_a_signed_resume_does_not_lead_past_the_gate"),
) + _of(
    "activities/gates/pinned_source.py", f"{_RED}::test_no_later_gate_passes_once_the_acceptance_is_gone",
    ("a write of a text whose acceptance is gone", "marking.mark_registered(pinned.data", "marking.examine(pinned.data",
     "[IG_cut_leg_a_execute]"),
) + _of(
    "activities/gates/cutplan.py", f"{_RED}::test_no_later_gate_passes_once_the_acceptance_is_gone",
    ("a plan of a text that is refused", "    if isinstance(marking, MarkRefusal):\n", "    if False:\n",
     "[IG_structural_verify]"),
) + _of(
    "activities/gates/write_verify.py", _RED,
    ("a text that the verifier would not cut", "    if isinstance(marking, MarkRefusal):\n", "    if False:\n",
     "::test_the_verifier_rebuilds_from_a_marking_of_its_own"),
) + _of(
    "activities/run/request_document.py", _RED,
    ("a request for a text that would not be cut", "    if not isinstance(marking, Marking):\n", "    if False:\n",
     "::test_no_request_is_made_once_the_acceptance_is_gone"),
) + _of(
    "starter/approver/signing_desk.py", _RED,
    ("a signature for a text that would not be cut", "marking.mark_registered(snapshot", "marking.examine(snapshot",
     "::test_the_signers_machine_refuses_once_the_acceptance_is_gone"),
) + _of(
    "cutter/gates/mark.py", "unit/gates/test_reading_gates.py",
    ("a marking made by another way", 'holds("red_findings_accepted", not waiting,',
     'holds("red_findings_accepted", True,', "::test_red_findings_accepted_violated_when_one_waits"),
)  # fmt: skip

RULES = (
    *_of(
        "cutter/policy/rules.py", "unit/policy/test_policy_rules.py",
        ("a broken policy", "if isinstance(policy, InvalidPolicy):", "if False:",
         "::test_a_broken_file_denies_with_its_first_line"),
        ("what no rule allows", 'return _no("", 0, f"{FILE}: no rule matches {_place(action)}"), tuple(passed)',
         "return Decision(verdict=Verdict.ALLOW, rule=\"\", line=0, why=\"\"), tuple(passed)",
         "::test_what_no_rule_matches_is_denied"),
        ("what is not known", "elif rule.candidates is not None and action.candidates is None:", "elif False:",
         "::test_a_rule_that_asks_for_what_is_not_known_denies_and_is_not_passed_over"),
    ),
    *_of(
        "cutter/storage/gate_transaction.py", "integration/policy/test_policy_on_the_real_path.py",
        ("a policy that came while a gate was open", "policy=policies.of(policy),\n    )",
         "policy=attempt.policy,\n    )",
         "::test_a_policy_that_comes_while_a_gate_is_open_counts_for_its_report"),
    ),
    *_of(
        "activities/run/approval_requests.py", "integration/policy/test_policy_on_the_real_path.py",
        ("a signature for what the policy never allows", "if denied := never_allowed(asked.policy, ahead):",
         "if (denied := never_allowed(asked.policy, ahead)) and False:",
         "::test_nobody_is_asked_to_sign_for_what_the_policy_never_allows"),
        ("a policy that came while a request was made", "policy = bind(", "bind(",
         "::test_a_policy_that_comes_while_a_request_is_made_counts_for_its_document"),
    ),
    *_of(
        "activities/gates/closeout.py", "integration/policy/test_policy_on_the_real_path.py",
        ("a policy that came before a closeout was open", "policies.read(opened.row(policies.TEXT))",
         "opened.attempt.policy",
         "::test_a_policy_that_comes_before_a_closeout_is_open_counts_for_its_evidence"),
    ),
    *_of(
        "cutter/policy/rules_file.py", "unit/policy/test_policy_rules_file.py",
        ("a rule that never matches", "if not matched:", "if False:",
         "::test_a_rule_that_no_command_can_match_is_refused"),
    ),
    *_of(
        "cutter/plain_yaml.py", "unit/policy/test_policy_rules_file.py",
        ("a field that there is not", "if name not in known:", "if False:",
         "::test_every_wrong_value_is_refused_with_its_rule_and_line"),
    ),
    *_of(
        "cutter/lifecycle/invariants.py", "unit/lifecycle/test_transition_files.py",
        ("a file that jumps over gates by a stop", "if after in _REACHED and after != reached:", "if False:",
         "::test_a_stop_leads_a_run_past_no_gate_and_no_law_back"),
        ("a file that voids law by a stop", "if reached == State.LIFECYCLE_ENACTED and", "if False and",
         "::test_a_stop_leads_a_run_past_no_gate_and_no_law_back"),
    ),
    *_of(
        "cutter/domain/retry.py", "unit/lifecycle/test_retry.py",
        ("a retry of what is final", "    if terminal:", "    if False:", "::test_the_decision_matrix"),
        ("tries without end", "if attempts >= budget.max_attempts:", "if False:", "::test_the_decision_matrix"),
        ("failures without end", "if failures > budget.max_failures:", "if False:", "::test_the_decision_matrix"),
    ),
    *_of(
        "cutter/lifecycle/validation.py", "unit/lifecycle/test_transition_files.py",
        ("a log without its beginning", "    if stood is None and before != lifecycle.initial:", "    if False:",
         "::test_a_file_in_which_an_entity_begins_in_the_middle_is_not_valid"),
        ("a trigger of another transition", "    if event.trigger not in {rule.trigger, *rule.words}:", "    if False:",
         "::test_a_trigger_of_another_transition_is_found_wherever_the_lifecycle_has_one"),
        ("a failure that is said to be nothing", "    if rule.demanded and event.severity != rule.severity:",
         "    if False:", "::test_what_is_not_legal_is_found_on_its_line"),
    ),
    *_of(
        "cutter/projections/transitions_file.py", "unit/lifecycle/test_transition_files.py",
        ("a log without its end", "    yield from validation.finish()\n", "",
         "::test_a_last_line_that_is_missing_is_found_where_the_file_says_that_the_run_has_ended"),
    ),
    *_of(
        "workflows/approval_collector.py", "workflow/test_messages.py",
        ("an approval that falls with another one", " or len(used) > 1", "",
         "::test_of_two_approvals_the_one_that_was_taken_back_takes_the_other_one_with_it_no_more"),
    ),
    *_of(
        "workflows/message_queue.py", "property/test_inbox.py",
        ("messages without end", "if _is_full(queue, name):", "if False:",
         "::test_a_full_inbox_drops_the_rest_and_still_takes_a_stop"),
        ("a stop kept out by others", "if name in STOP_MESSAGES:\n",
         "if name in STOP_MESSAGES and not _is_full(queue, name):\n",
         "::test_a_full_inbox_drops_the_rest_and_still_takes_a_stop"),
        ("refusals without end", "if len(queue.refused) >= limits.INBOX_MESSAGES_MAX:", "if False:",
         "::test_no_flood_of_one_document_grows_the_refusals"),
        ("refusals that keep out an order",
         "same = sum((message.name == EARLY) == (name == EARLY) for message in queue.messages)",
         "same = sum((message.name == EARLY) == (name == EARLY) for message in queue.messages) + len(queue.refused)",
         "::test_a_flood_of_refusals_leaves_room_for_orders"),
        ("the same document again", "if (name, kb_id) in queue.known:", "if False:",
         "::test_a_document_that_is_here_is_a_duplicate_until_it_is_forgotten"),
        ("a cancel made a stop", 'if queue.stop is not None and queue.stop.kind == "cancel":', "if False:",
         "::test_cancel_outweighs_stop_in_every_order"),
    ),
)  # fmt: skip

EVIDENCE = (
    *_of(
        "cutter/evidence/offline/receipts.py", "unit/evidence/test_audit_chain.py",
        ("an event that was altered",
         'if event["prev_hash"] != previous or digest(previous + event["body"]) != event["hash"]:', "if False:",
         "::test_a_problem_says_what_happened"),
        ("an event that was deleted", 'if event["seq"] != seq + 1:', "if False:",
         "::test_a_problem_says_what_happened"),
        ("another run's body", 'and name in (GLOBAL, body["run_id"])', "", "::test_a_body_about_another_run_is_seen"),
        ("a run that is missing", "    if GLOBAL in heads and GLOBAL not in broken:", "    if False:",
         "::test_what_happens_to_a_whole_run_is_seen_by_the_global_chain_though_every_chain_fits"),
        ("a head that is not its own", "if head not in (None, own, *places):", "if False:",
         "::test_a_rewritten_file_needs_an_outside_head_and_the_check_says_so"),
    ),
    *_of(
        "cutter/evidence/offline/notation.py", "unit/evidence/test_audit_chain.py",
        ("a line in another notation", "if isinstance(value, dict) and canonical(value).encode() == line else None",
         "if isinstance(value, dict) else None", "::test_the_same_value_in_another_notation_is_altered"),
    ),
    *_of(
        "cutter/evidence/offline/approvals.py", "unit/evidence/test_forgeries.py",
        ("a consumption without a statement",
         'if len(verdicts) != 1 or len(asked) != 1 or verdicts[0]["decision"] != "approve":', "if False:",
         "::test_a_bundle_that_nobody_signed_fails"),
        ("a red finding that nobody accepted", 'for finding in sorted(unaccepted))', "for finding in ())",
         "::test_a_red_finding_that_the_signed_statements_do_not_accept_is_named_at_each_gate"),
        ("a gate with too few people",
         "if min(map(len, [*distinct, keys])) < needed or len(distinct[0]) != len(used):", "if False:",
         "::test_a_gate_that_asks_for_two_people_fails_with_one"),
    ),
    *_of(
        "cutter/evidence/offline/checks.py", "unit/evidence/test_forgeries.py",
        ("authorship of nothing", "    if not signers:\n", "    if False:\n",
         "::test_nothing_signed_is_nothing_checked"),
        ("gpg that is not there", 'return 5 if any(what == "authorship"', 'return 0 if any(what == "authorship"',
         "::test_without_gpg_the_exit_code_is_5_and_the_signatures_are_listed"),
    ),
    *_of(
        "cutter/evidence/offline/enacted_text.py", "unit/evidence/test_law_in_bundle.py",
        ("text between the units", 'if digest(region) != self.pins["region_sha"]:', "if False:",
         "::test_a_forged_text_is_refused[text between the units-law-1]"),
        ("a changed byte of a unit", 'or digest(region[start:stop]) != row["body_sha256"]', "",
         "::test_a_text_that_fits_its_region_alone_is_refused"),
        ("another title", 'if own != self.pins["writer_digest"]:', "if False:",
         "::test_a_forged_text_is_refused[another title-law-1]"),
        ("a law without an enactment", "if ENACTING not in {row", "if ENACTING == {row",
         "::test_a_law_without_an_enactment_is_refused"),
    ),
    *_of(
        "cutter/evidence/offline/enacted_text.py", "unit/evidence/test_law_in_bundle.py",
        ("a missing first cut", "* (not self.begins)", "* 0", "::test_a_forged_chain_is_refused[a missing first cut]"),
        ("two first cuts", "        if self.begins:\n", "        if False:\n",
         "::test_a_first_cut_cannot_follow_another_bundle"),
        ("a missing predecessor", "if own[name] != named[name]", "if False",
         "::test_a_chain_without_its_law_is_followed_by_the_pinned_base"),
        ("a unit of the base that is left out", "if lines.get(address) != ends.get(address):", "if False:",
         "::test_a_unit_of_the_base_that_is_left_out_is_seen_in_the_bundle_that_follows"),
    ),
    *_of(
        "cutter/notifications/channels.py", "unit/notifications/test_webhook.py",
        ("a token that a redirect carries away", "build_opener(_Stays).open(", "build_opener().open(",
         "::test_a_redirect_is_not_followed[302]"),
    ),
    *_of(
        "cutter/notifications/webhook.py", "unit/notifications/test_webhook.py",
        ("an old message with a new time", 'time.encode() + b"." + body', "body",
         "::test_a_receiver_that_follows_the_documentation_takes_it_once"),
    ),
    *_of(
        "cutter/notifications/email.py", "unit/notifications/test_email.py",
        ("a mail server that never ends", "    timer.start()\n", "",
         "::test_a_server_that_drips_bytes_is_left_in_time"),
        ("a false mail server", "server.starttls(context=ssl.create_default_context())", "server.starttls()",
         "::test_a_certificate_that_nobody_vouches_for_is_refused[starttls]"),
    ),
    *_of(
        "cutter/notifications/card.py", "unit/notifications/test_slack_card.py",
        ("buttons about a live run", 'if self.unsigned and self.mode != "dryrun":', "if False:",
         "::test_no_card_can_be_built_whose_buttons_would_pass_by_a_signature"),
    ),
    *_of(
        "cutter/notifications/delivery.py", f"{_STORAGE}test_notifications.py",
        ("a message that the policy denies", "if denied(policy, message.about",
         "if False and denied(policy, message.about", "::test_the_policy_denies_each_channel_alike"),
    ),
    *_of(
        f"{_SQL}functions/notifications/fn_notification_take.sql", f"{_STORAGE}test_notifications.py",
        ("a message of a killed sender that is posted twice", "in_doubt = true,", "in_doubt = in_doubt,",
         "::test_a_sender_killed_between_sending_and_recording_loses_nothing[slack]"),
    ),
    *_of(
        f"{_SQL}functions/notifications/fn_notification_of_run.sql", f"{_STORAGE}test_notifications.py",
        ("a stop that nobody hears of", "elsif v_told is not null then", "elsif false then",
         "::test_a_notification_is_written_by_the_transaction_that_makes_it_true"),
    ),
    *_of(
        "cutter/kb/write_once.py", "unit/kb/test_kb_store.py",
        ("other bytes over a document", "if stored != digest:", "if False:",
         "::test_other_bytes_refuse_and_name_both_digests"),
        ("a document without bound", "if len(data) > limits.KB_OBJECT_BYTES_MAX:", "if False:",
         "::test_too_large_an_object_is_not_put"),
        ("a name outside the store", "    store.check(name)\n    if len", "    if len", "::test_names_are_confined"),
        ("a draft outside the store", "    store.check(name)\n    with Exit", "    with Exit",
         "::test_names_are_confined"),
    ),
    *_of(
        "cutter/kb/objects.py", "unit/kb/test_kb_store.py",
        ("a link out of the store", "_FILE = os.O_RDONLY | os.O_NOFOLLOW |", "_FILE = os.O_RDONLY |",
         "::test_a_link_out_of_the_store_is_not_followed"),
        ("a pipe for a document", "if not stat.S_ISREG(os.fstat(handle).st_mode):", "if False:",
         "::test_a_pipe_or_a_folder_is_no_document_and_does_not_hang"),
    ),
)  # fmt: skip

COMMANDS = (
    *_of(
        "starter/console/failures.py", "unit/starter/test_failures.py",
        ("a next command from a text that a stranger wrote", '"next": failed.next or',
         '"next": failed.next or next(iter(failed.message.split("`")[1:2]), None) or',
         "::test_a_stranger_s_text_in_a_message_is_no_next_command"),
    ),
    *_of(
        "cutter/domain/next_step.py", "unit/domain/test_printed_words.py",
        ("an approval that is asked for twice", "if state in AWAITING and run.approved:", "if False:",
         "::test_what_was_approved_is_not_asked_for_again"),
    ),
    *_of(
        "cutter/domain/next_step.py", f"{_STORAGE}test_corrected_text.py",
        ("a text that is asked for twice", "if state in OF_THE_TEXT and run.corrected:", "if False:",
         "::test_a_failed_run_names_the_run_of_the_corrected_text_after_its_registration"),
    ),
    *_of(
        "cutter/marking/suggestion/draft.py", "unit/marking/test_suggestion.py",
        ("one line that takes the headings of its word with it",
         "if any(heading.index != line.index for heading in headings):", "if False:",
         "::test_a_line_that_would_drop_the_other_headings_of_its_word_is_refused"),
    ),
    *_of(
        "cutter/sources.py", "unit/marking/test_mark_command.py",
        ("more units than the workers cut", "if wanted is None or wanted <= allowed:", "if True:",
         "::test_more_units_than_the_workers_allow_are_refused_with_the_name_of_the_setting"),
    ),
)  # fmt: skip

_TERMINAL = "unit/starter/test_terminal_output.py"
_SHOWN = "property/test_visible_properties.py"
_TRICKS = f"{_SHOWN}::test_each_known_trick_fails_in_every_place_of_a_document"

TEXTS = (
    *_of(
        "starter/console/terminal.py", _TERMINAL,
        ("a text that a terminal obeys", "Segment(visible(segment.text), segment.style)", "segment",
         "::test_every_way_of_printing_shows_hidden_characters_by_their_codes"),
        ("a control that is dropped without a trace", "render_str(visible(text), **how)", "render_str(text, **how)",
         "::test_no_hidden_character_is_dropped_without_a_trace"),
        ("a text that colours and links", "markup=False", "markup=True",
         "::test_a_text_is_never_markup_an_emoji_or_a_link"),
        ("a text that adds a row", "*map(line, row[:1])", "*map(plain, row[:1])",
         "::test_a_text_cannot_begin_a_line_that_looks_like_ours"),
    ),
    *_of(
        "starter/console/confirmation.py", _TERMINAL,
        ("a question that repaints itself", "visible_line(question)", "question",
         "::test_a_question_shows_hidden_characters_by_their_codes"),
    ),
    *_of(
        "cutter/domain/visible.py", _SHOWN,
        ("fillers", " or character in _FILLERS", "",
         "::test_every_character_of_unicode_is_judged_by_its_category_or_as_a_filler"),
        ("hidden characters in JSON", "text.translate(_ESCAPED)", "text",
         "::test_json_keeps_its_value_and_hides_nothing"),
    ),
    *_of(
        "cutter/domain/markdown.py", "",
        ("markup of others", 'return f"\\\\{character}"', "return character", _TRICKS),
        ("tags of others", "_ENTITIES.get(character) or", "", _TRICKS),
        ("a text that closes its code block", "max(_FENCE_LENGTH, longest + 1)", "_FENCE_LENGTH", _TRICKS),
        ("a code span that leaves its cell", ' and "|" not in text', "", _TRICKS),
        ("a link in prose", "://|www", "www", _TRICKS),
    ),
    *_of(
        "cutter/projections/report.py", "unit/evidence/test_hostile_reports.py",
        ("a page that reorders its lines", "else visible(str(value))", "else value",
         "::test_the_page_of_a_run_shows_hidden_characters_by_their_codes"),
    ),
    *_of(
        "cutter/projections/report.py", "unit/evidence/test_run_report.py",
        ("another cut in a report", "pins[name] != getattr(own, name)", "False",
         "::test_another_cut_than_the_sealed_one_is_not_shown_as_the_units_of_the_run"),
    ),
)  # fmt: skip

_FORMS_OF_ROWS = f"{_STORAGE}test_row_forms.py"

ROWS = (
    *_of(
        f"{_SQL}functions/gates/fn_gate_refusal.sql", _FORMS_OF_ROWS,
        ("a denial of the policy",
         "d ->> 'verdict' is null or d ->> 'verdict' not in ('allow', 'needs_approval')\n                or", "",
         f"{_POLICY}::test_a_writing_gate_opens_for_no_decision_that_does_not_allow_it"),
        ("a tier that no reader understands",
         "not d ? 'tier' or (d ->> 'verdict' = 'needs_approval') <> (d ->> 'tier' is not null)", "false",
         f"{_POLICY}::test_a_writing_gate_opens_for_no_decision_that_does_not_allow_it"),
        ("too few people for a tier", "then 'policy_approval_missing' end", "then null end",
         f"{_POLICY}::test_the_writes_between_the_sovereign_gates_need_a_decision_and_its_approvers_too"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_refuse.sql", _FORMS_OF_ROWS,
        ("another role's refusal",
         "if not exists (select from cutter_governance.gate_catalogue where gate = p_gate and role = session_user) "
         "then\n        raise", "if false then\n        raise",
         f"{_GATES}::test_a_gate_is_refused_by_its_own_role_alone"),
        ("a refusal by an older attempt",
         "if p_state is null or p_attempt is distinct from (\n            select max(n) from "
         "cutter_governance.gate_attempt where run_id = p_run_id and gate = p_gate)", "if p_state is null",
         f"{_GATES}::test_an_older_attempt_fails_no_run"),
        ("a refusal into any state", "        or p_state !~ '^(failed|stopped)_[a-z0-9_]{1,80}$'\n", "",
         f"{_GATES}::test_a_refusal_moves_a_run_nowhere_but_into_a_stop_or_failure"),
        ("a refusal out of order", "if cutter_governance.fn_prev_hash(p_run_id, p_gate) is null then\n        raise",
         "if false then\n        raise", f"{_GATES}::test_a_gate_asked_for_out_of_its_order_fails_no_run"),
        ("a malformed report", "    if cutter_governance.fn_form_problem('report', v_report) is not null then",
         "    if false then", "::test_a_refusal_that_finds_no_attempt_is_checked_all_the_same"),
        ("an outcome that claims a pass",
         "or p_outcome = 'passed' or (p_outcome = 'skipped' and p_gate <> 'IG_source_pin') then", "then",
         "::test_a_refusal_does_not_claim_that_its_gate_passed"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_attempt.sql", _FORMS_OF_ROWS,
        ("an attempt out of order", "if cutter_governance.fn_prev_hash(p_run_id, p_gate) is null then\n        return",
         "if false then\n        return", f"{_GATES}::test_a_gate_asked_for_out_of_its_order_fails_no_run"),
        ("a lease beyond the run's cap", "when 'number' then v_cap::numeric end", "when 'number' then null end",
         f"{_GATES}::test_the_lease_of_an_attempt_ends_at_the_stricter_cap"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_verdict_record.sql", _FORMS_OF_ROWS,
        ("a verdict of another role's", "if session_user <> 'cutter_read' then", "if false then",
         f"{_CONSUME}::test_a_verdict_is_recorded_by_its_own_role_whatever_was_granted"),
        ("a verdict that a gate waits for",
         "select * into v_run from cutter_governance.run where run_id = p_run_id for update;",
         "select * into v_run from cutter_governance.run where run_id = p_run_id;",
         f"{_PEOPLE}::test_a_verdict_that_comes_while_a_gate_writes_waits_and_costs_it_nothing"),
        ("a malformed verdict",
         "        raise exception 'a verdict was refused: it %', v_problem using errcode = 'CU021';",
         "", "::test_a_malformed_verdict_is_refused"),
        ("an approval that nothing waits for", "return jsonb_build_object('status', 'not_waiting');", "null;",
         f"{_FACTS}::test_an_approval_for_which_nothing_waits_is_not_accepted"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_outbox_name.sql", _FACTS,
        ("a document in the folder of another run", "'-' || right(new.run_id, 12) || '/'", "''",
         "::test_no_role_takes_the_name_of_a_document_that_another_function_writes"),
        ("a document in the folder of another batch", "'/' || new.batch_id || '/.'", "'.'",
         "::test_no_role_takes_the_name_of_a_document_that_another_function_writes"),
        ("a report with another gate's name",
         "(select report from cutter_governance.gate_catalogue where gate = new.subject)", "'.*'",
         "::test_no_gate_seals_a_report_under_the_name_of_another"),
        ("a request with the other gate's name", "case new.subject when 'SG_cut_authz' then 1 else 2 end", "'[12]'",
         "::test_no_request_takes_the_name_of_the_other_gates_request"),
        ("a document without a text", "if new.body is null and new.kind <> 'gate_report' then", "if false then",
         "::test_no_role_records_a_document_without_a_text"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_action_note.sql", _FACTS,
        ("other bytes under a name with a digest", "if left(p_payload_sha256, length(v_digest)) <> v_digest then",
         "if false then", "::test_receipts_of_other_bytes_under_the_names_of_a_run_keep_it_from_nothing"),
    ),
    *_of(
        "cutter/evidence/offline/approvals.py", _FACTS,
        ("a resume from another stop that pardons",
         'and self._stop(row["statement_sha256"]) == row["stopped_state"] in PARDONS]', "]",
         "::test_no_later_resume_pardons_one_that_nobody_signed_unless_it_says_so"),
        ("a resume that pardons what came later", 'if row["consumed_at"] < max(pardons, default="")}', "if pardons}",
         "::test_a_resume_pardons_nothing_that_came_after_it"),
    ),
    *_of(
        "cutter/evidence/offline/approvals.py", _FACTS,
        ("another signature than the judged one",
         """if not {digest(self.members[f"{name}.asc"]), None}.issuperset(heard):""", "if False:",
         "::test_no_bundle_holds_another_signature_than_the_judged_one"),
    ),
    *_of(
        "activities/gates/closeout.py", _FACTS,
        ("a bundle that fails its own check", "    if not failures:\n        return ()\n",
         "    return ()\n", "::test_a_resume_without_a_good_signature_waits_for_a_signed_one"),
        ("a resume that was signed for another failure", 'if failures in str(last["reason"]) and', "if",
         "::test_a_resume_accepts_only_the_failure_that_its_signer_was_shown"),
    ),
    *_of(
        "activities/approval_judge.py", _FACTS,
        ("an approval that the database keeps with another signature", "for named in same] or verdicts",
         "for named in same if False] or verdicts",
         "::test_a_statement_that_is_kept_with_another_signature_does_not_open_a_gate_by_its_file"),
    ),
    *_of(
        f"{_SQL}functions/evidence/fn_evidence_approvals.sql", _FACTS,
        ("statements in a bundle that nobody used", "where v.approval_sha256 in (\n",
         "where true or v.approval_sha256 in (\n",
         "::test_an_accepted_verdict_without_a_good_signature_does_not_keep_a_run_from_its_end"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_revocation_record.sql", _FACTS,
        ("an approval of another run that was refused here", "where approval_sha256 = p_approval_sha256 and accepted)",
         "where approval_sha256 = p_approval_sha256)",
         "::test_an_approval_that_was_refused_here_is_not_taken_back_from_its_own_run"),
        ("the lock of who takes back", "perform pg_advisory_xact_lock(hashtextextended(p_approval_sha256, 0));", "",
         "::test_who_takes_an_approval_back_waits_for_the_gate_that_consumes_it"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_approval_consume_one.sql", _FACTS,
        ("the lock of an approval", "perform pg_advisory_xact_lock(hashtextextended(verdict.approval_sha256, 0));", "",
         "::test_who_takes_an_approval_back_waits_for_the_gate_that_consumes_it"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_open.sql", _FACTS,
        ("the moment of a gate's opening", ", opened_at = clock_timestamp()", "",
         "::test_a_gate_opens_after_whoever_holds_its_run_is_done"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_close.sql", _FACTS,
        ("a gate that is sealed without its report", "then 'report_not_named'", "then null",
         "::test_no_gate_is_sealed_without_the_name_of_its_report"),
    ),
    *_of(
        f"{_SQL}functions/runs/fn_stop_set.sql", _FACTS,
        ("a stop that nobody can lift", "if p_kind is null then", "if false then",
         "::test_no_role_stops_a_run_for_no_reason_that_a_person_can_lift"),
    ),
    *_of(
        f"{_SQL}functions/gates/fn_gate_refusal.sql", _FACTS,
        ("a policy whose text nobody has", "then 'policy_without_text'", "then null",
         "::test_no_gate_is_opened_by_a_policy_whose_text_nobody_has"),
    ),
    *_of(
        "cutter/evidence/bundle.py", _FACTS,
        ("a statement that nobody signed in a bundle", "if signed.doubtful:", "if False:",
         "::test_an_accepted_verdict_without_a_good_signature_does_not_keep_a_run_from_its_end"),
        ("a gpg without an answer while a bundle is made", "except (OSError, subprocess.SubprocessError) as problem:",
         "except ZeroDivisionError as problem:", "::test_a_gpg_without_an_answer_is_an_outage_and_no_failure"),
    ),
    *_of(
        "activities/gates/closeout.py", _FACTS,
        ("a gpg without an answer", "if any(offline.NO_ANSWER in failure for failure in failures):", "if False:",
         "::test_a_gpg_without_an_answer_is_an_outage_and_no_failure"),
    ),
    *_of(
        "activities/approval_judge.py", _FACTS,
        ("another statement under the approval's name", "if verdict.accepted), verdicts[0])",
         "if False), verdicts[-1])",
         "::test_an_accepted_verdict_without_a_good_signature_does_not_keep_a_run_from_its_end"),
    ),
    *_of(
        f"{_SQL}functions/approvals/fn_accepted_problem.sql", _FACTS,
        ("a statement without its bytes",
         "then 'accepts a statement without the bytes of the statement and its signature'", "then null",
         "::test_no_verdict_accepts_a_statement_without_its_bytes"),
        ("other bytes than were judged", "then 'accepts other bytes than it names'", "then null",
         "::test_no_verdict_accepts_what_its_bytes_do_not_say"),
        ("a field that was not signed", "then 'accepts a field that was not signed'", "then null",
         "::test_no_verdict_accepts_a_field_that_was_not_signed"),
        ("a verdict that says otherwise", "then 'says otherwise than the statement that it accepts'", "then null",
         "::test_no_verdict_accepts_what_its_bytes_do_not_say"),
        ("the starter's own approval in the database", "then 'accepts a statement of the person who started the run'",
         "then null", "::test_no_verdict_accepts_the_person_who_started_the_run"),
        ("a signer of no epoch", "then 'accepts a signer who is not in an installed policy epoch'", "then null",
         "::test_no_verdict_accepts_what_its_bytes_do_not_say"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_outbox_waiting.sql", _FORMS_OF_ROWS,
        ("another role's report, put", "and cutter_governance.fn_outbox_is_mine(o) order by", "order by",
         f"{_PEOPLE}::test_a_worker_leaves_the_report_of_another_role_to_whoever_may_put_it"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_outbox_done.sql", _FORMS_OF_ROWS,
        ("another role's report", "if not cutter_governance.fn_outbox_is_mine(entry) then", "if false then",
         f"{_PEOPLE}::test_a_gate_s_report_is_recorded_by_its_own_role_or_the_reader"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_outbox_is_mine.sql", _FORMS_OF_ROWS,
        ("another role's document", "(p_entry.body is null and exists (", "(exists (select) or exists (",
         "::test_what_has_a_body_is_the_reader_s_alone_to_see_and_to_put"),
    ),
    *_of(
        f"{_SQL}functions/forms/fn_check_form.sql", _FORMS_OF_ROWS,
        ("a row of another form", "            if v_problem is not null then\n                raise",
         "            if false then\n                raise",
         "::test_a_malformed_report_is_refused_in_words_at_its_row"),
    ),
    *_of(
        f"{_SQL}functions/policy/fn_policy_note.sql", _FORMS_OF_ROWS,
        ("a policy's text of another sha256",
         "cutter_governance.fn_digest(p_policy ->> 'text') <> p_policy ->> 'sha256'", "false",
         "::test_a_policy_text_is_at_most_64_kib_and_of_its_sha256"),
    ),
    *_of(
        f"{_SQL}functions/forms/fn_form_problem.sql", _FORMS_OF_ROWS,
        ("a policy's text without bound", "octet_length(p_value #>> '{}') > 65536", "false",
         "::test_a_policy_text_is_at_most_64_kib_and_of_its_sha256"),
    ),
    *_of(
        f"{_SQL}functions/forms/fn_check_backup.sql", _FORMS_OF_ROWS,
        ("a backup from the future", "clock_timestamp() + interval '1 minute'", "'infinity'",
         "::test_a_backup_without_sha256_or_time_or_from_the_future_is_not_recorded"),
    ),
)  # fmt: skip

OUTSIDE = (
    *_of(
        "cutter/stack/temporal.py", "unit/stack/test_temporal_resolution.py",
        ("web pages at the HTTP API", """    'frontend.httpAllowedHosts=["closed.invalid"]',\n""", "",
         "::test_the_servers_http_port_is_closed_to_web_pages"),
        ("web pages at the Web UI", "ui_ip = addresses.own_address(folder / UI_IP)", "ui_ip = addresses.LOOPBACK",
         "campaigns/test_web_pages.py::test_no_web_page_reaches_the_local_temporal_server"),
        ("news that the Web UI fetches", '["--ui-disable-news-fetch"] if fetches_news else []', "[]",
         "::test_a_web_ui_that_fetches_news_is_told_not_to"),
    ),
    *_of(
        "cutter/sources.py", "unit/marking/test_source_files.py",
        ("a pipe as a law", "        if not (file.is_file() or file.is_dir()) and file.exists():", "        if False:",
         "::test_a_pipe_is_refused_at_once"),
    ),
    *_of(
        f"{_SQL}api/search.sql", "integration/law/test_law_api.py",
        ("a search without bound", "if length(words) > 500 then", "if false then",
         "::test_a_search_with_more_words_than_the_limit_is_refused_at_once"),
    ),
    *_of(
        "cutter/senders.py", "unit/starter/test_slack_server.py",
        ("slow callers that keep others out", "if len(of_address) >= limits.SENDERS_OF_ADDRESS_MAX:", "if False:",
         "::test_more_slow_callers_than_there_is_room_for_push_out_the_oldest"),
        ("slow callers of many addresses", "if len(self._sending) >= limits.SENDERS_MAX:", "if False:",
         "::test_the_limit_counts_callers_of_all_addresses_too"),
        ("a caller that never ends", "            end.start()\n", "",
         "::test_who_sends_a_byte_at_a_time_is_hung_up_on"),
    ),
    *_of(
        "cutter/kb/write_once.py", "unit/kb/test_kb_store.py",
        ("a taken name that ends a run", "            taken = problem\n        except InvalidInput",
         "            raise\n        except InvalidInput",
         "::test_what_finds_its_name_taken_goes_under_the_next_one"),
    ),
    *_of(
        "cutter/storage/private.py", "unit/storage/test_private_files.py",
        ("a report that others may read", "os.fchmod(file.fileno(), FILE)", "pass",
         "::test_a_file_that_was_open_to_others_is_closed_when_it_is_written_again"),
    ),
    *_of(
        "temporal/executions.py", "acceptance/cli/test_foreign_workflows.py",
        ("a stranger's workflow under our id", "    if stranger is not None:\n", "    if False:\n",
         "::test_a_batchs_id_that_a_stranger_uses_is_refused_with_the_command"),
    ),
    *_of(
        f"{_SQL}functions/effects/fn_outbox_rename.sql", "integration/attacks/test_taken_names.py",
        ("a document renamed at will", "left(p_free, length(v_stem)) <> v_stem or", "",
         "::test_a_document_gets_no_name_but_its_own_others"),
        ("another role's document", "if not cutter_governance.fn_outbox_is_mine(entry) then", "if false then",
         "::test_a_document_gets_no_name_but_its_own_others"),
        ("a document renamed after it was put", "if entry.done_at is not null and not exists (",
         "if false and not exists (", "::test_a_document_gets_no_name_but_its_own_others"),
    ),
)  # fmt: skip

LAW = (
    *_of(
        "cutter/law/export_record.py", "unit/law/test_law_exports.py",
        ("a text that nobody signed in an export", "    if digest != region_sha256:", "    if False:",
         "::test_a_text_that_is_not_in_the_source_is_refused"),
    ),
    *_of(
        "cutter/law/export_check.py", "unit/law/test_law_exports.py",
        ("a forged export", "    if made == data:", "    if version_of(made, form) == version_of(data, form):",
         "::test_no_mutation_of_a_file_holds"),
        ("an end that nobody enacted", "        if writer(form)(export) == data:",
         "        if len(writer(form)(export)) - len(data) in range(-999, 999):",
         "::test_an_end_that_only_one_unit_lost_is_a_difference"),
    ),
    *_of(
        "cutter/law/akoma_ntoso.py", "unit/law/test_law_exports.py",
        ("a document that does not fit the official schema", "    return [] if fits else [",
         "    return [] if True else [", "::test_the_official_schema_refuses_another_document"),
    ),
    *_of(
        f"{_SQL}functions/survey/fn_table_definitions.sql", "integration/law/test_view_files.py",
        ("a view that shows another text",
         "'view', case when c.relkind in ('v', 'm') then md5(pg_get_viewdef(c.oid)) end,", "'view', null,",
         "::test_the_survey_sees_a_changed_view"),
    ),
    *_of(
        f"{_SQL}api/law_version_recorded.sql", "integration/law/test_law_recorded.py",
        ("a version that was recorded later", " and a.enacted_at <= recorded offset 0", " offset 0",
         "::test_each_command_says_again_what_it_said_then"),
    ),
    *_of(
        f"{_SQL}queries/law.sql", "integration/law/test_law_recorded.py",
        ("the end of a unit that was recorded later",
         "case when ended_at <= %(recorded)s then effective_until end as effective_until", "effective_until",
         "::test_each_command_says_again_what_it_said_then"),
    ),
    *_of(
        f"{_SQL}functions/law/fn_search_units.sql", "integration/law/test_law_recorded.py",
        ("a hit in a version that was recorded later", "and e.enacted_at <= p_recorded", "and true",
         "::test_each_command_says_again_what_it_said_then"),
        ("a hit that only has the letters",
         "and case when h.is_word then true else\n", "and case when true then true else\n",
         "integration/law/test_search_languages.py::test_what_the_law_does_not_have_is_not_found"),
    ),
)  # fmt: skip
"""Reading of enacted law."""

_DESK = "unit/starter/test_desk_boundary.py"
DESK = (
    *_of(
        "starter/desk/boundary.py", _DESK,
        ("a site that points its own name at this machine", "if len(host) != 1 or host[0].lower() not in access.hosts:",
         "if len(host) != 1:", "::test_only_a_trusted_proxy_with_one_user_is_answered"),
        ("a script of a foreign site", "if any(origin not in own for origin in",
         "if any(False for origin in",
         "::test_only_a_trusted_proxy_with_one_user_is_answered"),
        ("a page of a foreign site that embeds ours", "if from_elsewhere and _values(", "if False and _values(",
         "::test_a_page_is_not_embedded_by_another_site"),
        ("a method that could change something", "    if method not in METHODS:", "    if False:",
         "::test_only_a_method_that_reads_is_answered"),
        ("a second request in a body", '    if _values(headers, "content-length") and', '    if False and',
         "integration/desk/test_desk_access.py"
         "::test_a_request_with_two_lengths_is_refused_and_nothing_after_it_is_read"),
        ("a user whom anybody names", "    if not _is_trusted(access, peer):", "    if False:",
         "::test_only_a_trusted_proxy_with_one_user_is_answered"),
        ("two users in one request", "if len(names) != 1 or not 0 < len(", "if not names or not 0 < len(",
         "::test_only_a_trusted_proxy_with_one_user_is_answered"),
    ),
    *_of(
        "starter/desk/server.py", _DESK,
        ("a server on a network without a login",
         "    if not _is_loopback(host) and settings.desk_user_header is None:", "    if False:",
         "::test_a_server_without_a_login_listens_on_this_machine_alone"),
        ("a trusted header without a trusted proxy",
         "    if settings.desk_user_header is not None and not settings.desk_proxies:", "    if False:",
         "::test_a_header_without_a_proxy_is_refused"),
        ("silent callers of the desk", "        self._begin()\n\n    def data_received", "\n    def data_received",
         "integration/desk/test_desk_access.py::test_silent_callers_keep_no_reader_out_and_are_disconnected"),
        ("a NUL in an address", '    if "\\0" in request.url.path or "\\0" in', '    if False and "\\0" in',
         "integration/desk/test_desk_access.py::test_a_nul_in_an_address_is_answered_in_json"),
        ("a proxy's address from a header", "proxy_headers=False,", "proxy_headers=True,",
         "integration/desk/test_desk_access.py::test_a_peer_that_is_no_proxy_is_refused_whatever_its_headers_say"),
    ),
    *_of(
        "starter/desk/answers.py", "integration/desk/test_desk_pages.py",
        ("a next command from an address", '"next": then}',
         '"next": then or next(iter(message.split("`")[1:2]), None)}',
         "::test_a_stranger_s_text_in_an_address_is_no_next_command"),
    ),
    *_of(
        "starter/desk/boundary.py", _DESK,
        ("an answer without security headers", "                headers.setdefault(name, value)\n",
         "                pass\n", "::test_every_answer_has_the_security_headers"),
    ),
    *_of(
        "cutter/projections/desk_pages.py", "unit/law/test_desk_parts.py",
        ("a page without end", "if size > room and place > begins[-1]:", "if False:",
         "::test_every_entry_is_on_one_part_and_no_part_is_too_large"),
    ),
)  # fmt: skip
"""`cutter desk`: who gets an answer, and what an answer may do."""

_POINTS = "integration/backup/test_restore_points.py"
_POINT_AT_THE_GATE = "unit/gates/test_reading_gates.py"

RESTORE_POINTS = (
    *_of(
        "cutter/storage/sql/sessions.sql", _POINTS,
        ("two restore points of one name", "left(gen_random_uuid()::text, 8)", "'00000000'",
         "::test_a_point_switches_no_file_of_the_log"),
        ("an archive without a command", "current_setting('archive_mode') <> 'off'", "true",
         "::test_without_an_archive_the_database_marks_no_point"),
        ("an archiver that fails",
         "coalesce(a.last_failed_time > a.last_archived_time, a.last_failed_time is not null)", "false",
         "::test_a_failing_archiver_stops_the_gate_until_it_works"),
    ),
    *_of(
        "cutter/storage/grants.yaml", _POINTS,
        ("a restore point by a role that takes no backup", "  cutter_exec:\n    EXECUTE:\n      - *gate_functions\n",
         "  cutter_exec:\n    EXECUTE:\n      - *gate_functions\n      - cutter_governance.fn_restore_point\n",
         "::test_no_other_role_marks_a_point[cutter_exec]"),
    ),
    *_of(
        f"{_SQL}functions/backups/fn_archiver.sql", _POINTS,
        ("a database that is not prepared", "to_regprocedure('cutter_guard.fn_restore_point(uuid)') is null", "false",
         "::test_a_database_that_the_superuser_has_not_prepared_fails_with_the_remedy"),
        ("a restore point without an archive", "when not (v_archiver ->> 'archives')::boolean", "when false",
         "::test_without_an_archive_the_gate_fails_with_the_remedy"),
        ("a restore point beside a failing archiver", "when (v_archiver ->> 'fails')::boolean", "when false",
         "::test_a_failing_archiver_stops_the_gate_until_it_works"),
        ("a restore point beside a late archiver", "(v_archiver ->> 'waiting_seconds')::integer > p_late_seconds",
         "false", "::test_an_archiver_that_is_late_stops_the_gate"),
        ("an archive of which nothing is known", "v_archiver ->> 'archived_wal' is null", "false",
         "::test_an_archiver_that_has_archived_nothing_proves_nothing"),
    ),
    *_of(
        f"{_SQL}functions/backups/fn_restore_point.sql", _POINTS,
        ("a restore point of no open run", "r.run_id = p_run_id and r.ended_at is null", "true",
         "::test_a_point_is_marked_only_for_an_open_run"),
        ("a point that the database marks without an archive", "    if v_archiver ->> 'problem' is not null then",
         "    if false then", "::test_without_an_archive_the_database_marks_no_point"),
    ),
    *_of(
        "activities/backup_effects.py", _POINTS,
        ("a restore point that nobody asks for", "    if settings.backup_restore_point:", "    if True:",
         "::test_without_the_setting_nothing_is_marked"),
        ("a backup without the point that is asked for",
         "        if isinstance(marked, BackupRefusal):\n            return marked\n        point = marked",
         "        point = None if isinstance(marked, BackupRefusal) else marked",
         "::test_without_an_archive_the_gate_fails_with_the_remedy"),
    ),
    *_of(
        "cutter/gates/backup.py", _POINT_AT_THE_GATE,
        ("a gate without the point that is asked for", '"restore_point_marked", point is not None',
         '"restore_point_marked", True',
         "::test_restore_point_marked_violated_when_the_deployment_asks_for_one_and_there_is_none"),
        ("a point that the database has not recorded", "point is not None and recorded == point", "True",
         "::test_restore_point_recorded_violated_when_nothing_or_another_is_recorded"),
    ),
    *_of(
        "cutter/domain/restore_point.py", "unit/backup/test_backup_values.py",
        ("a malformed restore point", "any(type(parts[name]) is not kind for name, kind in _KINDS.items())", "False",
         "::test_a_record_with_a_malformed_restore_point_is_refused"),
    ),
    *_of(
        "cutter/preflight/database.py", _POINTS,
        ("a worker whose every backup would fail", "bad if problem.lasting else warned", "warned",
         "::test_without_an_archive_the_gate_fails_with_the_remedy"),
    ),
    *_of(
        f"{_SQL}functions/forms/fn_form_problem.sql", _FORMS_OF_ROWS,
        ("a restore point that is a text", ',\n                "restore_point": "object"', "",
         "::test_a_backup_without_sha256_or_time_or_from_the_future_is_not_recorded"),
    ),
)  # fmt: skip
"""The restore point of a gate: who marks it, on which archive, and what the gate believes about it."""

_TAKE = "integration/backup/test_backup_take.py"
_RESTORE = "integration/backup/test_backup_restore.py"
_BACKUP_VALUES = "unit/backup/test_backup_values.py"

BACKUPS = (
    *_of(
        "cutter/backup/rows.py", _RESTORE,
        ("a type that is a statement", "not all(_TYPE.fullmatch(kind) for kind in columns)", "False",
         f"{_BACKUP_VALUES}::test_a_type_that_could_be_a_statement_is_refused"),
        ("other tables than those of a document", "set(description.columns) != set(TABLES) or ", "",
         f"{_BACKUP_VALUES}::test_another_line_is_no_first_line"),
        ("a row in an error of the load", "            connection.close()\n            raise", "            raise",
         "::test_no_row_gets_into_a_log_or_an_error_when_a_load_breaks_off"),
        ("rows of a table that the record denies", "others.format(sql.Literal(list(names)))",
         "others.format(sql.Literal(list(TABLES)))", "::test_a_record_that_denies_the_rows_of_a_table_is_refused"),
        ("rows of an earlier check", " on commit delete rows", " on commit preserve rows",
         "::test_a_check_leaves_no_row_and_no_table"),
    ),
    *_of(
        "cutter/backup/restore.py", _RESTORE,
        ("an artifact of other bytes", "damaged(artifact, record.sha256, record.size_bytes) or ", "",
         "::test_a_damaged_artifact_is_refused_with_both_digests"),
        ("the record of another document", "if description is None or (description",
         "if description is None and (description",
         "::test_a_record_of_another_document_or_time_is_refused"),
        ("other rows than those of the snapshot", "(restored.fingerprint, dict(restored.row_counts)) != (",
         "() and (restored.fingerprint, dict(restored.row_counts)) != (",
         "::test_a_whole_backup_of_other_rows_is_refused"),
    ),
    *_of(
        "cutter/backup/encryption.py", _TAKE,
        ("a ciphertext for another key", "named[0] in recipient.encryption_key_ids", "True",
         "::test_a_second_recipient_is_refused"),
    ),
    *_of(
        "cutter/storage/pools.py", _TAKE,
        ("rows that a policy hides", '        "row_security": "off",\n', "",
         "::test_rows_that_a_policy_hides_are_refused_not_left_out"),
    ),
    *_of(
        "cutter/backup/rows.sql", _TAKE,
        ("a backup that reads whole tables", "public.unit_version v where v.unit_id = u.id offset 0) t",
         "public.unit_version v where v.unit_id = u.id) t",
         "integration/backup/test_backup_growth.py::test_a_backup_reads_the_rows_of_its_document_only"),
    ),
    *_of(
        "cutter/backup/whole.py", "integration/backup/test_whole_database.py",
        ("a dump of other bytes", "if artifact.sha256 != sha256:", "if False:",
         "::test_a_dump_of_other_bytes_is_refused"),
        ("a dump over a database with runs", "    if runs(server):", "    if False:",
         "::test_a_database_with_runs_is_not_replaced"),
    ),
)  # fmt: skip
"""The backup of a document, and the dump of the whole database."""

_READY = "unit/activities/test_readiness.py"
_FILES = "unit/preflight/test_files.py"

HOSTS = (
    *_of(
        "activities/worker/readiness.py", _READY,
        ("a worker with a fault that polls", "        while self.failed:\n            presence.blocked",
         "        while False:\n            presence.blocked",
         "::test_a_worker_waits_until_the_fault_is_mended_and_its_beats_say_why"),
        ("a fault that a probe does not see", "return self.polls and self.checked and not self.failed",
         "return self.polls and self.checked",
         "::test_a_fault_that_begins_later_ends_readiness_and_its_repair_brings_it_back"),
        ("a worker that is ready before it polls", "return self.polls and self.checked", "return self.checked",
         "::test_the_probes_tell_a_worker_that_lives_from_one_that_serves"),
    ),
    *_of(
        "cutter/preflight/files.py", _FILES,
        ("a key that others can read", "    if open_ones:", "    if False:",
         "::test_a_key_that_other_accounts_can_read_fails_with_its_path"),
        ("a pin of another backup key", "    if pinned not in secret:", "    if False:",
         "::test_a_missing_key_and_a_wrong_pin_fail"),
        ("another worker's key in the home of the backup keys", "    if foreign:", "    if False:",
         "::test_a_backup_home_with_a_key_that_only_signs_fails"),
        ("two keys that sign", "    if len(secret) != 1:", "    if False:",
         "::test_a_worker_that_signs_has_one_private_key"),
        ("a verifier that knows no executor", "primary_fingerprints()) < 2:", "primary_fingerprints()) < 0:",
         "::test_a_verifier_without_the_executor_s_public_key_fails"),
    ),
    *_of(
        "cutter/preflight/database.py", _FILES,
        ("a password that others can read", "        if open_to_others(path):", "        if False:",
         "::test_a_password_is_there_and_only_our_account_may_read_it"),
    ),
    *_of(
        "starter/commands/up.py", _FILES,
        ("a local stack whose runs wait for the workers of another build",
         '    if settings.versioning == "pinned":', "    if False:",
         "::test_up_refuses_pinned_builds_before_it_makes_anything"),
    ),
    *_of(
        "cutter/preflight/checks.py", "unit/preflight/test_checks.py",
        ("a probe that ends the preflight", "        except Exception as problem:",
         "        except ZeroDivisionError as problem:",
         "::test_a_probe_that_raises_is_a_failed_check_and_the_next_ones_are_made"),
    ),
    *_of(
        "cutter/preflight/files.py", _FILES,
        ("a store that answers with other bytes", "    if objects.read(name, len(BODY)) != BODY:", "    if False:",
         "::test_a_store_that_answers_with_other_bytes_fails"),
    ),
    *_of(
        "cutter/storage/pools.py", "unit/storage/test_faults.py",
        ("a pooler that looks like an outage", "        if any(words in line for words in _OF_POOLERS):",
         "        if False:", "::test_a_refusal_by_a_pooler_names_the_pooler_and_what_to_change"),
    ),
)  # fmt: skip
"""Hosts that a worker must not serve from."""

SHOWN = _of(
    "cutter/request_view/view.py",
    "unit/request_view/test_view_of_a_revision.py",
    (
        "the difference shows a text in force that nobody signed", "sha256_hex(old.body) != old.body_sha256", "False",
        "::test_the_removed_and_the_added_words_are_in_every_form_and_in_the_digest",
    ),
)  # fmt: skip


GUARDS = (
    *OUTSIDE,
    *HOSTS,
    *DESK,
    *LAW,
    *BACKUPS,
    *RESTORE_POINTS,
    *OPENING,
    *CLOSED,
    *DELIVERY,
    *NOISY,
    *CONSUMING,
    *CLOSING,
    *PEOPLE,
    *UNITS,
    *REVISIONS,
    *TABLES,
    *APPROVALS,
    *BATCHES,
    *MARKING,
    *RULES,
    *EVIDENCE,
    *COMMANDS,
    *TEXTS,
    *SHOWN,
    *ROWS,
)
