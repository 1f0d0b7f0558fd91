-- Records that these documents were verified in their segments, or which problem each one has. It skips a document that
-- was sealed again meanwhile.
create or replace function cutter_governance.fn_backup_verified(p_documents jsonb) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_problems bigint;
begin
    if session_user <> 'cutter_backup' then
        raise exception 'a segment is verified by cutter_backup, not by %', session_user using errcode = 'CU006';
    end if;
    update cutter_governance.backup_coverage c
    set problem = left(d.value ->> 'problem', 512),
        verified_at = case when d.value ->> 'problem' is null then clock_timestamp() else c.verified_at end
    from jsonb_each(p_documents) as d
    where d.key = c.document_id and c.sha256 = d.value ->> 'sha256';
    select count(*) into v_problems from cutter_governance.backup_coverage c where c.problem is not null;
    return v_problems;
end
$$;
