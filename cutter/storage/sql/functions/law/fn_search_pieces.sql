-- Cuts a word into pieces of at most so many letters. Each piece begins with the last two letters of the one before, so
-- that no three letters that follow each other are lost. PostgreSQL counts the letters of a text from its beginning, so
-- reading a long text letter by letter would take as many steps as the square of its length.
create or replace function cutter_governance.fn_search_pieces(p_word text, p_letters integer) returns setof text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select substr(p_word, first, p_letters) from generate_series(1, length(p_word), p_letters - 2) as first
$$;
