-- Makes a batch's rows from a checked queue, or finds them; another queue under the same id is a conflict.
create or replace function cutter_governance.fn_batch_register(p_batch jsonb, p_items jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    existing cutter_governance.batch;
    v_id text := p_batch ->> 'batch_id';
begin
    insert into cutter_governance.batch (
        batch_id, queue_sha256, mode, policy, unattended, lanes, hard_cap_seconds, caps, created_by, starter,
        default_scope, default_actor)
    values (v_id, p_batch ->> 'queue_sha256', p_batch ->> 'mode', p_batch ->> 'policy',
        (p_batch ->> 'unattended')::boolean, (p_batch ->> 'lanes')::integer, (p_batch ->> 'hard_cap_seconds')::double precision,
        p_batch -> 'caps', left(p_batch ->> 'created_by', 100), left(p_batch ->> 'starter', 100),
        p_batch ->> 'default_scope', p_batch ->> 'default_actor')
    on conflict do nothing;
    if not found then
        select * into existing from cutter_governance.batch where batch_id = v_id;
        return jsonb_build_object('status', case
            when existing.queue_sha256 = p_batch ->> 'queue_sha256' then 'found' else 'conflict' end,
            'queue_sha256', existing.queue_sha256);
    end if;
    insert into cutter_governance.batch_item (
        batch_id, document_id, position, priority, depends_on, critical, tenant, source_uri, marking_profile, decided, reason,
        kept_out, scope, actor)
    select v_id, document_id, position, priority, coalesce(depends_on, '{}'), coalesce(critical, false),
        coalesce(tenant, 'default'), source_uri, marking_profile, decided, reason, coalesce(decided = 'blocked', false),
        scope, actor
    from jsonb_to_recordset(p_items) as item (
        document_id text, position integer, priority integer, depends_on text[], critical boolean, tenant text,
        source_uri text, marking_profile text, decided text, reason text, scope text, actor text);
    update cutter_governance.batch set weights = (
        select coalesce(jsonb_object_agg(tenant, cutter_governance.fn_tenant_caps(tenant, 'batch') -> 'weight'), '{}')
        from (select distinct tenant from cutter_governance.batch_item where batch_id = v_id) as its)
    where batch_id = v_id;
    perform cutter_governance.fn_audit_append(v_id, v_id, 'batch_registered', jsonb_build_object(
        'queue_sha256', p_batch ->> 'queue_sha256', 'items', jsonb_array_length(p_items), 'by', session_user));
    perform cutter_governance.fn_audit_anchor(v_id, 'batch_registered');
    return jsonb_build_object('status', 'registered');
end
$$;
