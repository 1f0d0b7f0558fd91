-- Refuses a lifecycle decision that fn_request_open, which runs as the owner, did not make.
create or replace function cutter_governance.fn_review_decision_writer() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.type = 'lifecycle_enactment' and current_user <> 'cutter_owner' then
        raise exception 'a lifecycle decision is made with its request, not by %', current_user using errcode = 'CU008';
    end if;
    return new;
end
$$;
