-- A backup that is older than the moment at which people gave up a damaged segment may need that segment. So the moment is
-- kept, and no write relies on an older backup.
alter table cutter_governance.backup_head add column given_up_at timestamptz;
