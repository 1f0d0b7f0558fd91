-- Returns the SHA-256 of a text in UTF-8 as hex.
create or replace function cutter_governance.fn_digest(p_text text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return encode(sha256(convert_to(p_text, 'UTF8')), 'hex');
