-- Returns each enacted version of each law, or of one law, as the database showed it at a moment. A version that was enacted
-- later is missing, and ends and status are those of that moment. The columns are those of law_version.
create or replace function api.law_version_recorded(recorded timestamptz default 'infinity', in_document text default null)
returns table (
    document text, version integer, title text, operation text, run_id text, change_set uuid, enacted_at timestamptz,
    effective_from date, effective_until date, status text, source_version integer, source_sha256 text,
    region_sha256 text, writer_digest text, units integer, base_version integer, base_receipt_hash text, reason text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select v.document, v.version, v.title, v.operation, v.run_id, v.change_set, v.enacted_at, v.effective_from,
        lead(v.effective_from) over later,
        case
            when v.effective_from > today.day then 'not_yet_in_force'
            when lead(v.effective_from) over later <= today.day then 'superseded'
            when v.operation = 'repeal' then 'repealed'
            else 'in_force' end,
        v.source_version, v.source_sha256, v.region_sha256, v.writer_digest, v.units, v.base_version,
        v.base_receipt_hash, v.reason
    from (
        select in_document as document where in_document is not null
        union all
        select d.doc_code from public.enactment e
        join public.source_document d on d.source_document_ref = e.source_document_ref
        where in_document is null and e.n = 1) as law
    cross join (select (least(recorded, now()) at time zone 'UTC')::date as day) as today
    -- each law by its key: `offset 0` keeps the condition inside
    cross join lateral (
        select * from api.law_version a where a.document = law.document and a.enacted_at <= recorded offset 0) as v
    window later as (partition by v.document order by v.version)
    order by v.document, v.version
$$;
comment on function api.law_version_recorded(timestamptz, text) is
    'Each enacted version of each law, as the database showed it at a moment';
