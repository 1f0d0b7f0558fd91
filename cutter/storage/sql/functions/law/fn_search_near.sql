-- Returns a word and the words that lack one of its letters; nothing for a short or very long word. If two words share
-- one of these, they differ by at most a letter that is missing, added, wrong, or by two letters that changed places.
create or replace function cutter_governance.fn_search_near(p_word text) returns text[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(array_agg(distinct near), '{}')
    from (
        select p_word as near
        union all
        select overlay(p_word placing '' from place for 1) from generate_series(1, length(p_word)) place) as words
    where length(p_word) between 4 and 40
$$;
