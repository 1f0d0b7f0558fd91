-- Returns the units of the law of a day, or of one version of a law, that a query finds, the best first. A unit that only has
-- the letters must have the whole text that was asked for.
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
        select d.doc_code, e.n, u.canonical_address, v.*, h.words, h.is_word,
            cutter_governance.fn_search_form(v.title) as title_form, cutter_governance.fn_search_form(v.body) as body_form
        from asked
        cross join cutter_governance.fn_search_hits(p_query, case when p_words !~ '(^|\s)-|"' then
            cutter_governance.fn_search_grams(asked.form) end, p_document) h
        join public.unit_version v on v.id = h.version_id
        join public.information_unit u on u.id = v.unit_id
        join public.enactment b on b.change_set_id = v.enacted_by
        join public.source_document d on d.source_document_ref = b.source_document_ref
        left join public.enactment x on x.change_set_id = v.ended_by
        cross join lateral (
            select e.n from public.enactment e
            where e.source_document_ref = b.source_document_ref and e.enacted_at <= p_recorded
                and case when p_version is null then e.effective_from <= p_on else e.n = p_version end
            order by e.n desc limit 1) e
        where b.n <= e.n and (x.n is null or x.n > e.n) and (p_document is null or d.doc_code = p_document))
    select hit.doc_code, hit.n, hit.canonical_address, hit.title, hit.body, hit.content_hash, hit.effective_from,
        (ts_rank(hit.words, p_query) + 4 * (strpos(hit.title_form, asked.form) > 0)::integer
            + 2 * (strpos(lower(hit.body), lower(p_words)) > 0)::integer
            + (strpos(hit.body_form, asked.form) > 0)::integer)::real as rank
    from hit, asked
    where hit.is_word or strpos(hit.title_form, asked.form) > 0 or strpos(hit.body_form, asked.form) > 0
    order by rank desc, hit.doc_code, hit.document_order
    limit p_most
$$;
