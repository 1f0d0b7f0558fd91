-- Returns those settings of a role or a database that could change what a session writes, whether its checks run, or
-- whether the write lasts. Settings that only name, log, time, plan or give memory are left out: a role may change
-- most of them for itself, and at worst a statement fails. A setting that this list does not know counts.
create or replace function cutter_governance.fn_settings_that_affect_a_write(p_settings text[]) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select string_agg(setting, '; ' order by setting collate "C") from unnest(p_settings) as setting
    where lower(split_part(setting, '=', 1)) !~ ('^(application_name|client_min_messages|[a-z_]*timeout'
        || '|client_connection_check_interval|temp_file_limit|[a-z_]*work_mem|hash_mem_multiplier|temp_buffers'
        || '|(log|track|tcp|enable|cpu|geqo|jit|max_parallel|min_parallel|vacuum)(_[a-z_]*)?'
        || '|(seq|random)_page_cost|effective_[a-z_]*|(from|join)_collapse_limit|plan_cache_mode)$')
$$;
