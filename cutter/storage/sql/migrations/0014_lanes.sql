-- Lanes as rows that only the gate functions can lock; who holds one; sessions that outstay their limit; role settings
-- that the survey compares. The advisory functions are the owner's alone (bootstrap.py), so their other callers get
-- functions of their own.

-- A lane is held by whoever has locked its row. No role but the owner has a privilege on the table, and FOR UPDATE needs
-- one: nobody can lock a row from outside the functions below. A lane without its row is busy for ever, never free.
create table cutter_governance.lane (
    name text primary key check (name in ('write', 'enact', 'policy_epoch'))
);
insert into cutter_governance.lane values ('write'), ('enact'), ('policy_epoch');

-- Opens a gate: role, predecessor, fence, mode, stop latch, approval, claim, survey. Returns a status; everything but
-- 'opened' must be rolled back by the caller, and COMMIT refuses it anyway.
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
    v_has_lane boolean := false;
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
    if step.ordinal in (6, 10) then
        -- `fn_lanes` reads from this name which run holds the lane
        perform set_config('application_name', left(p_run_id, 63), true);
    end if;
    if step.ordinal = 6 then
        perform from cutter_governance.lane where name = 'write' for update skip locked;
        if not found then
            return jsonb_build_object('status', 'lane_busy');
        end if;
    elsif step.ordinal = 10 then
        -- only a lock of the transaction itself names its process: one that was waited for is let go and taken again
        for v_try in 1 .. 20 loop
            perform from cutter_governance.lane where name = 'enact' for update skip locked;
            v_has_lane := found;
            exit when v_has_lane;
            begin
                perform from cutter_governance.lane where name = 'enact' for update;
                raise exception 'the lane is free';
            exception
                when lock_not_available then
                    exit;
                when raise_exception then
                    null;
            end;
        end loop;
        if not v_has_lane then
            return jsonb_build_object('status', 'lane_busy');
        end if;
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
        else cutter_governance.fn_policy_refusal(p_run_id, step, p_policy) end;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    v_drift := cutter_governance.fn_receipts_drift(p_run_id);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if step.sovereign is not null and not p_rehearse then
        -- shared by all gates that consume approvals; `fn_policy_install` waits for them and they for it
        perform from cutter_governance.lane where name = 'policy_epoch' for share;
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

create or replace function cutter_governance.fn_policy_install(
    p_number integer, p_deployment_id uuid, p_body text, p_thresholds jsonb, p_tiers jsonb, p_lifecycle_group text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    newest cutter_governance.policy_epoch;
    v_sha text := cutter_governance.fn_digest(p_body);
begin
    -- shared by each gate that consumes approvals: after this, nothing is written that the epoch before approved
    perform from cutter_governance.lane where name = 'policy_epoch' for update;
    select * into newest from cutter_governance.policy_epoch order by number desc limit 1;
    if newest.sha256 = v_sha then
        return v_sha;
    end if;
    if p_number <> coalesce(newest.number, 0) + 1 or (newest.number is not null and newest.deployment_id <> p_deployment_id) then
        raise exception 'policy epoch %: the newest is % of deployment %', p_number, newest.number, newest.deployment_id
            using errcode = 'CU006';
    end if;
    insert into cutter_governance.policy_epoch (number, deployment_id, sha256, body, thresholds, tiers, lifecycle_group)
    values (p_number, p_deployment_id, v_sha, p_body, p_thresholds, p_tiers, p_lifecycle_group);
    return v_sha;
end
$$;

-- Those of a role's or a database's settings that could change what a session writes, whether its checks run, or whether
-- the write lasts. Left out are those that only name, log, time, plan or give memory: a role may change most of them for
-- itself, and at worst a statement fails. A setting that this list does not know counts.
create function cutter_governance.fn_settings_that_affect_a_write(p_settings text[]) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select string_agg(setting, '; ' order by setting collate "C") from unnest(p_settings) as setting
    where lower(split_part(setting, '=', 1)) !~ ('^(application_name|client_min_messages|[a-z_]*timeout'
        || '|client_connection_check_interval|temp_file_limit|[a-z_]*work_mem|hash_mem_multiplier|temp_buffers'
        || '|(log|track|tcp|enable|cpu|geqo|jit|max_parallel|min_parallel|vacuum)(_[a-z_]*)?'
        || '|(seq|random)_page_cost|effective_[a-z_]*|(from|join)_collapse_limit|plan_cache_mode)$')
$$;

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
            r.rolreplication, r.rolbypassrls,
            (select string_agg(g.rolname, ',' order by g.rolname) from pg_auth_members m
             join pg_roles g on g.oid = m.roleid where m.member = r.oid),
            'held by ' || (select string_agg(g.rolname, ',' order by g.rolname) from pg_auth_members m
             join pg_roles g on g.oid = m.member where m.roleid = r.oid))
        from pg_roles r
        where r.rolname in ('cutter_owner', 'cutter_read', 'cutter_backup', 'cutter_exec', 'cutter_verify',
            'cutter_operator', 'directus')
        union all
        select name, settings from (
            select 'settings of ' || coalesce(r.rolname, 'everyone')
                    || case s.setdatabase when 0 then '' else ' here' end as name,
                cutter_governance.fn_settings_that_affect_a_write(s.setconfig) as settings
            from pg_db_role_setting s
            left join pg_roles r on r.oid = s.setrole
            where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
                and (s.setrole = 0 or r.rolname in ('cutter_owner', 'cutter_exec'))) as set_for_writers
        where settings is not null
    ) as grants
$$;

-- The steps of one batch, one at a time; held until the caller's transaction ends.
create function cutter_governance.fn_batch_lock(p_batch_id text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_advisory_xact_lock(hashtext('cutter.batch'), hashtext(p_batch_id));
end
$$;

-- One backup at a time for a batch's wave; held until the caller's connection ends. False: another one has it.
create function cutter_governance.fn_wave_lock(p_batch_id text) returns boolean
language sql volatile security definer
set search_path = pg_catalog, pg_temp
return pg_try_advisory_lock(hashtextextended('cutter backup ' || p_batch_id, 0));

-- Wakes whoever waits for a batch's changes, at the COMMIT that makes them. Any role can fill the server's queue of
-- notifications, and the COMMIT that meets a full one fails: from half full on, waiters find the change by their poll.
create or replace function cutter_governance.fn_batch_notify() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('cutter_batch', new.batch_id);
    end if;
    return null;
end
$$;

-- Ends the sessions that outstay the limits of their role (sessions.sql says which); how many. A database that the
-- superuser has not prepared has no such limits.
create function cutter_governance.fn_sessions_end_overdue() returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    ended integer := 0;
begin
    if to_regprocedure('cutter_guard.fn_end_overdue()') is not null then
        execute 'select cutter_guard.fn_end_overdue()' into ended;
    end if;
    return ended;
end
$$;

-- Who holds each lane, and which runs wait for it. A row's lock names a transaction, the transaction its process, the
-- process's name the run, and the run's newest attempt at the gate the worker.
create function cutter_governance.fn_lanes() returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    sessions jsonb;
    lanes jsonb;
begin
    if to_regprocedure('cutter_guard.fn_sessions()') is null then
        select jsonb_agg(jsonb_build_object('pid', pid, 'role', usename, 'name', application_name)) into sessions
        from pg_stat_activity where datname = current_database();
    else
        execute 'select cutter_guard.fn_sessions()' into sessions;
    end if;
    select jsonb_agg(jsonb_build_object('lane', l.name, 'gate', g.gate, 'held', held.holder, 'waiting', waiting.runs)
        order by g.ordinal) into lanes
    from cutter_governance.lane l
    join cutter_governance.gate_catalogue g on g.ordinal = case l.name when 'write' then 6 when 'enact' then 10 end
    left join lateral (
        select jsonb_build_object('pid', k.pid, 'role', s.one ->> 'role', 'since', coalesce(s.one ->> 'since',
                cutter_governance.fn_utc(a.started_at)), 'run_id', r.run_id, 'document_id', r.document_id,
                'worker', a.lease_owner) as holder
        from pg_locks k
        join jsonb_array_elements(sessions) as s (one) on (s.one ->> 'pid')::integer = k.pid
        left join cutter_governance.run r on r.run_id = s.one ->> 'name'
        left join lateral (select lease_owner, started_at from cutter_governance.gate_attempt
                           where run_id = r.run_id and gate = g.gate order by n desc limit 1) a on true
        where k.locktype = 'transactionid' and k.transactionid = l.xmax and k.mode = 'ExclusiveLock' and k.granted
        limit 1) held on true
    cross join lateral (
        select coalesce(jsonb_agg(r.run_id order by r.run_id), '[]') as runs
        from cutter_governance.run r
        join lateral (select outcome from cutter_governance.gate_attempt a
                      where a.run_id = r.run_id and a.gate = g.gate order by n desc limit 1) newest on true
        where r.ended_at is null and r.state = g.from_state
            and (newest.outcome = 'lane_busy'
                or newest.outcome is null and l.name = 'enact' and held.holder is not null
                    and r.run_id is distinct from held.holder ->> 'run_id')) waiting
    where g.gate is not null;
    return coalesce(lanes, '[]');
end
$$;
