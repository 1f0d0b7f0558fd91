-- The table is append-only and has columns of declared forms.
create trigger trg_ab_form before insert on cutter_governance.message_refusal
    for each row execute function cutter_governance.fn_check_form('gate', 'name', 'message', 'name', 'code', 'name',
        'reason', 'line');
create trigger trg_message_refusal_append_only before update or delete or truncate
    on cutter_governance.message_refusal for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.message_refusal enable always trigger trg_message_refusal_append_only;
