-- Returns fingerprint and row versions of a run's law. Texts are read only if the newest receipt has other versions.
create or replace function cutter_governance.fn_rows_seen(p_run_id text, p_docprefix text) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- read before the texts: a change between the two is in the fingerprint, and the next survey reads the texts again
    v_versions text := cutter_governance.fn_rows_versions(p_docprefix);
    v_enacted text := (
        select e.run_id from cutter_governance.run r join public.enactment e on e.source_document_ref = r.document_id
        where r.run_id = p_run_id collate "default" order by e.n desc limit 1);
    v_rows jsonb;
begin
    select jsonb_build_object('count', after_pins -> 'row_count', 'fingerprint', after_pins -> 'row_content') into v_rows
    from (select * from cutter_governance.gate_receipt
          where run_id in (p_run_id collate "default", v_enacted) and sealed_at is not null
          order by pin_seq desc limit 1) as newest
    where row_versions = v_versions;
    return coalesce(v_rows, cutter_governance.fn_rows_fingerprint(p_docprefix)) || jsonb_build_object('versions', v_versions);
end
$$;
