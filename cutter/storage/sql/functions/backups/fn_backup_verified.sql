-- Records that these documents were verified in their segments, or which problem each one has. It skips a document that
-- was sealed again meanwhile. If it records a new problem, it writes one notification, about the first such document.
create or replace function cutter_governance.fn_backup_verified(p_documents jsonb) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_new text;
    v_problems bigint;
begin
    if session_user <> 'cutter_backup' then
        raise exception 'a segment is verified by cutter_backup, not by %', session_user using errcode = 'CU006';
    end if;
    select min(c.document_id) into v_new
    from cutter_governance.backup_coverage c join jsonb_each(p_documents) as d on d.key = c.document_id
    where c.problem is null and c.sha256 = d.value ->> 'sha256' and d.value ->> 'problem' is not null;
    update cutter_governance.backup_coverage c
    set problem = left(d.value ->> 'problem', 512),
        verified_at = case when d.value ->> 'problem' is null then clock_timestamp() else c.verified_at end
    from jsonb_each(p_documents) as d
    where d.key = c.document_id and c.sha256 = d.value ->> 'sha256';
    insert into cutter_governance.notification (kind, phase, subject, run_id, place)
    select 'backup', 'told', 'backup:' || r.run_id || ':' || (extract(epoch from clock_timestamp()) * 1000000)::bigint,
        r.run_id, 'segment_damaged'
    from cutter_governance.run r where r.document_id = v_new order by r.created_at desc limit 1;
    select count(*) into v_problems from cutter_governance.backup_coverage c where c.problem is not null;
    return v_problems;
end
$$;
