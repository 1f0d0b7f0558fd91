-- Installs the next epoch of approvers and returns its sha256; the epoch in force is returned unchanged.
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
