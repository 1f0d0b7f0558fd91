-- Returns the enactment of a change set, and makes it when the first unit is enacted. It continues the run's base and takes
-- effect on the day that its source version gives, else on the base's day for a correction, else today.
create or replace function cutter_governance.fn_enactment_of(p_change_set_id uuid) returns public.enactment
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    enacted public.enactment;
begin
    select * into enacted from public.enactment where change_set_id = p_change_set_id;
    if found then
        return enacted;
    end if;
    insert into public.enactment (
        run_id, source_document_ref, n, operation_kind, source_version_id, change_set_id, base_run_id,
        base_receipt_hash, effective_from)
    select r.run_id, s.source_document_ref, coalesce(b.n, 0) + 1, r.operation_kind, s.id, p_change_set_id, r.base_run_id,
        r.base_receipt_hash, coalesce(s.effective_from, case r.operation_kind when 'correction' then b.effective_from end,
            (clock_timestamp() at time zone 'UTC')::date)
    from cutter_governance.cut_change_set c
    join cutter_governance.run r on r.run_id = c.run_id
    join public.source_version s on s.id = r.source_version_id
    left join public.enactment b on b.run_id = r.base_run_id
    where c.change_set_id = p_change_set_id
    returning * into enacted;
    return enacted;
end
$$;
