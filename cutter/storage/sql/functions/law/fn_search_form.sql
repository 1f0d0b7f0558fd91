-- Returns a text in the form in which words are compared: folded, with a space for everything but letters and digits.
create or replace function cutter_governance.fn_search_form(p_text text) returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
return regexp_replace(cutter_governance.fn_search_fold(p_text), '[^[:alnum:]]+', ' ', 'g');
