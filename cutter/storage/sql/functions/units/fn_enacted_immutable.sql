-- Refuses to change, delete or truncate enacted law.
create or replace function public.fn_enacted_immutable() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
    if tg_op = 'TRUNCATE' then
        raise exception '% may not be truncated: it holds enacted law', tg_table_name using errcode = 'CU002';
    end if;
    if old.lifecycle_status <> 'draft' then
        raise exception '% %: enacted law is immutable', tg_table_name, old.id using errcode = 'CU002';
    end if;
    if tg_op = 'DELETE' then
        return old;
    end if;
    return new;
end
$$;
