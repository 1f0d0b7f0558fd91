-- Records that a restored segment holds these documents, and the new tree. Returns false, and records nothing, if the
-- tree is no longer the one from which the caller made the new one. With other columns, the tree begins again, so
-- no segment covers the documents that this one does not hold.
create or replace function cutter_governance.fn_backup_seal(
    p_before text, p_after text, p_columns_sha256 text, p_artifact text, p_sha256 text, p_documents jsonb) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_head cutter_governance.backup_head;
    v_new bigint;
begin
    if session_user <> 'cutter_backup' then
        raise exception 'a segment is sealed by cutter_backup, not by %', session_user using errcode = 'CU006';
    end if;
    select * into strict v_head from cutter_governance.backup_head for update;
    if v_head.tree is distinct from p_before then
        return false;
    end if;
    perform cutter_governance.fn_backup_given_up(case when v_head.columns_sha256 = p_columns_sha256 then
        array(select jsonb_object_keys(p_documents)) end);
    if v_head.columns_sha256 is distinct from p_columns_sha256 then
        update cutter_governance.backup_coverage c set sealed_changes = null, artifact = null, sha256 = null,
            fingerprint = null, sealed_at = null, verified_at = null, problem = null
        where c.sealed_changes is not null;
        v_head.documents := 0;
    end if;
    select count(*) into v_new from cutter_governance.backup_coverage c
    where c.document_id in (select jsonb_object_keys(p_documents)) and c.sealed_changes is null;
    update cutter_governance.backup_coverage c
    set sealed_changes = (d.value ->> 'changes')::bigint, fingerprint = d.value ->> 'fingerprint',
        artifact = p_artifact, sha256 = p_sha256, sealed_at = clock_timestamp(), verified_at = clock_timestamp(), problem = null,
        changed_by = case when c.changes = (d.value ->> 'changes')::bigint then null else c.changed_by end
    from jsonb_each(p_documents) as d where d.key = c.document_id;
    update cutter_governance.backup_head
    set tree = p_after, columns_sha256 = p_columns_sha256, documents = v_head.documents + v_new;
    return true;
end
$$;
