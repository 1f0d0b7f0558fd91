-- Returns every three letters that follow each other within a word of a text in its search form. From Thai on, where
-- scripts write no spaces, it also returns each letter and every two letters.
create or replace function cutter_governance.fn_search_grams(p_form text) returns text[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
    with word as materialized (select distinct word from string_to_table(p_form, ' ') as word),
    piece as (
        select word from word where length(word) <= 300
        union all
        select small from word cross join cutter_governance.fn_search_pieces(word, 30000) as large
        cross join cutter_governance.fn_search_pieces(large, 300) as small
        where length(word) > 300)
    select coalesce(array_agg(distinct gram), '{}') from (
        select substr(word, n, 3) as gram from piece cross join generate_series(1, length(word) - 2) as n
        union all
        select substr(word, n, size) from piece cross join generate_series(1, 2) as size
        cross join generate_series(1, length(word) - size + 1) as n
        -- Such a letter has at least three bytes, so the first condition is quick and rules out most words.
        where octet_length(word) > length(word) + 1
            and ascii(substr(word, n, 1)) >= 3584 and ascii(substr(word, n + size - 1, 1)) >= 3584) as part
$$;
