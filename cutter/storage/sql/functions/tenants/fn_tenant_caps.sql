-- Returns the caps of a tenant's runs of a workflow: the workflow's own number, else the tenant's; null is no cap.
create or replace function cutter_governance.fn_tenant_caps(p_tenant text, p_workflow text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('tenant', p_tenant, 'workflow', p_workflow, 'weight', coalesce(o.weight, a.weight, 1),
        'max_concurrency', coalesce(o.max_concurrency, a.max_concurrency),
        'max_runs_per_min', coalesce(o.max_runs_per_min, a.max_runs_per_min),
        'max_writes_per_run', coalesce(o.max_writes_per_run, a.max_writes_per_run))
    from (select) as one
    left join cutter_governance.tenant_cap a on a.tenant = p_tenant and a.workflow = 'any'
    left join cutter_governance.tenant_cap o on o.tenant = p_tenant and o.workflow = p_workflow
$$;
