"""A revocation takes back the approval that it names, of its own run, before it was used, or says that it did not."""

from __future__ import annotations

from pathlib import Path
from typing import LiteralString

import pytest

from activities.run.approval_requests import open_request
from cutter.approvals import schema
from cutter.approvals.statement import render
from cutter.catalogue import Sovereign, WorkerRole
from cutter.domain.digests import sha256_hex
from cutter.messages import RequestInput
from cutter.storage.records import query
from starter.approver import signing_desk
from starter.commands import inbox
from tests.support.gate_calls import store_verdict
from tests.support.runs import Deployment, drive, law, next_epoch

CUT = Sovereign.CUT.value
REVOKED = "select count(*) from cutter_governance.approval_revocation"


def test_an_approval_of_another_run_cannot_be_revoked_from_here(deployment: Deployment) -> None:
    theirs, ours = (drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(2))
    _, approved = deployment.approve(theirs, Sovereign.CUT)
    deployment.approve(ours, Sovereign.CUT, by=1)
    verdict = deployment.order(ours, schema.REVOKE, approval_sha256=approved.approval_sha256)
    assert (verdict.accepted, verdict.code) == (False, "approval_sha256_mismatch")
    assert deployment.database.value(REVOKED) == 0


def test_an_approval_can_be_taken_back_before_anybody_hands_it_over(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    document, data = signing_desk.read_request(deployment.settings, run_id, deployment.request(run_id, Sovereign.CUT))
    who = deployment.keys.signing()
    statement = signing_desk.answer(document, data, who, schema.APPROVE)
    kb_id = signing_desk.sign_and_upload(deployment.settings, statement, who, document.approval_kb_id)
    assert deployment.order(run_id, schema.REVOKE, approval_sha256=sha256_hex(render(statement))).accepted
    verdict = deployment.judge(run_id, Sovereign.CUT.value, kb_id)
    assert (verdict.accepted, verdict.code) == (False, "revoked")


def test_the_database_itself_revokes_no_approval_of_another_run(deployment: Deployment) -> None:
    theirs, run_id = (drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(2))
    _, other = deployment.approve(theirs, Sovereign.CUT)
    _, approved = deployment.approve(run_id, Sovereign.CUT)
    revoked = deployment.order(run_id, schema.REVOKE, approval_sha256=approved.approval_sha256)
    assert revoked.accepted
    assert deployment.database.value(REVOKED) == 1
    copied = (
        "select to_jsonb(v) || jsonb_build_object('approval_sha256', repeat('a', 64), 'statement', v.statement ||"
        " jsonb_build_object('approval_sha256', %s::text)) from cutter_governance.approval_verdict v"
        " where v.decision = 'revoke'"
    )
    forged = deployment.database.value(copied, (other.approval_sha256,))
    store_verdict(deployment.database, run_id, Sovereign.CUT.value, "x.md", forged)
    with deployment.database.connect("cutter_read") as reader:
        row = reader.execute(
            "select cutter_governance.fn_revocation_record(%s, %s, %s, 'x.md')",
            (run_id, other.approval_sha256, "a" * 64),
        ).fetchone()
    assert row is not None
    assert row[0]["status"] == "revokes_nothing"


def counted(made: Deployment, run_id: str) -> list[list[str]]:
    """Whose approvals the open request counts, as the run is told and as people are shown."""
    view = open_request(made.deps[WorkerRole.CUTTER], RequestInput(run_id=run_id, gate=CUT))
    (entry,) = inbox.waiting(made.settings)
    return [sorted(view.accepted), entry.approvers_accepted]


def of_a_batch(made: Deployment, run_id: str, kb_id: str) -> list[tuple[bool, str]]:
    """Whether an approval from before the night still covers its gate, and why not: else the document asks people."""
    with made.database.connect("cutter_read") as reader:
        asked = {"run_id": run_id, "gate": CUT, "kb_ids": [kb_id]}
        return [(row[1], row[2]) for row in reader.execute(query("newest_verdicts_on"), asked).fetchall()]


def test_an_approval_that_was_taken_back_is_counted_no_more_and_the_other_one_still_is(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    ours, _ = deployment.approve(run_id, CUT)
    theirs, approved = deployment.approve(run_id, CUT, by=1)
    assert counted(deployment, run_id) == [["alice", "bob"]] * 2
    assert deployment.order(run_id, schema.REVOKE, by=1, approval_sha256=approved.approval_sha256).accepted
    assert counted(deployment, run_id) == [["alice"]] * 2
    assert of_a_batch(deployment, run_id, theirs) == [(False, "revoked")]
    assert of_a_batch(deployment, run_id, ours)[0][0]


def test_an_approval_under_the_epoch_before_is_counted_no_more(deployment: Deployment, tmp_path: Path) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    kb_id, _ = deployment.approve(run_id, CUT)
    assert deployment.judge(run_id, CUT, kb_id).accepted, "as often as it is sent"
    next_epoch(deployment, tmp_path / "approvers")
    assert counted(deployment, run_id) == [[], []]
    again = deployment.judge(run_id, CUT, kb_id)
    assert (again.accepted, again.code) == (False, "approval_of_other_epoch")
    assert of_a_batch(deployment, run_id, kb_id) == [(False, "approval_of_other_epoch")]
    deployment.approve(run_id, CUT, by=1)
    assert counted(deployment, run_id) == [["bob"]] * 2


@pytest.mark.parametrize(
    "changed",
    ["accepted = false", "decision = 'reject'", "challenge = 'x'", "gate = 'SG_lifecycle_authz'",
     "not_after = clock_timestamp()"],
)  # fmt: skip
def test_what_approves_no_open_request_is_not_counted(deployment: Deployment, changed: LiteralString) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    deployment.approve(run_id, CUT)
    deployment.database.run(
        "alter table cutter_governance.approval_verdict disable trigger user;"
        f" update cutter_governance.approval_verdict set {changed}"
    )
    assert counted(deployment, run_id) == [[], []]


def test_a_revocation_that_comes_too_late_says_so(deployment: Deployment) -> None:
    run = drive(deployment, law(2), until="IG_cut_leg_a_execute")
    used = deployment.database.value("select approval_sha256 from cutter_governance.approval_consumption")
    verdict = deployment.order(run.run_id, schema.REVOKE, approval_sha256=used)
    assert (verdict.accepted, verdict.code) == (False, "consumed_already")
    assert deployment.database.value(REVOKED) == 0
