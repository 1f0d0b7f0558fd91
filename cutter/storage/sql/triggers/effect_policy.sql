-- The table is append-only.
create trigger trg_effect_policy_append_only before update or delete or truncate
    on cutter_governance.effect_policy for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.effect_policy enable always trigger trg_effect_policy_append_only;
