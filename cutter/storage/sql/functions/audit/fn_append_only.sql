-- Refuses UPDATE, DELETE and TRUNCATE on an append-only table.
create or replace function cutter_governance.fn_append_only() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'CU005';
end
$$;
