-- A backup holds the rows of one document, so nothing records which segment holds which rows.
drop table cutter_governance.backup_coverage, cutter_governance.backup_head;

-- No run shares the backup of another one.
drop index cutter_governance.gate_receipt_backup;

-- Nothing tells people of damaged segments any more.
delete from cutter_governance.notification_delivery d using cutter_governance.notification n
where n.kind = 'backup' and d.notification_id = n.id;
delete from cutter_governance.notification where kind = 'backup';
alter table cutter_governance.notification
    drop constraint notification_kind_check,
    add constraint notification_kind_check
        check (kind in ('approval', 'policy_stop', 'stop', 'failure', 'finished', 'batch', 'enacted'));
