-- Finds the recent notifications of one phase by one index. A channel's pass asks for those. With an index of the time
-- alone, PostgreSQL sometimes read every notification of the phase, however old.
drop index cutter_governance.notification_created;
create index notification_recent on cutter_governance.notification (phase, created_at);
