-- Returns why a run's base is not the newest enactment of its document before the run's own, or null.
create or replace function cutter_governance.fn_base_problem(p_run cutter_governance.run) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when newest.run_id is distinct from p_run.base_run_id
            then format('the base is the law of %s, and the law in force is that of %s',
                coalesce(p_run.base_run_id, 'no run'), coalesce(newest.run_id, 'no run'))
        when newest.run_id is not null and (g.receipt_hash is distinct from p_run.base_receipt_hash
                or newest.source_version_id is distinct from p_run.base_source_version_id)
            then 'the base is not as it was sealed' end
    from (select 1) as always
    left join lateral (
        select e.run_id, e.source_version_id from public.enactment e
        where e.source_document_ref = p_run.document_id and e.run_id <> p_run.run_id and e.n < coalesce(
            (select own.n from public.enactment own where own.run_id = p_run.run_id), 2147483647)
        order by e.n desc limit 1) newest on true
    left join cutter_governance.gate_receipt g on g.run_id = newest.run_id and g.gate = 'IG_lifecycle_enact_execute'
$$;
