-- Refuses the record of a backup that lacks its sha256 or its time, or that lies in the future.
create or replace function cutter_governance.fn_check_backup() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.response_metadata ->> 'sha256' is null or new.response_metadata ->> 'taken_utc' is null then
        raise exception 'the backup % was refused: its record lacks its sha256 or its time', new.target
            using errcode = 'CU021';
    end if;
    if (new.response_metadata ->> 'taken_utc')::timestamptz > clock_timestamp() + interval '1 minute' then
        raise exception 'the backup % was refused: it would have been taken in the future', new.target
            using errcode = 'CU021';
    end if;
    return new;
end
$$;
