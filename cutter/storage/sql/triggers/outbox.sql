-- A document's fields have their forms, and its name is its own; a document about a stop, and a request that is put, wake the run's batch.
create trigger trg_ab_form before insert or update on cutter_governance.outbox
    for each row execute function cutter_governance.fn_check_form('subject', 'line', 'kb_id', 'document id', 'body', 'document',
        'sha256', 'digest');
create trigger trg_name before insert or update of kb_id on cutter_governance.outbox
    for each row execute function cutter_governance.fn_outbox_name();
create trigger trg_stop_route_notify after insert on cutter_governance.outbox
    for each row when (new.kind = 'stop_route') execute function cutter_governance.fn_batch_notify();
create trigger trg_request_put_notify after update of done_at on cutter_governance.outbox
    for each row when (new.kind = 'request' and new.done_at is not null)
    execute function cutter_governance.fn_batch_notify();
