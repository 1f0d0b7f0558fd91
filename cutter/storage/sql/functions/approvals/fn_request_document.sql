-- Binds the rendered document to its request, in the transaction of the request.
create or replace function cutter_governance.fn_request_document(p_request_id uuid, p_kb_id text, p_body text, p_tier text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    request cutter_governance.approval_request;
begin
    update cutter_governance.approval_request
    set kb_id = p_kb_id, request_sha256 = cutter_governance.fn_digest(p_body), tier = p_tier
    where request_id = p_request_id and kb_id is null returning * into request;
    if not found then
        raise exception 'request %: has its document already', p_request_id using errcode = 'CU005';
    end if;
    insert into cutter_governance.outbox (run_id, kind, subject, kb_id, body)
    values (request.run_id, 'request', request.gate, p_kb_id, p_body);
end
$$;
