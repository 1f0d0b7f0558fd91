-- Records that its role has put a document, with the action receipt. Returns fn_run_published.
create or replace function cutter_governance.fn_outbox_done(p_kb_id text, p_sha256 text, p_size integer, p_policy jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    entry cutter_governance.outbox;
begin
    select * into entry from cutter_governance.outbox where kb_id = p_kb_id for update;
    if not found then
        raise exception 'no outbox row for %', p_kb_id using errcode = 'CU006';
    end if;
    if not cutter_governance.fn_outbox_is_mine(entry) then
        raise exception '% is not for % to put', p_kb_id, session_user using errcode = 'CU006';
    end if;
    if entry.body is not null and cutter_governance.fn_digest(entry.body) <> p_sha256 then
        raise exception '% holds a body of sha256 %, now % was put: nothing was overwritten',
            p_kb_id, cutter_governance.fn_digest(entry.body), p_sha256 using errcode = 'CU011';
    end if;
    perform cutter_governance.fn_action_note(entry.run_id, entry.subject, 'kb', 'put', p_kb_id, p_sha256,
        jsonb_build_object('kind', entry.kind, 'policy', p_policy), jsonb_build_object('size_bytes', p_size), false,
        'write-once; a later document says more');
    update cutter_governance.outbox set done_at = clock_timestamp(), sha256 = p_sha256 where id = entry.id and done_at is null;
    return cutter_governance.fn_run_published(entry.run_id, p_kb_id);
end
$$;
