-- Enters each version of a unit that an enactment begins into the index of the search, and its words into the list of words.
create or replace function cutter_governance.fn_search_enter(p_change_set_id uuid) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    insert into public.unit_search (version_id, words, grams)
    select v.id, cutter_governance.fn_search_words(f.title, f.body, f.law),
        array_append(cutter_governance.fn_search_grams(f.title || ' ' || f.body), f.law)
    from public.enactment e
    join public.source_document d on d.source_document_ref = e.source_document_ref
    join cutter_governance.cut_change_set_affected_row a on a.change_set_id = e.change_set_id
    join public.unit_version v on v.id = a.unit_version_id
    cross join lateral (
        select cutter_governance.fn_search_form(v.title) as title, cutter_governance.fn_search_form(v.body) as body,
            cutter_governance.fn_search_law(d.doc_code) as law offset 0) f
    where e.change_set_id = p_change_set_id
    on conflict (version_id) do nothing;
    insert into public.search_word (word, near)
    select word, cutter_governance.fn_search_near(word)
    from (
        select distinct lexeme as word
        from cutter_governance.cut_change_set_affected_row a
        join public.unit_search s on s.version_id = a.unit_version_id
        cross join lateral unnest(tsvector_to_array(s.words)) lexeme
        where a.change_set_id = p_change_set_id) as words
    where length(word) between 4 and 40 and word !~ '[\x01[:digit:]]'
        and (select k.word from public.search_word k where k.word = words.word collate "C") is null
    on conflict (word) do nothing
$$;
