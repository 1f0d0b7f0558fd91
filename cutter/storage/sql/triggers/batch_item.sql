-- The table has columns of declared forms; a decision about an item wakes its batch.
create trigger trg_ab_form before insert or update on cutter_governance.batch_item
    for each row execute function cutter_governance.fn_check_form('document_id', 'line', 'tenant', 'name',
        'source_uri', 'target', 'marking_profile', 'line', 'reason', 'line');
create trigger trg_batch_item_notify after update of decided on cutter_governance.batch_item
    for each row when (old.decided is distinct from new.decided) execute function cutter_governance.fn_batch_notify();
