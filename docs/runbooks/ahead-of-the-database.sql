-- What the stores have and the database does not know. docs/runbooks/point-in-time.md types this file.
--
-- The input has a line of `sha256sum` for each object, whose name begins with `kb/` or `runs/` (the artifact store).
-- The answer has a line for each object of a lost run, and for each object of a waiting run that the database has not
-- recorded, or has recorded with other bytes: its name, the document, the run, and the run's state. Runs at work and
-- ended runs are left out, because an object is stored before the database records it. So are backups of known runs,
-- and statements of people that may still be judged.
create temp table stored (line text);
\copy stored from pstdin

with object as (
    select left(line, 64) as sha256, substr(line, 67) as place, split_part(substr(line, 67), '/', 1) as store,
        regexp_replace(substr(line, 67), '^[^/]*/', '') as name,
        substring(line from 'ictr-\d{8}T\d{6}Z-[0-9a-f-]{36}') as run_id,
        substring(line from '/v[0-9a-f]{16}-automation-cut-\d{8}-(\d{4}-[0-9a-f]{12})/') as mark
    from stored
), known as (
    select run_id from cutter_governance.run
    union
    select run_id from object where run_id is not null
), recorded as (
    select run_id, kb_id as name, sha256 from cutter_governance.outbox
    union all
    select run_id, target, coalesce(response_metadata ->> 'sha256', payload_sha256)
    from cutter_governance.action_receipt where connector in ('kb', 'backup', 'evidence')
), owned as (
    select o.sha256, o.place, o.store, o.name, regexp_replace(o.name, '\.asc$', '') as base, r.document_id, r.state,
        coalesce(k.run_id, 'run ' || o.mark) as run_id, r.run_id is null as lost,
        r.ended_at is null and r.state ~ '^(stopped_|awaiting_)' as waits
    from object o
    left join known k
        on case when o.mark is null then k.run_id = o.run_id
            else substr(k.run_id, 15, 4) || '-' || right(k.run_id, 12) = o.mark end
    left join cutter_governance.run r on r.run_id = k.run_id
    where coalesce(o.mark, o.run_id) is not null
)
select o.place, o.document_id, o.run_id, coalesce(o.state, 'no such run')
from owned o
where o.lost or (
    o.waits
    and case o.store when 'kb' then o.base = o.name and not exists (select from object a where a.name = o.name || '.asc')
        else o.name ~ '\.tar(\.asc)?$' end
    and not exists (
        select from recorded e
        where e.run_id = o.run_id and e.name = o.base
            and (o.base <> o.name or e.sha256 is null or e.sha256 = o.sha256)
    )
)
order by o.run_id, o.place;
