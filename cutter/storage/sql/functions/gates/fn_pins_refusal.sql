-- Returns why a gate's pins are refused, or null. They must be the registered source's on its own base, and not
-- contradict earlier ones. A red finding in them needs a person who accepted it with this source.
create or replace function cutter_governance.fn_pins_refusal(
    p_run cutter_governance.run, p_step cutter_governance.gate_catalogue, p_pins jsonb) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_pins is null or jsonb_typeof(p_pins) <> 'object' then 'result_without_pins'
        when p_step.pins_source and not exists (
            select from public.source_document d
            join public.source_version v on v.source_document_ref = d.source_document_ref
            where d.doc_code = p_run.document_id and d.address_docprefix = p_pins ->> 'docprefix'
                and d.id::text = p_pins ->> 'source_document_id' and v.id::text = p_pins ->> 'source_version_id')
            then 'pins_not_registered'
        -- the first cut of a document has no base, and any later one has the newest enactment
        when p_step.pins_source and not (
            select jsonb_build_object('kind', p_pins -> 'operation_kind', 'run', p_pins -> 'base_run_id',
                    'version', p_pins -> 'base_source_version_id', 'receipt', p_pins -> 'base_receipt_hash')
                = jsonb_build_object('kind', case
                        when e.run_id is null and s.change_kind = 'text' then null
                        when e.run_id is null then 'no_base'
                        when s.change_kind = 'text' then 'revision' else s.change_kind end, 'run', e.run_id,
                    'version', e.source_version_id, 'receipt', g.receipt_hash)
            from public.source_version s
            left join lateral (
                select * from public.enactment n where n.source_document_ref = p_run.document_id order by n.n desc limit 1) e
                on true
            left join cutter_governance.gate_receipt g on g.run_id = e.run_id and g.gate = 'IG_lifecycle_enact_execute'
            where s.source_document_ref = p_run.document_id and s.id::text = p_pins ->> 'source_version_id')
            then 'pins_not_on_base'
        when p_step.gate = 'IG_mark' and not string_to_array(nullif(p_pins ->> 'red_findings', 'none'), ' ')
            <@ cutter_governance.fn_accepted_findings(p_run.source_version_id) then 'red_finding_not_accepted'
        when exists (
            select from jsonb_each(cutter_governance.fn_run_pins(p_run.run_id)) as pinned
            where p_pins ? pinned.key and p_pins -> pinned.key <> pinned.value) then 'pins_contradict' end
$$;
