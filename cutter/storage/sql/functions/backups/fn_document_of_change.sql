-- Returns the document that a change set changed, or null.
create or replace function cutter_governance.fn_document_of_change(p_change_set_id uuid) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select r.document_id from cutter_governance.cut_change_set c
    join cutter_governance.run r on r.run_id = c.run_id
    where c.change_set_id = p_change_set_id
$$;
