-- Refuses a signature whose kind is not its writer's. This is no CHECK, because a CHECK would stop a restore.
create or replace function cutter_governance.fn_signature_kind() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not ((new.signature_kind = 'executor' and session_user = 'cutter_exec')
            or (new.signature_kind = 'verifier' and session_user = 'cutter_verify'))
    then
        raise exception 'a % signature is not for % to write', new.signature_kind, session_user using errcode = 'CU008';
    end if;
    return new;
end
$$;
