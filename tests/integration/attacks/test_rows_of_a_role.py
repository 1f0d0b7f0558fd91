"""A role whose password was stolen writes rows about a run: the run reaches its end all the same."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from activities.gates.backup import refresh_backup
from cutter.approvals import schema
from cutter.catalogue import Sovereign, WorkerRole
from cutter.errors import Unavailable
from cutter.evidence import offline
from cutter.messages import GateInput
from starter.commands import evidence
from starter.commands.status import view_of
from tests.support.hostile_rows import unchecked
from tests.support.runs import Deployment, drive, law

CLOSEOUT, LEG_A = "IG_closeout", "IG_cut_leg_a_execute"
MALFORMED = ({"policy": {"decisions": [{"a": 1}]}}, {"policy": {"decisions": 5}}, 5, {"invariants": [5], "pins": 5})
BACKUP = (
    "select cutter_governance.fn_action_record(%s, 'IG_backup', 'backup', 'take', %s, repeat('b', 64), '{}',"
    " jsonb_build_object('sha256', repeat('c', 64), 'taken_utc', clock_timestamp()), true, 'x')"
)


def poison(made: Deployment, value: Any) -> None:
    """The value as every attempt's report and every action's policy, as before there were checks."""
    with unchecked(made.database), psycopg.connect(made.database.url("postgres"), autocommit=True) as owner:
        owner.execute("update cutter_governance.gate_attempt set report = %s::jsonb", (json.dumps(value),))
        owner.execute(
            "update cutter_governance.action_receipt set request_metadata = jsonb_build_object('policy', %s::jsonb)",
            (json.dumps(value),),
        )


@pytest.mark.parametrize("value", MALFORMED, ids=range(len(MALFORMED)))
def test_a_run_with_malformed_rows_is_closed_shown_and_exported(deployment: Deployment, value: Any) -> None:
    run_id = drive(deployment, law(2), until="IG_lifecycle_enact_execute").run_id
    poison(deployment, value)
    assert deployment.gate(CLOSEOUT, run_id).status == "passed"
    assert view_of(deployment.settings, run_id).state == "closeout_reported"
    made, sealed, _ = evidence.exported(deployment.settings, run_id)
    assert sealed
    checked = evidence.checks(made.data, head=made.head, sha256=made.sha256)
    assert [line for line in checked if line[1] == offline.FAILED] == []


def test_a_run_that_a_malformed_row_has_stopped_at_its_closeout_goes_on_after_a_signed_resume(
    deployment: Deployment,
) -> None:
    run_id = drive(deployment, law(2), until="IG_lifecycle_enact_execute").run_id
    poison(deployment, MALFORMED[0])
    stop = "select cutter_governance.fn_run_stop(%s, 'stopped_error_closeout', 'Unexpected:KeyError in IG_closeout')"
    deployment.database.value(stop, (run_id,), role="cutter_read")
    assert view_of(deployment.settings, run_id).next.startswith("cutter approve ICX-T")
    order = deployment.order(run_id, schema.RESUME, stopped_state="stopped_error_closeout")
    assert order.accepted, order
    resume = "select cutter_governance.fn_run_resume(%s, %s)"
    answer = deployment.database.value(resume, (run_id, order.approval_sha256), role="cutter_read")
    assert answer["status"] == "resumed"
    assert deployment.gate(CLOSEOUT, run_id).status == "passed"


def test_a_role_s_wrong_word_about_its_own_report_keeps_no_run_from_its_end(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_lifecycle_enact_execute").run_id
    wrong = "update cutter_governance.outbox set sha256 = repeat('0', 64) where subject = 'IG_write_verify'"
    deployment.database.run(wrong)
    assert deployment.gate(CLOSEOUT, run_id).status == "passed"


def test_a_report_that_is_neither_as_recorded_nor_as_its_receipt_says_is_altered(deployment: Deployment) -> None:
    driven = drive(deployment, law(2), until="IG_lifecycle_enact_execute")
    kb_id = driven.outcomes["IG_write_verify"].kb_doc_id
    with (deployment.settings.state / "kb" / kb_id).open("ab") as document:
        document.write(b"x")
    with pytest.raises(Unavailable, match="altered"):
        deployment.gate(CLOSEOUT, driven.run_id)


def test_an_invented_backup_record_hides_no_real_one(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    kb_id, _ = deployment.approve(run_id, Sovereign.CUT)
    for name in ("pre_write-invented.gpg", "../outside", "x" * 1_000):
        deployment.database.value(BACKUP, (run_id, f"{run_id}/{name}"), role="cutter_backup")
    assert deployment.gate(LEG_A, run_id, (kb_id,)).status == "passed"


def test_a_new_backup_is_made_where_only_an_invented_one_is_left(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    kb_id, _ = deployment.approve(run_id, Sovereign.CUT)
    for artifact in (deployment.settings.runs / run_id).glob("pre_write*"):
        artifact.unlink()
    deployment.database.value(BACKUP, (run_id, f"{run_id}/pre_write-invented.gpg"), role="cutter_backup")
    stale = deployment.gate(LEG_A, run_id, (kb_id,))
    assert (stale.status, stale.code) == ("backup_stale", "backup_unusable")
    fresh = refresh_backup(deployment.deps[WorkerRole.CUTTER], GateInput(run_id=run_id))
    assert fresh.status == "passed"
    assert refresh_backup(deployment.deps[WorkerRole.CUTTER], GateInput(run_id=run_id)).facts == fresh.facts
    assert deployment.gate(LEG_A, run_id, (kb_id,)).status == "passed"


def test_a_backup_s_name_that_is_on_record_already_is_left_alone(deployment: Deployment) -> None:
    driven = drive(deployment, law(2), until="IG_cutplan")
    for name in ("pre_write.gpg", "pre_write-1.gpg"):
        deployment.database.value(BACKUP, (driven.run_id, f"{driven.run_id}/{name}"), role="cutter_backup")
    outcome = deployment.gate("IG_backup", driven.run_id)
    assert outcome.status == "passed", outcome
