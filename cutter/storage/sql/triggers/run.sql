-- A run's texts have their forms; a change wakes its batch and becomes a notification; a run that people ended names
-- them. The end of a run cancels its open request, but the request of a rehearsal can be signed for the night.
create trigger trg_ab_form before insert or update on cutter_governance.run
    for each row execute function cutter_governance.fn_check_form('document_id', 'line', 'starter', 'name', 'state', 'name',
        'outcome', 'name', 'tenant', 'name', 'caps', 'caps', 'last_error', 'error', 'workflow_version_id', 'name',
        'first_execution_id', 'line', 'batch_id', 'line', 'docprefix', 'line');
create trigger trg_run_batch_notify after insert or update of state, ended_at on cutter_governance.run
    for each row when (new.batch_id is not null) execute function cutter_governance.fn_batch_notify();
create trigger trg_run_ended_by_people before update of state on cutter_governance.run
    for each row when (old.state is distinct from new.state
        and (new.state = 'failed_rejected' or (new.state like 'voided\_%' and new.state <> 'voided_cancelled')))
    execute function cutter_governance.fn_run_ended_by_people();
create trigger trg_run_notification after update of ended_at, state on cutter_governance.run
    for each row when (old.state is distinct from new.state or old.ended_at is distinct from new.ended_at)
    execute function cutter_governance.fn_notification_of_run();
create trigger trg_run_request after update of ended_at on cutter_governance.run
    for each row when (old.ended_at is null and new.ended_at is not null and new.outcome is distinct from 'rehearsed')
    execute function cutter_governance.fn_request_cancel();
