-- Halts a batch, or lets it continue with p_halted null, and returns what halts it. A person's stop outweighs the cap,
-- which lets people keep signing, and a cancel outweighs all. No worker lifts a halt.
create or replace function cutter_governance.fn_batch_halt(p_batch_id text, p_halted text, p_reason text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before text;
begin
    select halted into v_before from cutter_governance.batch where batch_id = p_batch_id for update;
    if not found then
        return 'unknown_batch';
    end if;
    if p_halted is null and session_user = 'cutter_read' then
        return 'refused_operator_only';
    end if;
    if p_halted is not null and v_before is not null and (p_halted <> 'cancel' or v_before = 'cancel')
        and not (p_halted = 'stop' and v_before = 'hard_cap')
    then
        return v_before;
    end if;
    if p_halted is null then
        update cutter_governance.batch_item i set decided = null, reason = null
        where batch_id = p_batch_id and decided in ('busy', 'blocked', 'voided')
            and not cutter_governance.fn_item_kept_out(i);
    end if;
    update cutter_governance.batch
    set halted = p_halted, halted_reason = case when p_halted is not null then left(p_reason, 500) end,
        halted_at = case when p_halted is not null then clock_timestamp() end,
        -- a resume gives it its whole time again, because a night's batch is signed the next day
        began_at = case when p_halted is null then clock_timestamp() else began_at end
    where batch_id = p_batch_id;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'halt', jsonb_build_object(
        'halted', p_halted, 'before', v_before, 'reason', left(p_reason, 500)));
    return p_halted;
end
$$;
