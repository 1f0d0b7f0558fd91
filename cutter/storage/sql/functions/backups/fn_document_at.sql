-- Returns the document whose units have addresses like this one, or null.
create or replace function cutter_governance.fn_document_at(p_address text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select d.doc_code from public.source_document d where d.address_docprefix = split_part(p_address, '/', 1) collate "C"
$$;
