-- A segment that fails its verification is told to people, because no gate takes a backup until somebody has dealt with it.
alter table cutter_governance.notification
    drop constraint notification_kind_check,
    add constraint notification_kind_check
        check (kind in ('approval', 'policy_stop', 'stop', 'failure', 'finished', 'batch', 'enacted', 'backup'));
