-- Records the receipt of an action without a row in an outbox. Each role records only its own kinds.
create or replace function cutter_governance.fn_action_record(
    p_run_id text, p_gate text, p_connector text, p_operation text, p_target text, p_payload_sha256 text,
    p_request jsonb, p_response jsonb, p_reversible boolean, p_how_to_reverse text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role text := case p_connector when 'backup' then 'cutter_backup' when 'kb' then 'cutter_read'
        when 'evidence' then 'cutter_read' end;
begin
    if v_role is distinct from session_user then
        raise exception 'an action of % is recorded by %, not by %', p_connector, coalesce(v_role, 'nobody'), session_user
            using errcode = 'CU006';
    end if;
    return cutter_governance.fn_action_note(p_run_id, p_gate, p_connector, p_operation, p_target, p_payload_sha256,
        p_request, p_response, p_reversible, p_how_to_reverse);
end
$$;
