-- Returns a key that identifies the catalogue rows of a dimension: every change of a definition writes new rows and
-- changes the key. The key is cheap to read. The definitions themselves take 20 ms, so they are read only when the
-- key is not the one that was read last.
create or replace function cutter_governance.fn_catalog_key(p_dimension text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    spaces oid[] := array['public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace]::oid[];
    relations oid[];
    answer text;
begin
    if p_dimension = 'functions' then
        select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid) into answer
        from pg_proc where pronamespace = any (spaces);
        return md5(answer);
    end if;
    select array_agg(oid), string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid) into relations, answer
    from pg_class where relnamespace = any (spaces) and relkind in ('r', 'p', 'v', 'm', 'f');
    if p_dimension = 'triggers' then
        return md5(concat((select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid)
            from pg_trigger where tgrelid = any (relations) and not tgisinternal)));
    end if;
    return md5(concat(answer,
        ';', (select string_agg(concat(attrelid, '.', attnum, ' ', xmin, ' ', ctid), ',' order by attrelid, attnum)
              from pg_attribute where attrelid = any (relations) and attnum > 0),
        ';', (select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid)
              from pg_attrdef where adrelid = any (relations)),
        ';', (select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid)
              from pg_constraint where conrelid = any (relations)),
        ';', (select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid)
              from pg_rewrite where ev_class = any (relations)),
        ';', (select string_agg(concat(i.indexrelid, ' ', i.xmin, ' ', i.ctid, ' ', c.xmin, ' ', c.ctid), ','
                  order by i.indexrelid)
              from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = any (relations))));
end
$$;
