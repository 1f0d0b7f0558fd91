-- Refuses a new unit with a word that is not in the vocabulary, or that is not a draft.
create or replace function public.fn_iu_birth_gate_layer1() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    missing text;
begin
    select family || ' ' || coalesce(code, '(none)') into missing
    from (values ('unit_kind', new.unit_kind),
                 ('section_type', new.identity_profile ->> 'primary_section_type_ref'),
                 ('publication_type', new.identity_profile ->> 'publication_type_ref'),
                 ('owner', new.owner_ref)) as wanted (family, code)
    where not exists (
        select from public.vocabulary v where v.family = wanted.family and v.code = wanted.code)
        and not (wanted.family = 'publication_type' and wanted.code is null)
    limit 1;
    if missing is not null then
        raise exception '%: % is not in the vocabulary', new.canonical_address, missing using errcode = 'CU003';
    end if;
    if new.lifecycle_status <> 'draft' then
        raise exception '%: units are born as drafts', new.canonical_address using errcode = 'CU003';
    end if;
    return new;
end
$$;
