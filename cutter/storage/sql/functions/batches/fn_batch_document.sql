-- Puts a document about a whole batch (overview, summary, report) into the outbox.
create or replace function cutter_governance.fn_batch_document(p_batch_id text, p_kind text, p_subject text, p_kb_id text, p_body text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_kind not in ('batch_overview', 'queue_summary', 'batch_report') then
        raise exception '% is no document of a batch', p_kind using errcode = 'CU006';
    end if;
    insert into cutter_governance.outbox (batch_id, kind, subject, kb_id, body)
    values (p_batch_id, p_kind, p_subject, p_kb_id, p_body) on conflict (kb_id) do nothing;
    return found;
end
$$;
