-- Returns what a search asks for: all words, or with quotation marks, `OR` and `-` what they mean in a web search.
create or replace function cutter_governance.fn_search_query(p_words text) returns tsquery
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
return case
    when p_words ~ '"|(^|\s)-\S|\mOR\M' then websearch_to_tsquery('simple', regexp_replace(
        translate(lower(normalize(p_words, NFKD)), 'đøłı', 'doli'), '[\u0300-\u036f]', '', 'g'))
    else plainto_tsquery('simple', cutter_governance.fn_search_form(p_words)) end;
