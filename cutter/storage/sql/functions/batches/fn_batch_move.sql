-- Moves a batch to a state and records the transition. The state is a summary of its items, so any of the nine may
-- follow any other. The time in which it had ended, or nobody attended it and it waited for people, does not count.
create or replace function cutter_governance.fn_batch_move(p_batch_id text, p_to text, p_trigger text, p_metadata jsonb default '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_from text;
    v_rested interval;
    v_ended boolean := p_to in ('batch_closeout', 'batch_failed_partial', 'batch_voided');
begin
    select state, case when ended_at is not null or unattended and state like 'batch\_awaiting\_%'
        then clock_timestamp() - state_at else '0' end
    into v_from, v_rested
    from cutter_governance.batch where batch_id = p_batch_id for update;
    if v_from is null or v_from = p_to then
        return false;
    end if;
    update cutter_governance.batch
    set state = p_to, state_at = clock_timestamp(), ended_at = case when v_ended then clock_timestamp() end,
        began_at = least(began_at + v_rested, clock_timestamp())
    where batch_id = p_batch_id;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(clock_timestamp()), 'event_type', 'batch_state_transition',
        'severity', case p_to when 'batch_failed_partial' then 'error' when 'batch_voided' then 'warning' else 'info' end,
        'entity_id', p_batch_id, 'from_state', v_from, 'to_state', p_to, 'trigger', p_trigger, 'metadata', p_metadata));
    if v_ended then
        perform cutter_governance.fn_audit_anchor(p_batch_id, 'batch_ended');
    end if;
    return true;
end
$$;
