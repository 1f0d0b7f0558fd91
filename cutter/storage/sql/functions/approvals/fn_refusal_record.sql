-- Records a message that was refused before it could be judged.
create or replace function cutter_governance.fn_refusal_record(p_run_id text, p_gate text, p_message text, p_code text, p_reason text)
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    insert into cutter_governance.message_refusal (run_id, gate, message, code, reason)
    values (p_run_id, left(p_gate, 100), left(p_message, 100), left(p_code, 100), left(p_reason, 500))
$$;
