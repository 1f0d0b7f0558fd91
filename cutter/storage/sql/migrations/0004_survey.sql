-- The drift survey (spec "Drift survey"): what a gate's transaction compares before its body and before its seal.
-- A dimension is a digest; the details stand once in definition_snapshot, so that a mismatch has a readable diff.

create function cutter_governance.fn_digest(p_text text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return encode(sha256(convert_to(p_text, 'UTF8')), 'hex');

-- Canonical JSON of a flat record of ASCII strings, integers and nulls: the bytes of cutter.domain.digests.canonical_json.
create function cutter_governance.fn_canonical_flat(p_record jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select '{' || string_agg(to_json(key)::text || ':' || value::text, ',' order by key collate "C") || '}'
    from jsonb_each(p_record)
$$;

create function cutter_governance.fn_function_definitions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(p.oid::regprocedure::text, jsonb_build_object(
        'source_md5', md5(coalesce(p.prosrc, '') || coalesce(pg_get_function_sqlbody(p.oid), '')),
        'owner', pg_get_userbyid(p.proowner), 'security_definer', p.prosecdef,
        'settings', array_to_string(p.proconfig, '; '), 'language', l.lanname, 'volatility', p.provolatile,
        'strict', p.proisstrict, 'arguments', coalesce(pg_get_function_arguments(p.oid), ''),
        'result', p.prorettype::regtype::text,
        'acl', (select string_agg(one::text, ',' order by one::text collate "C")
                from unnest(coalesce(p.proacl, acldefault('f', p.proowner))) as one)))
    from pg_proc p
    join pg_language l on l.oid = p.prolang
    where p.pronamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace)
$$;

create function cutter_governance.fn_trigger_definitions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(c.relname || '.' || t.tgname, jsonb_build_object(
        'enabled', t.tgenabled, 'function', t.tgfoid::regproc::text, 'type', t.tgtype,
        'deferred', t.tginitdeferred, 'arguments', encode(t.tgargs, 'escape'),
        'condition', case when t.tgqual is null then ''
            else substring(pg_get_triggerdef(t.oid) from ' WHEN (.*) EXECUTE ') end,
        'columns', t.tgattr::text))
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal
        and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace)
$$;

create function cutter_governance.fn_table_definitions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(c.relname, jsonb_build_object(
        'kind', c.relkind, 'owner', pg_get_userbyid(c.relowner), 'row_security', c.relrowsecurity,
        'forced', c.relforcerowsecurity, 'persistence', c.relpersistence, 'children', c.relhassubclass,
        'options', coalesce(array_to_string(c.reloptions, '; '), ''), 'rules', c.relhasrules, 'columns', columns.list, 'constraints', constraints.list, 'indexes', indexes.list))
    from pg_class c
    cross join lateral (
        select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' '
            || coalesce(pg_get_expr(d.adbin, d.adrelid), ''), '; ' order by a.attnum) as list
        from pg_attribute a
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    cross join lateral (
        select string_agg(k.conname || ' ' || pg_get_constraintdef(k.oid) || ' ' || k.convalidated, '; '
            order by k.conname) as list
        from pg_constraint k where k.conrelid = c.oid) as constraints
    cross join lateral (
        select string_agg(pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid, '; ' order by i.indexrelid::regclass::text) as list
        from pg_index i where i.indrelid = c.oid) as indexes
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
        and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace)
$$;

create function cutter_governance.fn_grant_definitions() returns jsonb
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

-- A content fingerprint of the rows under a prefix; with p_as_status it is what the rows would digest to with that
-- lifecycle status, which is how the effect of enactment is foretold.
create function cutter_governance.fn_rows_fingerprint(p_docprefix text, p_as_status text default null) returns jsonb
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select jsonb_build_object('count', count(*), 'fingerprint',
        cutter_governance.fn_digest(coalesce(string_agg(line, E'\n' order by address), '')))
    from (
        select u.canonical_address as address,
            concat(u.canonical_address, ' ', encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), ' ', v.content_hash, ' ',
                coalesce(p_as_status, u.lifecycle_status), ' ', coalesce(p_as_status, v.lifecycle_status), ' ',
                u.id, ' ', v.id, ' ', v.unit_id, ' ', u.content_anchor_ref, ' ', v.version_seq, ' ',
                u.parent_or_container_ref, ' ', u.unit_kind, ' ', u.owner_ref, ' ', u.conformance_status, ' ',
                u.identity_profile, ' ', v.content_profile, ' ',
                (select count(*) from public.unit_version o where o.unit_id = u.id)) as line
        from public.information_unit u
        left join public.unit_version v on v.id = u.version_anchor_ref
        where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null) as rows
$$;

-- What identifies the catalogue rows behind a dimension: every change of a definition writes new ones. Cheap to read, so
-- that the definitions themselves (20 ms) are spelled out only when a row is not the one that was read last.
create function cutter_governance.fn_catalog_key(p_dimension text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    spaces oid[] := array['public'::regnamespace, 'cutter_governance'::regnamespace]::oid[];
    relations oid[];
    answer text;
begin
    if p_dimension = 'functions' then
        select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid) into answer
        from pg_proc where pronamespace = any (spaces);
        return md5(answer);
    end if;
    select array_agg(oid), string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid) into relations, answer
    from pg_class where relnamespace = any (spaces) and relkind in ('r', 'p', 'v', 'm', 'f');
    if p_dimension = 'triggers' then
        return md5(concat((select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid)
            from pg_trigger where tgrelid = any (relations) and not tgisinternal)));
    end if;
    return md5(concat(answer,
        ';', (select string_agg(concat(attrelid, '.', attnum, ' ', xmin, ' ', ctid), ',' order by attrelid, attnum)
              from pg_attribute where attrelid = any (relations) and attnum > 0),
        ';', (select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid)
              from pg_attrdef where adrelid = any (relations)),
        ';', (select string_agg(concat(oid, ' ', xmin, ' ', ctid), ',' order by oid)
              from pg_constraint where conrelid = any (relations)),
        ';', (select string_agg(concat(i.indexrelid, ' ', i.xmin, ' ', i.ctid, ' ', c.xmin, ' ', c.ctid), ','
                  order by i.indexrelid)
              from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = any (relations))));
end
$$;

create function cutter_governance.fn_definition_pins() returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    pins jsonb := '{}';
    v_dimension text;
    detail jsonb;
    v_key text;
    v_fingerprint text;
begin
    foreach v_dimension in array array['functions', 'triggers', 'tables', 'grants']
    loop
        v_key := case v_dimension when 'grants' then null else cutter_governance.fn_catalog_key(v_dimension) end;
        select c.fingerprint into v_fingerprint from cutter_governance.definition_cache c
        where c.dimension = v_dimension and c.catalog_key = v_key;
        if not found then
            detail := case v_dimension
                when 'functions' then cutter_governance.fn_function_definitions()
                when 'triggers' then cutter_governance.fn_trigger_definitions()
                when 'tables' then cutter_governance.fn_table_definitions()
                else cutter_governance.fn_grant_definitions() end;
            v_fingerprint := cutter_governance.fn_digest(detail::text);
            -- the second of two gates that see a new definition does not wait for the first one's end
            if not exists (select from cutter_governance.definition_snapshot s where s.fingerprint = v_fingerprint)
                or v_key is not null
            then
                if pg_try_advisory_xact_lock(hashtext('cutter.definitions')) then
                    insert into cutter_governance.definition_snapshot values (v_fingerprint, detail) on conflict do nothing;
                    if v_key is not null then
                        insert into cutter_governance.definition_cache values (v_dimension, v_key, v_fingerprint)
                        on conflict do nothing;
                    end if;
                end if;
            end if;
        end if;
        pins := pins || jsonb_build_object(v_dimension, v_fingerprint);
    end loop;
    return pins;
end
$$;

create function cutter_governance.fn_survey(p_run_id text, p_docprefix text) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    rows jsonb := cutter_governance.fn_rows_fingerprint(p_docprefix);
    decisions jsonb;
begin
    select jsonb_build_object('count', count(*),
        'fingerprint', cutter_governance.fn_digest(coalesce(string_agg(to_jsonb(d)::text, E'\n' order by d.review_decision_id), '')))
    into decisions
    from cutter_governance.review_decision d where d.run_id = p_run_id;
    return cutter_governance.fn_definition_pins() || jsonb_build_object(
        'row_count', rows -> 'count', 'row_content', rows -> 'fingerprint', 'review_decision', decisions,
        'source', (select jsonb_object_agg(p.proname, md5(p.prosrc)) from pg_proc p
                   where p.pronamespace = 'public'::regnamespace
                       and p.proname in ('fn_iu_create', 'fn_iu_enact', 'fn_iu_apply_edit_draft')));
end
$$;

-- One line a difference of one dimension: which object, which attribute, before and after.
create function cutter_governance.fn_drift_diff(p_expected jsonb, p_observed jsonb) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(jsonb_agg(line), '[]') from (
        select name || ': ' || case
            when before is null then 'appeared'
            when after is null then 'disappeared'
            when jsonb_typeof(before) = 'object' and jsonb_typeof(after) = 'object' then (
                select string_agg(key || ' ' || left(coalesce(before ->> key, '(none)'), 200) || ' → '
                    || left(coalesce(after ->> key, '(none)'), 200), ', ' order by key)
                from (select jsonb_object_keys(before) as key union select jsonb_object_keys(after)) as keys
                where before -> key is distinct from after -> key)
            else left(before #>> '{}', 200) || ' → ' || left(after #>> '{}', 200) end as line
        from (
            select coalesce(b.key, a.key) as name, b.value as before, a.value as after
            from jsonb_each(case jsonb_typeof(p_expected) when 'object' then p_expected else jsonb_build_object('value', p_expected) end) as b
            full join jsonb_each(case jsonb_typeof(p_observed) when 'object' then p_observed else jsonb_build_object('value', p_observed) end) as a
                on a.key = b.key
            where a.value is distinct from b.value
            order by 1 limit 40) as differing) as lines
$$;

-- The first differing dimension with its diff, or null. Dimensions that p_expected lacks are not compared; of the
-- review decisions an expectation may name the count alone.
create function cutter_governance.fn_drift(p_expected jsonb, p_observed jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    name text;
    before jsonb;
    after jsonb;
begin
    foreach name in array array['source', 'functions', 'triggers', 'tables', 'grants', 'row_count', 'row_content',
        'review_decision']
    loop
        before := p_expected -> name;
        after := p_observed -> name;
        if before is null or before = after or (name = 'review_decision' and after @> before) then
            continue;
        end if;
        return jsonb_build_object('dimension', name, 'expected', before, 'observed', after,
            'fingerprint', cutter_governance.fn_digest(p_observed::text),
            'diff', cutter_governance.fn_drift_diff(
                coalesce((select detail from cutter_governance.definition_snapshot where fingerprint = before #>> '{}'), before),
                coalesce((select detail from cutter_governance.definition_snapshot where fingerprint = after #>> '{}'), after)));
    end loop;
    return null;
end
$$;

create function cutter_governance.fn_baseline_record(p_schema_version integer) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    pins jsonb := cutter_governance.fn_definition_pins();
begin
    insert into cutter_governance.schema_baseline (pins, schema_version) values (pins, p_schema_version);
    return pins;
end
$$;
