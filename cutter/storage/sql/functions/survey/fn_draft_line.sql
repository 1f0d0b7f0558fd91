-- Returns the line of the rows' fingerprint for a draft that waits next to the law in force.
create or replace function cutter_governance.fn_draft_line(p_version public.unit_version) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select concat('draft ', p_version.id, ' ', p_version.version_seq, ' ', p_version.content_hash, ' ',
        encode(sha256(convert_to(cutter_governance.fn_version_line(p_version.id), 'UTF8')), 'hex'))
$$;
