-- name: rows_of_document
-- Copies every row of one document, each as the name of its table and one JSON object. The first line describes the backup.
-- `offset 0` keeps each condition at its index, however many documents there are. JSON text holds neither a tab nor the
-- character 1, so that COPY changes no byte of it.
copy (
with units as materialized (
    select u.* from public.information_unit u
    where u.deleted_at is null and u.canonical_address >= %(first)s collate "C"
        and u.canonical_address < %(past)s collate "C"
    union all
    select w.* from public.information_unit w
    where w.deleted_at is not null and w.canonical_address >= %(first)s collate "C"
        and w.canonical_address < %(past)s collate "C"),
runs as materialized (select r.run_id from cutter_governance.run r where r.document_id = %(document)s),
envelopes as materialized (
    select t.* from runs r cross join lateral (
        select * from cutter_governance.manifest_envelope m where m.run_id = r.run_id offset 0) t),
changes as materialized (
    select t.* from runs r cross join lateral (
        select * from cutter_governance.cut_change_set c where c.run_id = r.run_id offset 0) t)
select %(version)s, jsonb_build_object(
    'document_id', %(document)s, 'taken_utc', to_char(statement_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    'columns', (
        select jsonb_object_agg(listed.name, listed.columns) from (
            select named.name, jsonb_object_agg(a.attname, format_type(a.atttypid, a.atttypmod)
                || case when a.attnotnull then ' not null' else '' end) as columns
            from unnest(%(tables)s::text[]) as named (name)
            join pg_catalog.pg_attribute a
                on a.attrelid = to_regclass(named.name) and a.attnum > 0 and not a.attisdropped
            group by named.name) listed))
union all
select 'public.information_unit', to_jsonb(u) from units u
union all
select 'public.unit_version', to_jsonb(t) from units u cross join lateral (
    select * from public.unit_version v where v.unit_id = u.id offset 0) t
union all
select 'public.iu_lifecycle_log', to_jsonb(t) from units u cross join lateral (
    select * from public.iu_lifecycle_log l where l.unit_id = u.id offset 0) t
union all
select 'public.enactment', to_jsonb(t) from runs r cross join lateral (
    select * from public.enactment e where e.run_id = r.run_id offset 0) t
union all
select 'cutter_governance.revision_row', to_jsonb(t) from runs r cross join lateral (
    select * from cutter_governance.revision_row w where w.run_id = r.run_id offset 0) t
union all
select 'cutter_governance.manifest_envelope', to_jsonb(m) from envelopes m
union all
select 'cutter_governance.manifest_unit_block', to_jsonb(t) from envelopes m cross join lateral (
    select * from cutter_governance.manifest_unit_block b where b.envelope_id = m.envelope_id offset 0) t
union all
select 'cutter_governance.review_decision', to_jsonb(t) from runs r cross join lateral (
    select * from cutter_governance.review_decision d where d.run_id = r.run_id offset 0) t
union all
select 'cutter_governance.cut_change_set', to_jsonb(c) from changes c
union all
select 'cutter_governance.cut_change_set_affected_row', to_jsonb(t) from changes c cross join lateral (
    select * from cutter_governance.cut_change_set_affected_row a where a.change_set_id = c.change_set_id offset 0) t
union all
select 'cutter_governance.dot_pair_signature', to_jsonb(t) from changes c cross join lateral (
    select x.* from cutter_governance.dot_pair_signature x where x.cross_reference_change_set_id = c.change_set_id
    union all
    select y.* from cutter_governance.verify_result v
    join cutter_governance.dot_pair_signature y on y.cross_reference_verify_result_id = v.verify_result_id
    where v.change_set_id = c.change_set_id
    offset 0) t
) to stdout (format csv, delimiter E'\t', quote E'\x01')

-- name: stage
-- Copies the lines of a backup into a table of this session.
copy pg_temp.staged (tab, content) from stdin (format csv, delimiter E'\t', quote E'\x01')

-- name: make_staged
-- Makes this table.
create temporary table if not exists staged (tab text not null, content jsonb not null)

-- name: fill
-- Gives one table the staged rows of its name.
insert into {table} select filled.* from pg_temp.staged s
cross join lateral jsonb_populate_record(null::{table}, s.content) as filled where s.tab = {name}

-- name: restored
-- Returns the lines of one restored table.
select {name} as tab, to_jsonb(t) as content from {table} t

-- name: digests
-- Returns for each table the number of its rows, and the digest over the digests of their lines in the order of their bytes.
select lines.tab, count(*) as number, encode(sha256(string_agg(lines.digest, ''::bytea order by lines.digest)), 'hex') as digest
from (select one.tab, sha256(convert_to(one.tab || E'\t' || one.content, 'UTF8')) as digest from ({lines}) as one) as lines
group by lines.tab
