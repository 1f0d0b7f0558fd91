-- Ends the requests that earlier versions left open when their run ended, because nobody can answer them. Nobody decided
-- about an enactment, so such a request expires with its decision. The request of a rehearsal can be signed for the night.
update cutter_governance.approval_request a
set status = case when a.review_decision_id is null then 'canceled' else 'expired' end
from cutter_governance.run r
where r.run_id = a.run_id and r.ended_at is not null and r.outcome is distinct from 'rehearsed' and a.status = 'requested';
