-- The row versions from which the second survey of a sealed receipt was made. The next survey of the run reads the rows'
-- texts only if these row versions changed. A restored database has others, and reads the texts once.
alter table cutter_governance.gate_receipt add column row_versions text;
