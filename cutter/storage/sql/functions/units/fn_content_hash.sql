-- Returns the SHA-256 of a unit's body as hex, the value of unit_version.content_hash.
create or replace function public.fn_content_hash(p_body text) returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, public, pg_temp
return encode(sha256(convert_to(p_body, 'UTF8')), 'hex');
