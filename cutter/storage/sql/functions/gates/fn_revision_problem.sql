-- Returns why the stored rows of a revision are not what was approved on this base, in leg A or in the enactment.
create or replace function cutter_governance.fn_revision_problem(
    p_run cutter_governance.run, p_approved_digest text, p_enacting boolean) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_problem text := cutter_governance.fn_base_problem(p_run);
    v_rows integer;
    v_in_force integer;
    v_as_planned integer;
begin
    if v_problem is not null then
        return v_problem;
    end if;
    if cutter_governance.fn_revision_digest(p_run.run_id) is distinct from p_approved_digest then
        return 'the rows and their base do not digest to what was approved';
    end if;
    -- Before the enactment a unit shows the base and its draft waits. After it the unit shows the version that begins, and
    -- the version that ended says by which change set.
    select count(*) filter (where (case when p_enacting then w.version_id else w.base_version_id end) is not null),
        count(*) filter (where case
            when u.canonical_address <> w.address or u.deleted_at is not null then false
            when w.operation = 'keep' then u.version_anchor_ref = w.version_id and u.lifecycle_status = 'enacted'
            when not p_enacting then
                coalesce(begins.lifecycle_status = 'draft' and begins.withdrawn_at is null, w.operation = 'repeal')
                and coalesce(u.version_anchor_ref = base.id and base.lifecycle_status = 'enacted', u.lifecycle_status <> 'enacted')
            else coalesce(u.version_anchor_ref = begins.id and begins.lifecycle_status = 'enacted'
                    and begins.enacted_by = e.change_set_id and begins.effective_from = e.effective_from,
                    u.lifecycle_status = 'retired')
                and coalesce(base.ended_by = e.change_set_id and base.effective_until = e.effective_from
                    and base.lifecycle_status = case w.operation when 'repeal' then 'retired' else 'superseded' end,
                    w.operation = 'create') end),
        count(*)
    into v_in_force, v_as_planned, v_rows
    from cutter_governance.revision_row w
    join public.information_unit u on u.id = w.unit_id
    left join public.unit_version begins on begins.id = w.version_id and begins.unit_id = u.id
    left join public.unit_version base on base.id = w.base_version_id and base.unit_id = u.id
    left join public.enactment e on e.run_id = w.run_id
    where w.run_id = p_run.run_id;
    if v_as_planned <> v_rows then
        return format('%s of %s rows are as planned', v_as_planned, v_rows);
    end if;
    select count(*) - v_in_force into v_in_force
    from public.information_unit u
    where u.canonical_address >= p_run.docprefix || '/' collate "C" and u.canonical_address < p_run.docprefix || '0' collate "C"
        and u.deleted_at is null and u.lifecycle_status = 'enacted';
    return case
        when v_in_force <> 0 then format('%s units in force too many or too few', v_in_force)
        when exists (
            select from public.information_unit u
            where u.canonical_address >= p_run.docprefix || '/' collate "C"
                and u.canonical_address < p_run.docprefix || '0' collate "C"
                and u.deleted_at is null and u.lifecycle_status = 'draft' and not exists (
                    select from cutter_governance.revision_row w where w.run_id = p_run.run_id and w.unit_id = u.id))
            then 'a draft is not in the plan' end;
end
$$;
