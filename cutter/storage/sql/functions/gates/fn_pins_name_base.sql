-- Returns whether a gate's pins name the operation that the source version asks for, and the law in force as the base.
-- The first cut of a document has no base. Any later one has its newest enactment.
create or replace function cutter_governance.fn_pins_name_base(p_run cutter_governance.run, p_pins jsonb) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('kind', p_pins -> 'operation_kind', 'run', p_pins -> 'base_run_id',
            'version', p_pins -> 'base_source_version_id', 'receipt', p_pins -> 'base_receipt_hash')
        = jsonb_build_object('kind', case
                when e.run_id is null and s.change_kind = 'text' then null
                when e.run_id is null then 'no_base'
                when s.change_kind = 'text' then 'revision' else s.change_kind end, 'run', e.run_id,
            'version', e.source_version_id, 'receipt', g.receipt_hash)
    from public.source_version s
    left join lateral (
        select * from public.enactment n where n.source_document_ref = p_run.document_id order by n.n desc limit 1) e on true
    left join cutter_governance.gate_receipt g on g.run_id = e.run_id and g.gate = 'IG_lifecycle_enact_execute'
    where s.source_document_ref = p_run.document_id and s.id::text = p_pins ->> 'source_version_id'
$$;
