-- Refuses to change, delete or truncate enacted law. The one exception is the open enactment of a successor: it may end
-- the versions that its change set names, and it may let their units show the successor.
create or replace function public.fn_enacted_immutable() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
    if tg_op = 'TRUNCATE' then
        raise exception '% may not be truncated: it holds enacted law', tg_table_name using errcode = 'CU002';
    end if;
    if old.lifecycle_status <> 'draft'
        and (tg_op = 'DELETE' or not public.fn_may_end(tg_table_name, to_jsonb(old), to_jsonb(new)))
    then
        raise exception '% %: enacted law is immutable', tg_table_name, old.id using errcode = 'CU002';
    end if;
    if tg_op = 'DELETE' then
        return old;
    end if;
    return new;
end
$$;
