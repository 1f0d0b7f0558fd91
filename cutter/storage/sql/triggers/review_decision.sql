-- A decision is written by its gate or its request, begins without a verdict of the caller's choice, and changes once.
create trigger trg_aa_review_decision_guard before insert on cutter_governance.review_decision
    for each row when (new.type = 'cut') execute function cutter_governance.fn_governance_guard('IG_leg_b_record');
create trigger trg_review_decision_begins before insert on cutter_governance.review_decision
    for each row execute function cutter_governance.fn_review_decision_begins();
create trigger trg_review_decision_once before update or delete on cutter_governance.review_decision
    for each row execute function cutter_governance.fn_review_decision_once();
create trigger trg_review_decision_writer before insert on cutter_governance.review_decision
    for each row execute function cutter_governance.fn_review_decision_writer();
create constraint trigger trg_zz_review_decision_gate after insert on cutter_governance.review_decision
    deferrable initially deferred for each row when (new.type = 'cut')
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record');
alter table cutter_governance.review_decision enable always trigger trg_review_decision_once;
