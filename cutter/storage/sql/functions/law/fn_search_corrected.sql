-- Returns a search with the near words of each unknown one. Null if every word is known, or one has none near.
create or replace function cutter_governance.fn_search_corrected(p_form text) returns tsquery
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with asked as (
        select word, (select k.word from public.search_word k where k.word = asked.word collate "C") is not null as known
        from regexp_split_to_table(btrim(p_form), ' +') as asked (word)),
    meant as (
        select a.word, a.known, case when a.known or length(a.word) < 4 then array[a.word] else (
            select array_agg(k.word) from (
                select k.word from public.search_word k
                where k.near && cutter_governance.fn_search_near(a.word)
                order by abs(length(k.word) - length(a.word)), k.word limit 8) k) end as words
        from asked a)
    select case when bool_and(known or length(word) < 4) or bool_or(words is null) then null
        else to_tsquery('simple', string_agg('(' || array_to_string(words, '|') || ')', '&')) end
    from meant
$$;
