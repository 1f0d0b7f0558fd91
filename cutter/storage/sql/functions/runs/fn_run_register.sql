-- Registers a run for a person or a workflow, with the answers of fn_run_make. Only fn_batch_item_start makes a
-- batch's runs; this function finds them. A caller that merely names a batch gets nothing that was signed for it.
create or replace function cutter_governance.fn_run_register(
    p_run_id text, p_document_id text, p_mode text, p_starter text, p_caps jsonb default '{}',
    p_first_execution_id text default null, p_batch_id text default null, p_amends text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_batch_id is not null and not exists (
        select from cutter_governance.run where run_id = p_run_id and batch_id = p_batch_id)
    then
        return jsonb_build_object('status', 'not_in_batch', 'run_id', p_run_id, 'document_id', p_document_id,
            'batch_id', p_batch_id);
    end if;
    return cutter_governance.fn_run_make(
        p_run_id, p_document_id, p_mode, p_starter, p_caps, p_first_execution_id, p_batch_id, p_amends);
end
$$;
