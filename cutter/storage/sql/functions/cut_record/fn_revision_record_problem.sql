-- Returns why leg B of a revision is incomplete, or null: a block for each row, an affected row for each change.
create or replace function cutter_governance.fn_revision_record_problem(
    p_run cutter_governance.run, p_change_set cutter_governance.cut_change_set) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select case
        when envelope.operation_kind <> p_run.operation_kind then 'the envelope names another operation'
        when planned.rows <> planned.blocks or planned.rows <> blocks.count
            or planned.changing <> planned.affected or planned.changing <> affected.count
            then format('%s blocks and %s affected rows for %s rows', planned.blocks, planned.affected, planned.rows) end
    from cutter_governance.manifest_envelope envelope
    cross join lateral (
        select count(*) as rows, count(*) filter (where w.operation <> 'keep') as changing, count(b.envelope_id) as blocks,
            count(a.affected_row_id) as affected
        from cutter_governance.revision_row w
        left join cutter_governance.manifest_unit_block b on b.envelope_id = envelope.envelope_id
            and b.target_unit_id = w.unit_id and b.proposed_canonical_address = w.address and b.operation = w.operation
            and b.render_order = w.document_order and b.target_version_id = coalesce(w.version_id, w.base_version_id)
            and b.span_sha256 = (select v.content_hash from public.unit_version v where v.id = b.target_version_id)
        left join cutter_governance.cut_change_set_affected_row a on a.change_set_id = p_change_set.change_set_id
            and a.unit_id = w.unit_id and a.operation = w.operation and a.unit_version_id is not distinct from w.version_id
            and a.ended_version_id is not distinct from w.base_version_id and a.content_hash = b.span_sha256
        where w.run_id = p_run.run_id) as planned
    cross join lateral (select count(*) from cutter_governance.manifest_unit_block b
                        where b.envelope_id = envelope.envelope_id) as blocks
    cross join lateral (select count(*) from cutter_governance.cut_change_set_affected_row a
                        where a.change_set_id = p_change_set.change_set_id) as affected
    where envelope.envelope_id = p_change_set.manifest_id
$$;
