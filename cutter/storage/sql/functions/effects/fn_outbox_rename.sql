-- Gives a document another name of the same stem, because its name is taken, before it is put, or while people read it.
create or replace function cutter_governance.fn_outbox_rename(p_kb_id text, p_free text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    entry cutter_governance.outbox;
    v_stem text := regexp_replace(p_kb_id, '(-other[0-9a-f]{1,12})?\.md$', '');
begin
    select * into entry from cutter_governance.outbox where kb_id = p_kb_id for update;
    if not found then
        raise exception 'no outbox row for %', p_kb_id using errcode = 'CU006';
    end if;
    if not cutter_governance.fn_outbox_is_mine(entry) then
        raise exception '% is not for % to put', p_kb_id, session_user using errcode = 'CU006';
    end if;
    if left(p_free, length(v_stem)) <> v_stem or substr(p_free, length(v_stem) + 1) !~ '^-other[0-9a-f]{1,12}\.md$' then
        raise exception '% is not another name of %', p_free, p_kb_id using errcode = 'CU006';
    end if;
    if entry.done_at is not null and not exists (
        select from cutter_governance.approval_request where kb_id = p_kb_id and status = 'requested')
    then
        raise exception '% was put already', p_kb_id using errcode = 'CU005';
    end if;
    if exists (select from cutter_governance.outbox where kb_id = p_free) then
        raise exception '% is the name of another document: nothing was overwritten', p_free using errcode = 'CU011';
    end if;
    update cutter_governance.outbox set kb_id = p_free, done_at = null, sha256 = null where id = entry.id;
    update cutter_governance.approval_request set kb_id = p_free where kb_id = p_kb_id;
    update cutter_governance.batch_queue set kb_id = p_free where kb_id = p_kb_id;
end
$$;
