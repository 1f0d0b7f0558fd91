-- Returns the units in force on a day, or of one version of a law, whose title or text has the words, the best first.
-- Words in a script without spaces are found inside a longer word. PostgreSQL keeps at most 1 MB of the words of a text.
-- So after the first 250,000 characters of a unit, words are found only if they follow each other.
create or replace function api.search(
    words text, "on" date default (now() at time zone 'UTC')::date, in_document text default null,
    in_version integer default null, at_most integer default 20)
returns table (
    document text, version integer, address text, title text, body text, content_sha256 text, effective_from date,
    rank real)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with asked as (
        select cutter_governance.fn_search_query(words) as query,
            nullif(btrim(cutter_governance.fn_search_form(words)), '') as form),
    unit as (
        select u.*, cutter_governance.fn_search_form(u.title) as title_form,
            cutter_governance.fn_search_form(u.body) as body_form
        from api.law_version v
        join api.unit_of_version u on u.document = v.document and u.version = v.version
        where (in_document is null or v.document = in_document)
            and case when in_version is null
                then v.effective_from <= "on" and ("on" < v.effective_until or v.effective_until is null)
                else v.version = in_version end),
    hit as (
        select unit.*, asked.form, asked.query,
            setweight(to_tsvector('simple', title_form), 'A') || to_tsvector('simple', left(body_form, 250000)) as vector
        from unit, asked)
    select document, version, address, title, body, content_sha256, effective_from,
        (ts_rank(vector, query) + 4 * (strpos(title_form, form) > 0)::integer
            + 2 * (strpos(lower(body), lower(words)) > 0)::integer + (strpos(body_form, form) > 0)::integer)::real as rank
    from hit
    where vector @@ query or strpos(body_form, form) > 0 and words !~ '["-]'
    order by rank desc, document, document_order
    limit least(at_most, 1000)
$$;
comment on function api.search(text, date, text, integer, integer) is
    'The units in force on a day, or of one version of a law, whose title or text has the words, the best first';
