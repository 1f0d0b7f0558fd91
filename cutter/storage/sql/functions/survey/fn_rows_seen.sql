-- Returns the count, the fingerprint and the row versions of a run's law. It reads the texts only if the row versions are not
-- those of the run's newest receipt.
create or replace function cutter_governance.fn_rows_seen(p_run_id text, p_docprefix text) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- read before the texts: a change between the two is in the fingerprint, and the next survey reads the texts again
    v_versions text := cutter_governance.fn_rows_versions(p_docprefix);
    v_rows jsonb;
begin
    select jsonb_build_object('count', after_pins -> 'row_count', 'fingerprint', after_pins -> 'row_content') into v_rows
    from (select * from cutter_governance.gate_receipt
          where run_id = p_run_id collate "default" and sealed_at is not null
          order by pin_seq desc limit 1) as newest
    where row_versions = v_versions;
    return coalesce(v_rows, cutter_governance.fn_rows_fingerprint(p_docprefix)) || jsonb_build_object('versions', v_versions);
end
$$;
