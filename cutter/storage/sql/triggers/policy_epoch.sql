-- The table is append-only.
create trigger trg_policy_epoch_append_only before update or delete or truncate
    on cutter_governance.policy_epoch for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.policy_epoch enable always trigger trg_policy_epoch_append_only;
