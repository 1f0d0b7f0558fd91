-- Returns a time as ISO 8601 text in UTC.
create or replace function cutter_governance.fn_utc(p_at timestamptz) returns text
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
