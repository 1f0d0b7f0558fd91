-- Puts an effect policy in force and returns the sha256 of its text. `p_instead_of` is the sha256 of the policy that it
-- replaces, or null. If another one is in force, nobody has seen it, so it stays.
create or replace function cutter_governance.fn_effect_policy_install(p_body text, p_instead_of text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_sha text := cutter_governance.fn_digest(p_body);
    v_newest text;
begin
    -- Two installations at once would both see the same policy in force.
    lock table cutter_governance.effect_policy in share row exclusive mode;
    select e.sha256 into v_newest from cutter_governance.effect_policy e order by e.number desc limit 1;
    if v_newest = v_sha then
        return v_sha;
    end if;
    if v_newest is distinct from p_instead_of then
        raise exception 'the effect policy in force is %, not %', v_newest, coalesce(p_instead_of, 'none')
            using errcode = 'CU023';
    end if;
    insert into cutter_governance.governing_policy (sha256, body) values (v_sha, p_body) on conflict do nothing;
    insert into cutter_governance.effect_policy (sha256, installed_by) values (v_sha, session_user);
    return v_sha;
end
$$;
