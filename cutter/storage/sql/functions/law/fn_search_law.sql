-- Returns the word that each unit of a law has in the index of the search and that nobody can type.
create or replace function cutter_governance.fn_search_law(p_document text) returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
return E'\x01' || p_document;
