-- Returns when people last ended another run of the document in its batch. What was signed before no longer counts.
create or replace function cutter_governance.fn_ended_by_people_at(p_run_id text) returns timestamptz
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select max(greatest(
        (select max(e.at) from cutter_governance.audit_event e where e.chain = other.run_id and e.kind = 'stop'),
        (select max(o.consumed_at) from cutter_governance.order_consumption o
         where o.run_id = other.run_id and o.decision in ('reject', 'void'))))
    from cutter_governance.run r
    join cutter_governance.run other on other.batch_id = r.batch_id and other.document_id = r.document_id
        and other.run_id <> r.run_id
    where r.run_id = p_run_id
$$;
