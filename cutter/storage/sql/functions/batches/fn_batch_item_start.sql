-- Registers the run of an item that has no run that could still end well, and returns a status. `waits`: its tenant
-- is at a cap. `busy`: another run of the document is open, in either mode.
create or replace function cutter_governance.fn_batch_item_start(
    p_batch_id text, p_document_id text, p_run_id text, p_starter text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_batch cutter_governance.batch;
    item cutter_governance.batch_item;
    newest cutter_governance.run;
    other cutter_governance.run;
    verdict cutter_governance.approval_verdict;
    answer jsonb;
begin
    select * into v_batch from cutter_governance.batch where batch_id = p_batch_id for share;
    select * into item from cutter_governance.batch_item
    where batch_id = p_batch_id and document_id = p_document_id for update;
    if item.document_id is null or v_batch.halted is not null then
        return jsonb_build_object('status', 'refused', 'code', case
            when item.document_id is null then 'not_in_batch' else 'batch_halted' end);
    end if;
    select * into newest from cutter_governance.run
    where batch_id = p_batch_id and document_id = p_document_id order by created_at desc, run_id desc limit 1;
    if newest.state like 'voided\_%' and newest.ended_at < v_batch.again_at then
        newest := null;
    end if;
    if newest.run_id is not null and newest.ended_at is null then
        return jsonb_build_object('status', 'found', 'run_id', newest.run_id, 'state', newest.state);
    end if;
    if newest.run_id is not null then
        -- a signed authorisation includes a failed one again, once
        select * into verdict from cutter_governance.approval_verdict v
        where v.run_id = newest.run_id and v.accepted and v.decision = 'include_failed' and v.not_after > clock_timestamp()
            and not exists (select from cutter_governance.order_consumption where statement_sha256 = v.approval_sha256)
            and (select count(*) = 0 from cutter_governance.approval_revocation where approval_sha256 = v.approval_sha256)
        order by v.id desc limit 1;
        if not found or newest.state not like 'failed\_%' then
            return jsonb_build_object('status', 'refused', 'code', 'run_of_this_batch_ended', 'run_id', newest.run_id);
        end if;
    end if;
    -- A document has one workflow, so an open rehearsal holds up a live run too, and the other way round. The global
    -- chain is locked first, so that of two batches that ask at once the later one sees what the other has made.
    perform from cutter_governance.audit_head where chain = 'global' for update;
    select * into other from cutter_governance.run
    where document_id = p_document_id and ended_at is null order by created_at desc limit 1;
    if found then
        return jsonb_build_object('status', 'busy', 'run_id', other.run_id, 'document_id', p_document_id,
            'mode', other.mode, 'state', other.state);
    end if;
    answer := cutter_governance.fn_run_make(
        p_run_id, p_document_id, v_batch.mode, p_starter, v_batch.caps, null, p_batch_id, newest.run_id);
    if answer ->> 'status' = 'registered' then
        insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)
        select verdict.approval_sha256, newest.run_id, verdict.decision, verdict.approver, verdict.fingerprint
        where verdict.id is not null;
        update cutter_governance.batch_item set decided = null, reason = null
        where batch_id = p_batch_id and document_id = p_document_id and decided is not null;
    end if;
    return answer;
end
$$;
