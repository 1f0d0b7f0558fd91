-- Writes the head of a chain to the global chain, so that nobody can remove or replace a whole chain unnoticed.
create or replace function cutter_governance.fn_audit_anchor(p_run_id text, p_kind text) returns text
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select cutter_governance.fn_audit_append('global', p_run_id, p_kind,
        jsonb_build_object('run_head', h.hash, 'run_seq', h.seq))
    from cutter_governance.audit_head h where h.chain = p_run_id
$$;
