-- Refuses a document without a text, or with the name that another document, run or batch will have.
create or replace function cutter_governance.fn_outbox_name() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.kb_id !~ (case
        when new.run_id is null then '/' || new.batch_id || '/.'
        else '-' || right(new.run_id, 12) || '/' || case new.kind
            when 'request' then 'SG' || case new.subject when 'SG_cut_authz' then 1 else 2 end || '-[a-z-]+-request-'
            when 'stop_route' then '(SG3-stop-route-report|STOP-quarantine)-'
            else (select report from cutter_governance.gate_catalogue where gate = new.subject) || '-' end || '[^/]+$' end)
    then
        raise exception '% is the name of another document than the % of %', left(new.kb_id, 300), new.kind,
            coalesce(new.run_id, new.batch_id) using errcode = 'CU021';
    end if;
    if new.body is null and new.kind <> 'gate_report' then
        raise exception 'the % of % has no text', new.kind, coalesce(new.run_id, new.batch_id) using errcode = 'CU021';
    end if;
    return new;
end
$$;
