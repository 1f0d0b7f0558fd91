-- Returns the words of a unit for the index of the search: its title (weight A), its text, and its law's own word. PostgreSQL
-- keeps at most 1 MB of the words of a text. No 250,000 characters have more, so no text keeps its law from being enacted.
create or replace function cutter_governance.fn_search_words(p_title text, p_body text, p_law text) returns tsvector
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select setweight(to_tsvector('simple', left(p_title, 1000)), 'A') || to_tsvector('simple', left(p_body, 250000))
        || array_to_tsvector(array[p_law])
$$;
