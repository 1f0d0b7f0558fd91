-- Lets a batch cut again what was voided until now; each such document gets another run, whose write is signed again.
create or replace function cutter_governance.fn_batch_again(p_batch_id text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update cutter_governance.batch set again_at = clock_timestamp() where batch_id = p_batch_id;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'again', jsonb_build_object('by', session_user));
end
$$;
