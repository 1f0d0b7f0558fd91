-- Returns a key for each of the dimensions functions, triggers, tables and grants. It identifies the versions of all
-- catalogue rows that the definitions are read from, which takes far longer. A set of rows is its number and the sum
-- modulo two of a hash of each row's identity: its id, the transaction that wrote it, and its place. Each key covers
-- the functions too, because they decide how a definition is written down.
create or replace function cutter_governance.fn_catalog_keys() returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    spaces constant oid[] := array['public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace]::oid[];
    relations oid[];
    v_functions text;
    v_triggers text;
    v_relations text;
    v_tables text;
    v_grants text;
begin
    select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint)))) into v_functions
    from pg_proc where pronamespace = any (spaces);
    select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint)))),
        array_agg(oid) filter (where relkind in ('r', 'p', 'v', 'm', 'f'))
    into v_relations, relations
    from pg_class where relnamespace = any (spaces);
    select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint)))) into v_triggers
    from pg_trigger where tgrelid = any (relations) and not tgisinternal;
    v_tables := concat_ws(' ',
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, attrelid::bigint << 16 | attnum))))
         from pg_attribute where attrelid = any (relations) and attnum > 0),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_attrdef where adrelid = any (relations)),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_constraint where conrelid = any (relations)),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_rewrite where ev_class = any (relations)),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, indexrelid::bigint))))
         from pg_index where indrelid = any (relations)));
    -- The rows of roles hold passwords and are not readable, so their public columns are hashed instead.
    v_grants := concat_ws(' ',
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_namespace where nspname in ('public', 'cutter_governance', 'api')),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_database where datname = current_database()),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_default_acl),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_auth_members),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, setrole::bigint))))
         from pg_db_role_setting),
        (select concat(count(*), '.', bit_xor(hashtextextended(concat_ws(' ', oid, rolname, rolsuper, rolinherit,
             rolcreaterole, rolcreatedb, rolreplication, rolbypassrls), 0)))
         from pg_roles));
    -- the privileges of a function name roles, and its definition is written with their names
    return jsonb_build_object('functions', concat_ws(' ', v_functions, v_grants),
        'triggers', concat_ws(' ', v_functions, v_relations, v_triggers),
        'tables', concat_ws(' ', v_functions, v_relations, v_tables),
        'grants', concat_ws(' ', v_functions, v_relations, v_tables, v_grants));
end
$$;
