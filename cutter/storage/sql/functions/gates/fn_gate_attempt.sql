-- Registers an attempt at a gate whose turn it is, or returns the sealed receipt. The attempt's number is the visible
-- retry and the fence at once. Its lease ends at the stricter of the run's cap and the worker's.
create or replace function cutter_governance.fn_gate_attempt(p_run_id text, p_gate text, p_worker text, p_lease_seconds integer)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    receipt cutter_governance.gate_receipt;
    v_n integer;
    v_lease numeric;
    v_cap jsonb;
    answer jsonb;
begin
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    if not found then
        return jsonb_build_object('status', 'unknown_run');
    end if;
    answer := jsonb_build_object('run', to_jsonb(v_run), 'pins', cutter_governance.fn_run_pins(p_run_id),
        'prev_hash', cutter_governance.fn_prev_hash(p_run_id, p_gate),
        'now', cutter_governance.fn_utc(clock_timestamp()),
        'approvers', cutter_governance.fn_gate_approvers(p_run_id, p_gate),
        'needed', cutter_governance.fn_gate_needs(p_gate));
    select * into receipt from cutter_governance.gate_receipt r
    where r.run_id = p_run_id and r.gate = p_gate and r.sealed_at is not null;
    if found then
        return answer || jsonb_build_object('status', 'sealed', 'receipt', cutter_governance.fn_receipt_view(receipt),
            'outbox', (select jsonb_agg(jsonb_build_object('id', id, 'kb_id', kb_id)) from cutter_governance.outbox
                       where run_id = p_run_id and subject = p_gate and done_at is null));
    end if;
    if v_run.ended_at is not null then
        return answer || jsonb_build_object('status', 'ended');
    end if;
    if not exists (select from cutter_governance.gate_catalogue where gate = p_gate and role = session_user) then
        return answer || jsonb_build_object('status', 'wrong_role');
    end if;
    if cutter_governance.fn_prev_hash(p_run_id, p_gate) is null then
        return answer || jsonb_build_object('status', 'predecessor_not_sealed');
    end if;
    v_cap := v_run.caps -> 'soft_seconds' -> (select phase from cutter_governance.gate_catalogue where gate = p_gate);
    v_lease := greatest(0, least(p_lease_seconds, case jsonb_typeof(v_cap) when 'number' then v_cap::numeric end));
    loop
        select coalesce(max(n), 0) + 1 into v_n from cutter_governance.gate_attempt
        where run_id = p_run_id and gate = p_gate;
        insert into cutter_governance.gate_attempt (run_id, gate, n, lease_owner, lease_expires_at)
        values (p_run_id, p_gate, v_n, left(p_worker, 200), clock_timestamp() + make_interval(secs => v_lease))
        on conflict do nothing;
        exit when found;
    end loop;
    return answer || jsonb_build_object('status', 'registered', 'attempt', v_n);
end
$$;
