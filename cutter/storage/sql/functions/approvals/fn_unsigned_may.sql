-- Returns whether what a tier asks for may be decided without a signature: only in a rehearsal, and only if the signed
-- epoch makes signing optional. The sovereign gates never ask this.
create or replace function cutter_governance.fn_unsigned_may(p_mode text, p_tier text) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((select e.body ~ '(?n)^signing: optional$' from cutter_governance.policy_epoch e
                     order by e.number desc limit 1), false)
        and coalesce(p_mode = 'dryrun' and p_tier in ('low', 'medium', 'high'), false)
$$;
