-- Returns the place in the document of the next unit that this transaction writes, counted from 1. The verifier compares
-- the stored places with the plan.
create or replace function public.fn_iu_next_place() returns integer
language sql volatile security definer
set search_path = pg_catalog, public, pg_temp
return set_config('app.document_order',
    (coalesce(nullif(current_setting('app.document_order', true), ''), '0')::integer + 1)::text, true)::integer;
