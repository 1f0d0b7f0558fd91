-- Marks a restore point for the backup of an open run. Returns it with the archiver, whose problem prevents it.
create or replace function cutter_governance.fn_restore_point(p_run_id text, p_late_seconds double precision) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_archiver constant jsonb := cutter_governance.fn_archiver(p_late_seconds);
    v_point jsonb;
begin
    if not exists (select from cutter_governance.run r where r.run_id = p_run_id and r.ended_at is null) then
        raise exception 'there is no open run % for a restore point', left(p_run_id, 100) using errcode = 'CU006';
    end if;
    if v_archiver ->> 'problem' is not null then
        return v_archiver;
    end if;
    -- The superuser's functions may be missing, and a run id is too long for a name: it ends in a UUID.
    execute 'select cutter_guard.fn_restore_point($1)' into v_point using right(p_run_id, 36)::uuid;
    return v_archiver || v_point;
end
$$;
