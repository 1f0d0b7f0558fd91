-- Returns what a search asks for: all words, or with quotation marks, `OR` and `-` what they mean in a web search. Any
-- other sign only separates words, as in the texts that are searched.
create or replace function cutter_governance.fn_search_query(p_words text) returns tsquery
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
return case
    when p_words ~ '"|(^|\s)-\S|\mOR\M' then websearch_to_tsquery('simple', regexp_replace(
        cutter_governance.fn_search_fold(p_words), '[^[:alnum:]"-]+|(?<=[[:alnum:]])-', ' ', 'g'))
    else plainto_tsquery('simple', cutter_governance.fn_search_form(p_words)) end;
