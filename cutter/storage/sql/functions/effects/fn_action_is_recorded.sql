-- Returns whether an action is on record under this name, whatever its payload.
create or replace function cutter_governance.fn_action_is_recorded(p_run_id text, p_connector text, p_operation text, p_target text)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select exists (select from cutter_governance.action_receipt a
        where a.idempotency_key = p_connector || ':' || p_operation || ':' || p_target
            and a.tenant = coalesce((select r.tenant from cutter_governance.run r where r.run_id = p_run_id), 'default'))
$$;
