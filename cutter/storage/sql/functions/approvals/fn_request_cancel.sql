-- Cancels the open request of a run that ends, because nobody can answer the request any more.
create or replace function cutter_governance.fn_request_cancel() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update cutter_governance.approval_request set status = 'canceled' where run_id = new.run_id and status = 'requested';
    return null;
end
$$;
