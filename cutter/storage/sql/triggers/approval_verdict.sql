-- The table is append-only and has columns of declared forms; an accepted approval wakes the run's batch.
create trigger trg_ab_form before insert on cutter_governance.approval_verdict
    for each row execute function cutter_governance.fn_check_form('gate', 'name', 'kb_id', 'line', 'code', 'name',
        'reason', 'line', 'approval_sha256', 'digest', 'decision', 'name', 'approver', 'name', 'fingerprint', 'name',
        'challenge', 'line', 'writer_digest', 'digest', 'policy_sha256', 'digest', 'statement', 'statement');
create trigger trg_approval_verdict_append_only before update or delete or truncate
    on cutter_governance.approval_verdict for each statement execute function cutter_governance.fn_append_only();
create trigger trg_approval_verdict_notify after insert on cutter_governance.approval_verdict
    for each row when (new.accepted) execute function cutter_governance.fn_batch_notify();
alter table cutter_governance.approval_verdict enable always trigger trg_approval_verdict_append_only;
