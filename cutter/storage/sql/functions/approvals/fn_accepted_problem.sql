-- Returns why a verdict cannot accept a statement, or null: its bytes, what they say, the epoch, the run. Whether the
-- signature is good, only the workers can check.
create or replace function cutter_governance.fn_accepted_problem(
    p_run cutter_governance.run, p_gate text, p_verdict jsonb, p_body bytea, p_signature bytea) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_run.run_id is null then 'accepts a statement about an unknown run'
        when coalesce(octet_length(p_body) not between 1 and 65536 or octet_length(p_signature) not between 1 and 16384, true)
            then 'accepts a statement without the bytes of the statement and its signature'
        when encode(sha256(p_body), 'hex') is distinct from p_verdict ->> 'approval_sha256'
            then 'accepts other bytes than it names'
        when said.decision is distinct from p_verdict ->> 'decision'
            or coalesce(said.decision not in (
                'approve', 'reject', 'resume', 'void', 'acknowledge_drift', 'include_failed', 'revoke'), true)
            then 'accepts a decision that is none'
        when exists (select from jsonb_each_text(kept.statement) as field (name, value)
                     where position(convert_to(E'\n' || name || ': ' || value || E'\n', 'UTF8') in p_body) = 0)
            then 'accepts a field that was not signed'
        when (said.gate, said.approver, said.document_id) is distinct from (p_gate, p_verdict ->> 'approver', p_run.document_id)
            or (said.challenge, said.writer_digest, said.review_decision_id) is distinct from (
                p_verdict ->> 'challenge', p_verdict ->> 'writer_digest', p_verdict ->> 'review_decision_id')
            or said.not_after is distinct from p_verdict ->> 'not_after'
            or not coalesce(case said.binding when 'run' then said.run_id = p_run.run_id
                when 'tuple' then said.batch_id = p_run.batch_id end, false)
            then 'says otherwise than the statement that it accepts'
        when said.approver = p_run.starter then 'accepts a statement of the person who started the run'
        when not exists (
            select from cutter_governance.policy_epoch e
            where e.sha256 = p_verdict ->> 'policy_sha256' and p_verdict ->> 'fingerprint' ~ '^[0-9A-F]{40,64}$'
                and position(p_verdict ->> 'fingerprint' in e.body) > 0 and position(said.approver in e.body) > 0)
            then 'accepts a signer who is not in an installed policy epoch' end
    from (select coalesce(nullif(p_verdict -> 'statement', 'null'), '{}') as statement) as kept,
        lateral jsonb_to_record(kept.statement) as said (decision text, binding text, gate text, approver text,
        document_id text, run_id text, batch_id text, challenge text, writer_digest text, review_decision_id text,
        not_after text)
$$;
