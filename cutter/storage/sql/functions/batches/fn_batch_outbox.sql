-- Returns the documents of a batch that are still to be put.
create or replace function cutter_governance.fn_batch_outbox(p_batch_id text) returns setof cutter_governance.outbox
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select * from cutter_governance.outbox where batch_id = p_batch_id and done_at is null order by id
$$;
