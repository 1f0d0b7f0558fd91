-- Puts an item that waits for a person into a queue, with one document, and returns whether it was not there already.
create or replace function cutter_governance.fn_queue_enter(
    p_batch_id text, p_document_id text, p_queue text, p_state text, p_code text, p_reason text, p_kb_id text, p_body text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (select from cutter_governance.batch_queue where batch_id = p_batch_id and document_id = p_document_id
               and left_at is null and queue = p_queue and state = p_state and code = p_code) then
        return false;
    end if;
    perform cutter_governance.fn_queue_leave(p_batch_id, p_document_id, p_queue);
    insert into cutter_governance.batch_queue (batch_id, document_id, run_id, queue, state, code, reason, kb_id)
    values (p_batch_id, p_document_id, (
            select run_id from cutter_governance.run where batch_id = p_batch_id and document_id = p_document_id
            order by created_at desc, run_id desc limit 1),
        p_queue, p_state, left(p_code, 100), left(p_reason, 500), p_kb_id);
    if p_body is not null then
        insert into cutter_governance.outbox (batch_id, kind, subject, kb_id, body)
        values (p_batch_id, 'queue_entry', p_document_id, p_kb_id, p_body);
    end if;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'queue_entered', jsonb_build_object(
        'document_id', p_document_id, 'queue', p_queue, 'state', p_state, 'code', left(p_code, 100), 'kb_id', p_kb_id));
    return true;
end
$$;
