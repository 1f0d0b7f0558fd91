-- Returns every trigger of the product's schemas by table and name, with all that decides what it does.
create or replace function cutter_governance.fn_trigger_definitions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(c.relname || '.' || t.tgname, jsonb_build_object(
        'enabled', t.tgenabled, 'function', t.tgfoid::regproc::text, 'type', t.tgtype,
        'deferred', t.tginitdeferred, 'arguments', encode(t.tgargs, 'escape'),
        'condition', case when t.tgqual is null then ''
            else substring(pg_get_triggerdef(t.oid) from ' WHEN (.*) EXECUTE ') end,
        'columns', t.tgattr::text))
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal
        and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace)
$$;
