"""Leg A's looks at the backup before it writes, and at what it committed, when somebody comes in between."""

from __future__ import annotations

import pytest

from activities.gates import recorded_backups
from activities.run.course import void_run
from cutter.approvals import schema
from cutter.backup.restore import digest
from cutter.catalogue import Sovereign, WorkerRole
from cutter.domain.digests import sha256_hex
from cutter.errors import CutterError, Unavailable
from cutter.messages import VoidInput
from tests.integration.storage.conftest import LEG_A
from tests.support.gate_calls import stop_report
from tests.support.runs import Deployment, drive, law, open_gates


def committed(deployment: Deployment) -> tuple[str, str]:
    """A run that is about to write, with its approval: (run id, KB id)."""
    driven = drive(deployment, law(3), until="IG_grant_probe")
    kb_id, verdict = deployment.approve(driven.run_id, Sovereign.CUT)
    assert verdict.accepted, verdict
    return driven.run_id, kb_id


def test_the_backup_is_read_back_before_the_transaction_and_one_that_was_altered_refuses_the_write(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large one would outlast the transaction's idle timeout."""
    run_id, approval = committed(deployment)
    reads: list[tuple[str, int]] = []

    def watched(artifacts_url: str, artifact_id: str) -> tuple[str, int]:
        reads.append((artifact_id, open_gates(deployment)))
        return digest(artifacts_url, artifact_id)

    monkeypatch.setattr(recorded_backups, "digest", watched)
    artifact = deployment.database.value(
        "select target from cutter_governance.action_receipt where run_id = %s and connector = 'backup'", (run_id,)
    )
    with (deployment.settings.runs / artifact).open("ab") as backup:
        backup.write(b"x")
    outcome = deployment.gate(LEG_A, run_id, (approval,))
    assert (outcome.status, outcome.code) == ("failed", "backup_altered")
    assert reads == [(artifact, 0)]


def test_a_backup_that_was_recorded_after_the_read_back_covers_no_write_yet(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, approval = committed(deployment)

    def overtaken(artifacts_url: str, artifact_id: str) -> tuple[str, int]:
        monkeypatch.setattr(recorded_backups, "digest", digest)
        read = digest(artifacts_url, artifact_id)
        other = deployment.settings.runs / f"{artifact_id}-other"
        other.write_bytes(b"another backup")
        deployment.database.run(
            "select cutter_governance.fn_action_record(%s, 'IG_backup', 'backup', 'take', %s, %s, '{}',"
            " jsonb_build_object('taken_utc', clock_timestamp(), 'sha256', %s::text), true, 'delete')",
            (run_id, f"{artifact_id}-other", sha256_hex("other"), sha256_hex(other.read_bytes())), role="cutter_backup",
        )  # fmt: skip
        return read

    monkeypatch.setattr(recorded_backups, "digest", overtaken)
    with pytest.raises(Unavailable, match="recorded a moment ago") as refusal:
        deployment.gate(LEG_A, run_id, (approval,))
    assert refusal.value.what == "backup"
    assert deployment.gate(LEG_A, run_id, (approval,)).status == "passed"


def test_a_void_right_after_the_commit_ends_the_run_and_fails_nothing(deployment: Deployment) -> None:
    run_id, approval = committed(deployment)
    deps = deployment.deps[WorkerRole.EXEC]

    def void(_gate: str) -> None:
        order = deployment.order(run_id, schema.VOID)
        assert void_run(deps, VoidInput(run_id=run_id, kb_id=order.kb_id)).code == "voided"

    deps.after_commit.append(void)
    try:
        outcome = deployment.gate(LEG_A, run_id, (approval,))
    finally:
        deps.after_commit.remove(void)
    state = deployment.run_row(run_id)["state"]
    assert state.startswith("voided_as_agreed")
    assert (outcome.status, outcome.code, outcome.state) == ("ended", "voided_meanwhile", state)
    again = deployment.gate(LEG_A, run_id, (approval,))
    assert (again.status, again.code, again.state) == ("ended", "voided_meanwhile", state), (
        "a later try is told the same"
    )


def test_a_void_stands_though_a_document_of_its_run_cannot_be_put(deployment: Deployment) -> None:
    run_id, _ = committed(deployment)
    order = deployment.order(run_id, schema.VOID)
    name = stop_report(run_id)
    stranger = deployment.settings.state / "kb" / name
    stranger.parent.mkdir(parents=True)
    stranger.write_bytes(b"a stranger was here first")
    deployment.database.run(
        "select cutter_governance.fn_stop_route_record(%s, %s, 'a report')", (run_id, name), role="cutter_read"
    )
    done = void_run(deployment.deps[WorkerRole.EXEC], VoidInput(run_id=run_id, kb_id=order.kb_id))
    assert (done.code, done.state) == ("voided", deployment.run_row(run_id)["state"])


def test_a_look_that_the_database_does_not_answer_is_an_error_of_ours(deployment: Deployment) -> None:
    run_id, approval = committed(deployment)
    deps = deployment.deps[WorkerRole.EXEC]
    function = "execute on function cutter_governance.fn_stored_digest(text)"

    def away(_gate: str) -> None:
        deployment.database.run(f"revoke {function} from cutter_exec")  # type: ignore[arg-type]

    deps.after_commit.append(away)
    try:
        with pytest.raises(CutterError):
            deployment.gate(LEG_A, run_id, (approval,))
    finally:
        deps.after_commit.remove(away)
        deployment.database.run(f"grant {function} to cutter_exec")  # type: ignore[arg-type]
    assert deployment.gate(LEG_A, run_id, (approval,)).status == "passed", "what was committed is found"
