-- The functions that the guards against noisy roles have replaced, as they were before: the control arm of P29 uses them.

create or replace function cutter_governance.fn_grant_definitions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(name, said) from (
        -- In one order, and what an unwritten list stands for written out: a restored dump keeps neither, nor does a
        -- grant that was taken back.
        select name, (select string_agg(one::text, ',' order by one::text collate "C") from unnest(acl) as one) as said
        from (
            select 'table ' || c.relname as name,
                coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner)) as acl
            from pg_class c
            where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
                and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace)
            union all
            select 'column ' || c.relname || '.' || a.attname, a.attacl
            from pg_attribute a join pg_class c on c.oid = a.attrelid
            where a.attacl is not null and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace)
            union all
            select 'schema ' || n.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner))
            from pg_namespace n where n.nspname in ('public', 'cutter_governance')
            union all
            select 'database', coalesce(d.datacl, acldefault('d', d.datdba))
            from pg_database d where d.datname = current_database()
            union all
            select 'default of ' || pg_get_userbyid(a.defaclrole) || ' ' || a.defaclobjtype::text || ' '
                || coalesce(n.nspname, 'everywhere'), a.defaclacl
            from pg_default_acl a left join pg_namespace n on n.oid = a.defaclnamespace
        ) as lists
        union all
        select 'role ' || r.rolname, concat_ws(' ', r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb,
            r.rolreplication, r.rolbypassrls, array_to_string(r.rolconfig, '; '),
            (select string_agg(g.rolname, ',' order by g.rolname) from pg_auth_members m
             join pg_roles g on g.oid = m.roleid where m.member = r.oid),
            'held by ' || (select string_agg(g.rolname, ',' order by g.rolname) from pg_auth_members m
             join pg_roles g on g.oid = m.member where m.roleid = r.oid))
        from pg_roles r
        where r.rolname in ('cutter_owner', 'cutter_read', 'cutter_backup', 'cutter_exec', 'cutter_verify',
            'cutter_operator', 'directus')
        union all
        select 'settings of ' || coalesce(r.rolname, 'everyone') || case s.setdatabase when 0 then '' else ' here' end,
            array_to_string(s.setconfig, '; ')
        from pg_db_role_setting s
        left join pg_roles r on r.oid = s.setrole
        where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
            and (s.setrole = 0 or r.rolname in ('cutter_owner', 'cutter_read', 'cutter_backup', 'cutter_exec',
                'cutter_verify', 'cutter_operator', 'directus'))
    ) as grants
$$;

create or replace function cutter_governance.fn_gate_open(
    p_run_id text, p_gate text, p_attempt integer, p_payload_sha256 text, p_approvals jsonb default '[]',
    p_rehearse boolean default false, p_policy jsonb default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    step cutter_governance.gate_catalogue;
    v_run cutter_governance.run;
    latch cutter_governance.stop_latch;
    receipt cutter_governance.gate_receipt;
    v_prev text;
    v_docprefix text;
    v_refusal text;
    v_survey jsonb;
    v_drift jsonb;
begin
    select * into step from cutter_governance.gate_catalogue where gate = p_gate;
    if not found or step.role <> session_user then
        return jsonb_build_object('status', 'refused', 'code', 'wrong_role');
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        -- an older snapshot would not see a revocation, a newer attempt or a stop
        return jsonb_build_object('status', 'refused', 'code', 'isolation');
    end if;
    -- one leg A and one enactment at a time, across all runs and workers; an enactment is short enough to wait for
    if step.ordinal = 6 and not pg_try_advisory_xact_lock(hashtext('cutter.write_lane')) then
        return jsonb_build_object('status', 'lane_busy');
    elsif step.ordinal = 10 then
        begin
            perform pg_advisory_xact_lock(hashtext('cutter.enact_lane'));
        exception when lock_not_available then
            return jsonb_build_object('status', 'lane_busy');
        end;
    end if;
    select * into latch from cutter_governance.stop_latch where run_id = p_run_id for share;
    if not found then
        return jsonb_build_object('status', 'refused', 'code', 'unknown_run');
    end if;
    insert into cutter_governance.gate_receipt (
        run_id, gate, attempt, role, rehearsal, payload_sha256, prev_hash, before_pins, policy)
    values (p_run_id, p_gate, p_attempt, session_user, p_rehearse, p_payload_sha256, '', '{}', p_policy - 'text')
    on conflict (run_id, gate) do nothing;
    if not found then
        select * into receipt from cutter_governance.gate_receipt where run_id = p_run_id and gate = p_gate;
        if receipt.sealed_at is null then
            return jsonb_build_object('status', 'refused', 'code', 'open_already');
        end if;
        return jsonb_build_object('receipt', cutter_governance.fn_receipt_view(receipt), 'status',
            case when receipt.payload_sha256 = p_payload_sha256 then 'sealed' else 'conflict' end);
    end if;
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    if latch.stopped then
        return jsonb_build_object('status', 'stopped', 'kind', latch.kind, 'reason', latch.reason);
    end if;
    if v_run.state like 'stopped\_%' then
        return jsonb_build_object('status', 'stopped', 'kind', substr(v_run.state, 9),
            'reason', 'the run is ' || v_run.state || ' and was not resumed');
    end if;
    v_prev := cutter_governance.fn_prev_hash(p_run_id, p_gate);
    v_refusal := case
        when v_run.ended_at is not null then 'run_ended'
        when v_prev is null then 'predecessor_not_sealed'
        when p_attempt is distinct from (select max(n) from cutter_governance.gate_attempt
                                         where run_id = p_run_id and gate = p_gate) then 'stale_attempt'
        when p_rehearse and (v_run.mode <> 'dryrun' or step.ordinal <> 6) then 'mode_forbids_rehearsal'
        when not p_rehearse and v_run.mode = 'dryrun' and step.ordinal > 5 then 'mode_forbids_write'
        else cutter_governance.fn_gate_refusal(v_run, step, p_attempt, v_prev, p_rehearse, p_policy) end;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    v_drift := cutter_governance.fn_receipts_drift(p_run_id);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if step.sovereign is not null and not p_rehearse then
        v_refusal := cutter_governance.fn_approvals_consume(v_run, step.sovereign, p_approvals, p_policy);
        if v_refusal is not null then
            return jsonb_build_object('status', 'approval_refused', 'code', v_refusal);
        end if;
    end if;
    v_docprefix := coalesce(v_run.docprefix,
        (select address_docprefix from public.source_document where doc_code = v_run.document_id), '');
    v_survey := cutter_governance.fn_survey(p_run_id, v_docprefix);
    v_drift := cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), v_survey);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if step.effect = 'units_enacted' then
        v_survey := v_survey || jsonb_build_object('row_content_enacted',
            cutter_governance.fn_rows_fingerprint(v_docprefix, 'enacted') -> 'fingerprint');
    end if;
    update cutter_governance.gate_receipt set prev_hash = v_prev, before_pins = v_survey
    where run_id = p_run_id and gate = p_gate;
    perform cutter_governance.fn_policy_note(p_policy);
    return jsonb_build_object('status', 'opened', 'before_pins', v_survey, 'docprefix', v_docprefix,
        'now', cutter_governance.fn_utc(clock_timestamp()));
end
$$;
