-- Returns how many people have approved a request.
create or replace function cutter_governance.fn_people_signed(p_request cutter_governance.approval_request) returns bigint
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select least(count(distinct v.fingerprint), count(distinct v.approver))
    from cutter_governance.fn_request_approvals(p_request) v
$$;
