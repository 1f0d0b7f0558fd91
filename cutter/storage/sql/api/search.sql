-- Returns the units in force on a day, or of one version of a law, whose title or text has the words, the best first. A
-- part of a word is found from three letters on, and from one letter on in a script without spaces. If no unit has the
-- words, words that are a typing mistake apart are looked for. With `recorded` it answers as it would have then.
create or replace function api.search(
    words text, "on" date default (now() at time zone 'UTC')::date, in_document text default null,
    in_version integer default null, at_most integer default 20, recorded timestamptz default 'infinity',
    day date default null)
returns table (
    document text, version integer, address text, title text, body text, content_sha256 text, effective_from date,
    rank real)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_most constant integer := least(at_most, 1000);
    v_query tsquery;
    v_corrected tsquery;
begin
    -- limits.SEARCH_WORDS_CHARACTERS_MAX
    if length(words) > 500 then
        raise exception 'a search has at most 500 characters' using errcode = '22023';
    end if;
    -- Quotation marks, `OR` and `-` mean what they mean in a web search, and else all words are asked for. Any other sign
    -- only separates words, as in the texts that are searched.
    v_query := case
        when words ~ '"|(^|\s)-\S|\mOR\M' then websearch_to_tsquery('simple', regexp_replace(
            cutter_governance.fn_search_fold(words), '[^[:alnum:]"-]+|(?<=[[:alnum:]])-', ' ', 'g'))
        else plainto_tsquery('simple', cutter_governance.fn_search_form(words)) end;
    return query select * from cutter_governance.fn_search_units(
        v_query, words, coalesce(day, "on"), in_document, in_version, recorded, v_most);
    if not found and words !~ '(^|\s)-|"' then
        v_corrected := cutter_governance.fn_search_corrected(cutter_governance.fn_search_form(words));
        return query select * from cutter_governance.fn_search_units(
            v_corrected, words, coalesce(day, "on"), in_document, in_version, recorded, v_most) where v_corrected is not null;
    end if;
end
$$;
comment on function api.search(text, date, text, integer, integer, timestamptz, date) is
    'The units in force on a day, or of one version of a law, whose title or text has the words, the best first';
