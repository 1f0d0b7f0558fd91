-- The end of a request is recorded and decides its review decision. Its beginning and its end become notifications.
create trigger trg_approval_request_decides after update of status on cutter_governance.approval_request
    for each row when (old.status = 'requested' and new.status <> 'requested' and new.review_decision_id is not null)
    execute function cutter_governance.fn_request_decides();
create trigger trg_approval_request_moved after update of status on cutter_governance.approval_request
    for each row when (old.status is distinct from new.status) execute function cutter_governance.fn_approval_moved();
create trigger trg_approval_request_notification after insert on cutter_governance.approval_request
    for each row when (new.status = 'requested') execute function cutter_governance.fn_notification_of_request();
create trigger trg_approval_request_answered after update of status on cutter_governance.approval_request
    for each row when (old.status = 'requested' and new.status <> 'requested')
    execute function cutter_governance.fn_notification_of_request();
