-- A document's fields have their forms; a document about a stop wakes the run's batch.
create trigger trg_ab_form before insert or update on cutter_governance.outbox
    for each row execute function cutter_governance.fn_check_form('subject', 'line', 'kb_id', 'document id', 'body', 'document',
        'sha256', 'digest');
create trigger trg_stop_route_notify after insert on cutter_governance.outbox
    for each row when (new.kind = 'stop_route') execute function cutter_governance.fn_stop_route_notify();
