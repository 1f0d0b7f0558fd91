-- Returns the writer digest of what a run has stored: units of a first cut, else rows of its revision.
create or replace function cutter_governance.fn_stored_digest(p_run_id text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when r.operation_kind = 'first_cut' then cutter_governance.fn_writer_digest(r.docprefix)
        else cutter_governance.fn_revision_digest(r.run_id) end
    from cutter_governance.run r where r.run_id = p_run_id
$$;
