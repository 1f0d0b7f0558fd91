-- Returns whether the caller may take the shared backup of a batch; the lock is held until the caller's connection
-- ends.
create or replace function cutter_governance.fn_wave_lock(p_batch_id text) returns boolean
language sql volatile security definer
set search_path = pg_catalog, pg_temp
return pg_try_advisory_lock(hashtextextended('cutter backup ' || p_batch_id, 0));
