-- Sets the verdict of a new decision, whatever the caller wrote. A cut decision has that of the approved request.
create or replace function cutter_governance.fn_review_decision_begins() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    new.verdict := 'PENDING';
    new.decided_by := '{}';
    new.decided_at := null;
    new.approval_sha256 := '{}';
    return case new.type when 'cut' then cutter_governance.fn_review_decision_decided(new) else new end;
end
$$;
