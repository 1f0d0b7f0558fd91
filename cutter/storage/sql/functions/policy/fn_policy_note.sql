-- Stores the text of a policy that a worker decided by, and returns the part that is kept with each decision.
create or replace function cutter_governance.fn_policy_note(p_policy jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_policy jsonb := case when jsonb_typeof(p_policy) = 'object' then p_policy - 'text' else p_policy end;
    v_problem text;
begin
    if v_policy is null then
        return null;
    end if;
    v_problem := coalesce(cutter_governance.fn_form_problem('policy', v_policy), case
        when coalesce(jsonb_typeof(p_policy -> 'text'), 'null') not in ('null', 'string') then 'has a text that is none'
        when p_policy ->> 'text' <> '' and cutter_governance.fn_digest(p_policy ->> 'text') <> p_policy ->> 'sha256'
            then 'has a text of another sha256' end);
    if v_problem is not null then
        raise exception 'a record of the policy was refused: it %', v_problem using errcode = 'CU021';
    end if;
    if coalesce(p_policy ->> 'text', '') <> '' then
        insert into cutter_governance.governing_policy (sha256, body)
        values (p_policy ->> 'sha256', p_policy ->> 'text') on conflict do nothing;
    end if;
    return v_policy;
end
$$;
