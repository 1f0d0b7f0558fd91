-- Returns the answer to a gate that would change law while the segment of a document is damaged. Null for other gates, for a
-- rehearsal, and if no segment is damaged. What was damaged may be the only copy of rows that the write replaces.
create or replace function cutter_governance.fn_backup_answer(
    p_step cutter_governance.gate_catalogue, p_rehearse boolean) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('status', 'backup_damaged', 'code', 'segment_damaged', 'problem', found.problem)
    from cutter_governance.fn_backup_problem() as found (problem)
    where p_step.sovereign is not null and not p_rehearse and found.problem is not null
$$;
