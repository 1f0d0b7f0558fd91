-- Returns the units of the law of a day, or of one version, that a query finds, the best first. A unit that only has
-- the letters must have the whole text. Only the best 2,000 are compared closely, because this reads their texts.
create or replace function cutter_governance.fn_search_units(
    p_query tsquery, p_words text, p_on date, p_document text, p_version integer, p_recorded timestamptz, p_most integer)
returns table (
    document text, version integer, address text, title text, body text, content_sha256 text, effective_from date,
    rank real)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with asked as materialized (
        select btrim(cutter_governance.fn_search_form(p_words)) as form),
    hit as materialized (
        select v.id, d.doc_code, e.n, v.document_order, ts_rank(
            (select s.words from public.unit_search s where s.version_id = h.version_id), p_query) as rank
        from asked
        cross join cutter_governance.fn_search_hits(p_query, case when p_words !~ '(^|\s)-|"' then
            cutter_governance.fn_search_grams(asked.form) end, p_document) h
        join public.unit_version v on v.id = h.version_id
        join public.enactment b on b.change_set_id = v.enacted_by
        join public.source_document d on d.source_document_ref = b.source_document_ref
        left join public.enactment x on x.change_set_id = v.ended_by
        cross join lateral (
            select e.n from public.enactment e
            where e.source_document_ref = b.source_document_ref and e.enacted_at <= p_recorded
                and case when p_version is null then e.effective_from <= p_on else e.n = p_version end
            order by e.n desc limit 1) e
        where b.n <= e.n and (x.n is null or x.n > e.n) and (p_document is null or d.doc_code = p_document)
            and case when h.is_word then true else
                strpos(cutter_governance.fn_search_form(v.title), asked.form) > 0
                or strpos(cutter_governance.fn_search_form(v.body), asked.form) > 0 end
        order by h.is_word desc, rank desc, d.doc_code, v.document_order limit 2000),
    best as materialized (
        select hit.id, hit.doc_code, hit.n, hit.document_order, (
            hit.rank + 4 * (strpos(cutter_governance.fn_search_form(v.title), asked.form) > 0)::integer
            + 2 * (strpos(lower(v.body), lower(p_words)) > 0)::integer
            + (strpos(cutter_governance.fn_search_form(v.body), asked.form) > 0)::integer)::real as rank
        from asked cross join hit
        join public.unit_version v on v.id = hit.id
        order by 5 desc, hit.doc_code, hit.document_order limit p_most)
    select best.doc_code, best.n, u.canonical_address, v.title, v.body, v.content_hash, v.effective_from, best.rank
    from best
    join public.unit_version v on v.id = best.id
    join public.information_unit u on u.id = v.unit_id
    order by best.rank desc, best.doc_code, best.document_order
$$;
