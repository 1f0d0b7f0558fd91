-- Returns the canonical JSON of a flat ASCII record, with the same bytes as cutter.domain.digests.canonical_json.
create or replace function cutter_governance.fn_canonical_flat(p_record jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select '{' || string_agg(to_json(key)::text || ':' || value::text, ',' order by key collate "C") || '}'
    from jsonb_each(p_record)
$$;
