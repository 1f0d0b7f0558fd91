-- Adds words to the vocabularies, with the person on the chain `vocabulary`, and returns the new ones.
create or replace function cutter_governance.fn_vocabulary_extend(p_words jsonb, p_by text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_wrong text;
    v_new jsonb;
begin
    select f.family || ' ' || coalesce(c.code, '(none)') into v_wrong
    from jsonb_each(p_words) as f (family, codes), jsonb_array_elements_text(f.codes) as c (code)
    where f.family not in ('owner', 'publication_type', 'unit_kind')
        or coalesce(c.code, '') !~ '^[a-z][a-z0-9_-]{0,47}$'
    limit 1;
    if v_wrong is not null then
        raise exception '% cannot be added to the vocabulary', v_wrong using errcode = 'CU003';
    end if;
    with added as (
        insert into public.vocabulary (family, code)
        select f.family, c.code from jsonb_each(p_words) as f (family, codes),
            jsonb_array_elements_text(f.codes) as c (code)
        on conflict do nothing
        returning family, code
    )
    select coalesce(jsonb_agg(jsonb_build_array(family, code) order by family, code), '[]') into v_new from added;
    if v_new <> '[]' then
        perform cutter_governance.fn_audit_append('vocabulary', 'vocabulary', 'vocabulary_extended', jsonb_build_object(
            'words', v_new, 'by', left(p_by, 100), 'session', session_user));
        perform cutter_governance.fn_audit_anchor('vocabulary', 'vocabulary_extended');
    end if;
    return jsonb_build_object('added', v_new);
end
$$;
