-- Sets the caps that `p_caps` names (null removes one), and records on the chain `tenants` who changed what.
create or replace function cutter_governance.fn_tenant_set(p_tenant text, p_workflow text, p_caps jsonb, p_by text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before jsonb := cutter_governance.fn_tenant_caps(p_tenant, p_workflow);
    v_after jsonb;
begin
    insert into cutter_governance.tenant_cap (tenant, workflow) values (p_tenant, p_workflow) on conflict do nothing;
    update cutter_governance.tenant_cap c
    set weight = n.weight, max_concurrency = n.max_concurrency, max_runs_per_min = n.max_runs_per_min,
        max_writes_per_run = n.max_writes_per_run, set_at = clock_timestamp()
    from cutter_governance.tenant_cap o, jsonb_populate_record(o, p_caps - 'tenant' - 'workflow') as n
    where c.tenant = p_tenant and c.workflow = p_workflow and o.tenant = c.tenant and o.workflow = c.workflow;
    delete from cutter_governance.tenant_cap
    where tenant = p_tenant and workflow = p_workflow
        and num_nonnulls(weight, max_concurrency, max_runs_per_min, max_writes_per_run) = 0;
    v_after := cutter_governance.fn_tenant_caps(p_tenant, p_workflow);
    perform cutter_governance.fn_audit_append('tenants', 'tenants', 'tenant_caps', jsonb_build_object(
        'tenant', p_tenant, 'workflow', p_workflow, 'before', v_before, 'after', v_after, 'by', left(p_by, 100),
        'session', session_user));
    perform cutter_governance.fn_audit_anchor('tenants', 'tenant_caps');
    return v_after;
end
$$;
