-- Cuts a word into pieces of so many letters, each beginning with the last two of the one before. To read a long text
-- letter by letter would take as many steps as the square of its length.
create or replace function cutter_governance.fn_search_pieces(p_word text, p_letters integer) returns setof text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select substr(p_word, first, p_letters) from generate_series(1, length(p_word), p_letters - 2) as first
$$;
