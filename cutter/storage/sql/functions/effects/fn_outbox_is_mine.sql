-- Returns whether the session's role puts a document. Only the worker knows a gate report's text, so the gate's own
-- role puts it, or cutter_read, which every run needs anyway. Only cutter_read puts a document whose text is stored.
create or replace function cutter_governance.fn_outbox_is_mine(p_entry cutter_governance.outbox) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select session_user = 'cutter_read' or (p_entry.body is null and exists (
        select from cutter_governance.gate_catalogue where gate = p_entry.subject and role = session_user))
$$;
