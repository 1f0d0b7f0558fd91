-- Returns why the lifecycle log of an enacted revision is not one row for each unit that changed, or null.
create or replace function cutter_governance.fn_revision_log_problem(
    p_run cutter_governance.run, p_review_decision_id uuid) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select case when logged.count <> changed.count
        then format('%s units changed, %s in the lifecycle log', changed.count, logged.count) end
    from (select count(*) from cutter_governance.revision_row w
          where w.run_id = p_run.run_id and w.operation <> 'keep') as changed,
        (select count(*) from public.iu_lifecycle_log l
         join cutter_governance.cut_change_set c on c.change_set_id = l.change_set_id
         join cutter_governance.revision_row w on w.run_id = c.run_id and w.unit_id = l.unit_id
         where c.run_id = p_run.run_id and l.review_decision_id = p_review_decision_id
             and l.to_status = case w.operation when 'repeal' then 'retired' else 'enacted' end) as logged
$$;
