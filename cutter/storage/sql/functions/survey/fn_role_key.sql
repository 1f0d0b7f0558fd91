-- Returns the part of a key that stands for roles, memberships, settings and default privileges, as fn_catalog_keys
-- builds it. The rows of roles hold passwords and are not readable, so their public columns are hashed instead.
create or replace function cutter_governance.fn_role_key() returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select concat_ws(' ',
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
         from pg_roles))
$$;
