-- Returns the versions of units that have the words of a query, or every three letters of another text, of one law or of all.
-- It reads two indexes. What it returns for the letters must still be compared with the text.
create or replace function cutter_governance.fn_search_hits(p_query tsquery, p_grams text[], p_document text)
returns table (version_id uuid, is_word boolean)
language plpgsql stable security definer rows 20
set search_path = pg_catalog, pg_temp
as $$
declare
    v_law text := cutter_governance.fn_search_law(p_document);
    v_query tsquery := case when v_law is null then p_query
        else p_query && ('''' || replace(replace(v_law, '\', '\\'), '''', '''''') || '''')::tsquery end;
begin
    return query select s.version_id, true from public.unit_search s where s.words @@ v_query;
    if cardinality(p_grams) > 0 then
        return query select s.version_id, false from public.unit_search s
            where s.grams @> array_remove(array_append(p_grams, v_law), null) and not s.words @@ v_query;
    end if;
end
$$;
