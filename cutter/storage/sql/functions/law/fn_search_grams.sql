-- Returns every three letters that follow each other within a word of a text in its search form. A text that has another
-- one inside a word has all of the other one's. From Thai on, where scripts write no spaces, it also returns each letter
-- and every two letters.
create or replace function cutter_governance.fn_search_grams(p_form text) returns text[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
    with letter as (
        select a, lead(a) over following as b, lead(a, 2) over following as c
        from unnest(string_to_array(
            (select string_agg(distinct word, ' ') from string_to_table(p_form, ' ') word), null)) with ordinality l(a, n)
        window following as (order by n))
    select coalesce(array_agg(distinct gram), '{}')
    from letter cross join lateral (values
        (a || b || c, a <> ' ' and b <> ' ' and c <> ' '),
        (a || b, ascii(a) >= 3584 and ascii(b) >= 3584),
        (a, ascii(a) >= 3584)) as part (gram, wanted)
    where wanted
$$;
