-- Returns the run that a document's name stands for: the open run, else the newest one if it failed, else the one that
-- enacted the law, else the newest one.
create or replace function cutter_governance.fn_run_of_document(p_document_id text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(case when n.ended_at is not null and n.state not like 'failed\_%' then (
        select r.run_id from cutter_governance.run r
        join cutter_governance.gate_receipt g on g.run_id = r.run_id
        where r.document_id = p_document_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null
        order by g.sealed_at desc limit 1) end, n.run_id)
    from cutter_governance.run n where n.document_id = p_document_id
    order by n.ended_at is null desc, n.created_at desc, n.run_id desc limit 1
$$;
