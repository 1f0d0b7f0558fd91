-- Returns fn_tenant_room in the transaction that makes a run. If there is a cap, callers wait for each other on the
-- global chain. Every registration locks that chain in the end, so the two locks are always taken in one order.
create or replace function cutter_governance.fn_tenant_turn(p_tenant text, p_workflow text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    caps jsonb := cutter_governance.fn_tenant_caps(p_tenant, p_workflow);
begin
    if coalesce(caps ->> 'max_concurrency', caps ->> 'max_runs_per_min') is null then
        return caps;
    end if;
    insert into cutter_governance.audit_head (chain, seq, hash)
    values ('global', 0, cutter_governance.fn_digest('global')) on conflict do nothing;
    perform from cutter_governance.audit_head where chain = 'global' for update;
    return cutter_governance.fn_tenant_room(p_tenant, p_workflow);
end
$$;
