-- Makes review decisions for rehearsed documents before a batch runs, and returns {document: decision}. All approvers
-- of one enactment sign the same decision while it is recent enough.
create or replace function cutter_governance.fn_decisions_prepare(p_batch_id text, p_document_ids text[]) returns jsonb
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    with asked as (
        select distinct wanted.document_id from unnest(p_document_ids) as wanted (document_id)
        join cutter_governance.run r on r.batch_id = p_batch_id || '-dryrun' and r.document_id = wanted.document_id
            and r.outcome = 'rehearsed'
    ), fresh as (
        select distinct on (p.document_id) p.document_id, p.review_decision_id
        from cutter_governance.prepared_decision p join asked using (document_id)
        where p.batch_id = p_batch_id and p.created_at > clock_timestamp() - interval '11 hours'
            and not exists (
                select from cutter_governance.review_decision d where d.review_decision_id = p.review_decision_id)
        order by p.document_id, p.created_at desc
    ), made as (
        insert into cutter_governance.prepared_decision (review_decision_id, batch_id, document_id, actor, created_by)
        select gen_random_uuid(), p_batch_id, asked.document_id, epoch.lifecycle_group, session_user
        from asked, (select lifecycle_group from cutter_governance.policy_epoch order by number desc limit 1) as epoch
        where asked.document_id not in (select document_id from fresh)
        returning document_id, review_decision_id)
    select coalesce(jsonb_object_agg(document_id, review_decision_id), '{}')
    from (select * from fresh union all select * from made) as ready
$$;
