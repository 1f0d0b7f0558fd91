-- Returns a tenant's caps with what is used by runs that neither end, stop nor wait. `room`: runs that may begin now
-- (null: no cap). `code`: the cap that leaves no room. `again_utc`: the second in which the minute has room.
create or replace function cutter_governance.fn_tenant_room(p_tenant text, p_workflow text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with cap as (
        select caps, (caps ->> 'max_concurrency')::integer as at_once, (caps ->> 'max_runs_per_min')::integer as a_minute
        from cutter_governance.fn_tenant_caps(p_tenant, p_workflow) as caps
    ), used as (
        -- the minute before the caller's statement: a clock that moves cannot be looked up in an index
        select (select count(*) from cutter_governance.run
                where tenant = p_tenant and ended_at is null and state not like 'stopped\_%'
                    and state not in ('awaiting_cut_authorization', 'awaiting_lifecycle_authorization')) as at_work,
            (select count(*) from cutter_governance.run
             where tenant = p_tenant and created_at > statement_timestamp() - interval '1 minute') as last_minute
    ), room as (
        select at_once - at_work as at_once, a_minute - last_minute as a_minute,
            least(at_once - at_work, a_minute - last_minute) as runs
        from cap, used
    )
    select cap.caps || to_jsonb(used) || jsonb_build_object('room', case when runs < 0 then 0 else runs end,
        'code', case when room.at_once <= 0 then 'STOP_TENANT_CONCURRENCY' when room.a_minute <= 0 then 'STOP_TENANT_RATE' end,
        'again_utc', case when room.a_minute <= 0 then (
            select to_char((created_at + interval '61 seconds') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            from cutter_governance.run
            where tenant = p_tenant order by created_at desc offset cap.a_minute - 1 limit 1) end)
    from cap, used, room
$$;
