-- Refuses a row one of whose columns is not of its form; the arguments are pairs of column and form. A column that an
-- update leaves unchanged is not checked, so that an older row stays usable.
create or replace function cutter_governance.fn_check_form() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row jsonb := to_jsonb(new);
    v_old jsonb := case when tg_op = 'UPDATE' then to_jsonb(old) end;
    v_value jsonb;
    v_problem text;
begin
    for number in 0 .. tg_nargs - 2 by 2 loop
        v_value := v_row -> tg_argv[number];
        if (jsonb_typeof(v_value) <> 'null' or tg_argv[number + 1] in ('request', 'response', 'caps', 'queues', 'findings'))
            and (v_old is null or v_value is distinct from v_old -> tg_argv[number])
        then
            v_problem := cutter_governance.fn_form_problem(tg_argv[number + 1], v_value);
            if v_problem is not null then
                raise exception 'a row of % was refused: its % %', tg_table_name, tg_argv[number], v_problem
                    using errcode = 'CU021';
            end if;
        end if;
    end loop;
    return new;
end
$$;
