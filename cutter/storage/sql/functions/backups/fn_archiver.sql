-- Returns how the server archives its write-ahead log, and the first problem that makes a restore point useless.
create or replace function cutter_governance.fn_archiver(p_late_seconds double precision) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_archiver jsonb;
begin
    if to_regprocedure('cutter_guard.fn_restore_point(uuid)') is null then
        return '{"problem": "restore_point_unprepared"}';
    end if;
    execute 'select cutter_guard.fn_archiver()' into v_archiver;
    return v_archiver || jsonb_build_object('problem', case
        when not (v_archiver ->> 'archives')::boolean then 'archiving_off'
        when (v_archiver ->> 'fails')::boolean then 'archiver_failing'
        when (v_archiver ->> 'waiting_seconds')::integer > p_late_seconds then 'archiver_late'
        when v_archiver ->> 'archived_wal' is null then 'archiver_unproved' end);
end
$$;
