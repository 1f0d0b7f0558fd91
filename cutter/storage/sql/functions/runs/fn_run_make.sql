-- Makes a run, or finds it, and returns a status. While a live run of the document is open, no second one is made. A
-- tenant at a cap gets no run: the answer says which cap, and when to ask again. Internal.
create or replace function cutter_governance.fn_run_make(
    p_run_id text, p_document_id text, p_mode text, p_starter text, p_caps jsonb, p_first_execution_id text,
    p_batch_id text, p_amends text)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    existing cutter_governance.run;
    active cutter_governance.run;
    v_tenant text := coalesce((select tenant from public.source_document where doc_code = p_document_id), 'default');
    v_workflow constant text := case when p_batch_id is null then 'document' else 'batch' end;
    turn jsonb;
begin
    for v_try in 1 .. 8 loop
        select * into existing from cutter_governance.run
        where run_id = p_run_id or (p_first_execution_id is not null and first_execution_id = p_first_execution_id);
        exit when found;
        select * into active from cutter_governance.run
        where document_id = p_document_id and mode = 'live' and ended_at is null
            and run_id <> p_run_id and coalesce(first_execution_id <> p_first_execution_id, true);
        if found and p_mode = 'live' then
            return jsonb_build_object('status', 'busy', 'run_id', active.run_id,
                'document_id', active.document_id, 'mode', active.mode, 'state', active.state);
        end if;
        turn := cutter_governance.fn_tenant_caps(v_tenant, v_workflow);
        if coalesce(turn ->> 'max_concurrency', turn ->> 'max_runs_per_min') is not null then
            -- If there is a cap, callers wait for each other on the global chain. Every registration locks that chain in the
            -- end, so the two locks are always taken in one order.
            insert into cutter_governance.audit_head (chain, seq, hash)
            values ('global', 0, cutter_governance.fn_digest('global')) on conflict do nothing;
            perform from cutter_governance.audit_head where chain = 'global' for update;
            turn := cutter_governance.fn_tenant_room(v_tenant, v_workflow);
        end if;
        if turn ->> 'room' = '0' then
            -- it may be this very run that has just taken the last place
            select * into existing from cutter_governance.run
            where run_id = p_run_id or (p_first_execution_id is not null and first_execution_id = p_first_execution_id);
            exit when found;
            return turn || jsonb_build_object('status', 'waits', 'run_id', p_run_id, 'document_id', p_document_id);
        end if;
        -- what another registration has made meanwhile is found, or named, on the next look
        insert into cutter_governance.run (
            run_id, document_id, mode, starter, caps, first_execution_id, batch_id, amends, tenant)
        values (p_run_id, p_document_id, p_mode, p_starter, p_caps, p_first_execution_id, p_batch_id, p_amends, v_tenant)
        on conflict do nothing;
        if found then
            insert into cutter_governance.stop_latch (run_id) values (p_run_id);
            perform cutter_governance.fn_audit(p_run_id, 'registered', jsonb_build_object(
                'document_id', p_document_id, 'mode', p_mode, 'starter', p_starter, 'by', session_user));
            perform cutter_governance.fn_audit_anchor(p_run_id, 'run_registered');
        end if;
    end loop;
    if existing.run_id is null then
        raise exception 'run %: others registered and ended all the while', p_run_id using errcode = '40001';
    end if;
    if existing.document_id <> p_document_id or existing.mode <> p_mode then
        return jsonb_build_object('status', 'conflict', 'run_id', existing.run_id,
            'document_id', existing.document_id, 'mode', existing.mode);
    end if;
    return jsonb_build_object('status', 'registered', 'run_id', existing.run_id, 'document_id', existing.document_id,
        'mode', existing.mode, 'state', existing.state, 'caps', existing.caps);
end
$$;
