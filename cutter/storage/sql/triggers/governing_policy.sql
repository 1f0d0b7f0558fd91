-- The table is append-only and has columns of declared forms.
create trigger trg_ab_form before insert on cutter_governance.governing_policy
    for each row execute function cutter_governance.fn_check_form('sha256', 'digest', 'body', 'rules');
create trigger trg_governing_policy_append_only before update or delete or truncate
    on cutter_governance.governing_policy for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.governing_policy enable always trigger trg_governing_policy_append_only;
