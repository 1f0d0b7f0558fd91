-- Returns the words of a unit for the index of the search: its title (weight A), its text, and its law's own word. PostgreSQL
-- keeps at most 1 MB of the words of a text, so only the first 250,000 characters are entered, or 50,000 if those are too many.
create or replace function cutter_governance.fn_search_words(p_title text, p_body text, p_law text) returns tsvector
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_head constant tsvector := setweight(to_tsvector('simple', left(p_title, 10000)), 'A')
        || array_to_tsvector(array[p_law]);
begin
    return v_head || to_tsvector('simple', left(p_body, 250000));
exception when program_limit_exceeded then
    return v_head || to_tsvector('simple', left(p_body, 50000));
end
$$;
