"""The password of one worker's role is not enough for a fact that a later gate must satisfy and nobody can."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, LiteralString
from unittest import mock

import psycopg
import pytest
from psycopg.types.json import Jsonb

from activities import approval_judge
from activities.gates import closeout, runner
from activities.worker.dependencies import day_of, folder_of
from cutter.approvals import schema
from cutter.catalogue import GATES, Sovereign
from cutter.domain.run_record import RunRecord
from cutter.errors import Refused, Unavailable
from cutter.evidence import bundle, offline
from cutter.gates.closeout import index_id
from cutter.gates.report import GateReport
from cutter.storage import gate_transaction as tx
from starter.commands.evidence import exported
from tests.support.database import Database
from tests.support.documents import run_documents
from tests.support.gate_calls import (
    RECORD,
    another_accepted,
    attempt,
    meanwhile,
    one,
    open_gate,
    payload,
    stop_report,
    store_verdict,
)
from tests.support.runs import Deployment, drive, law, offer

CLOSEOUT_STOPPED = "stopped_error_closeout"
CUT, LIFECYCLE = Sovereign.CUT.value, Sovereign.LIFECYCLE.value
ENACT, CLOSEOUT = "IG_lifecycle_enact_execute", "IG_closeout"
APPROVED: LiteralString = (
    "select f.run_id from cutter_governance.run r, cutter_governance.fn_step_facts(r.run_id) f where f.approved"
)


def recorded(database: Database, given: tuple[Any, ...]) -> str:
    """The answer of fn_verdict_record to cutter_read."""
    return str(database.value(RECORD, given, role="cutter_read")["status"])


def broken_lines(made: Deployment, run_id: str) -> list[offline.Line]:
    """What an auditor with gpg finds wrong with a run's evidence."""
    data = exported(made.settings, run_id)[0].data
    return [line for line in offline.check(data, gpg=shutil.which("gpg")) if line[1] == offline.FAILED]


@pytest.fixture
def run_id(deployment: Deployment) -> str:
    """A run whose cut one person has approved."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    deployment.approve(run_id, CUT)
    return run_id


@pytest.mark.usefixtures("run_id")
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"approval_sha256": "e" * 64}, "other bytes than it names"),
        ({"decision": "zzz"}, "a decision that is none"),
        ({"decision": "reject"}, "a decision that is none"),
        ({"statement": {"evil": [1]}}, "a decision that is none"),
        ({"statement": None}, "a decision that is none"),
        ({"gate": LIFECYCLE}, "otherwise than the statement"),
        ({"approver": "bob"}, "otherwise than the statement"),
        ({"challenge": "x"}, "otherwise than the statement"),
        ({"writer_digest": "0" * 64}, "otherwise than the statement"),
        ({"not_after": "2099-01-01T00:00:00Z"}, "otherwise than the statement"),
        ({"fingerprint": "0" * 40}, "a signer who is not in an installed policy epoch"),
        ({"fingerprint": ""}, "a signer who is not in an installed policy epoch"),
        ({"policy_sha256": "0" * 64}, "a signer who is not in an installed policy epoch"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_no_verdict_accepts_what_its_bytes_do_not_say(
    deployment: Deployment, changed: dict[str, Any], words: str
) -> None:
    with pytest.raises(psycopg.Error, match=words) as refused:
        recorded(deployment.database, another_accepted(deployment.database, **changed))
    assert refused.value.sqlstate == "CU021"


@pytest.mark.usefixtures("run_id")
def test_no_verdict_accepts_a_field_that_was_not_signed(deployment: Deployment) -> None:
    *_, verdict, _, _ = given = another_accepted(deployment.database)
    verdict.obj["statement"]["nonce"] = "0" * 32
    with pytest.raises(psycopg.Error, match="a field that was not signed"):
        recorded(deployment.database, given)


@pytest.mark.usefixtures("run_id")
def test_no_verdict_accepts_the_person_who_started_the_run(deployment: Deployment) -> None:
    deployment.database.run("update cutter_governance.run set starter = 'alice'")
    with pytest.raises(psycopg.Error, match="a statement of the person who started the run"):
        recorded(deployment.database, another_accepted(deployment.database))


@pytest.mark.usefixtures("run_id")
@pytest.mark.parametrize("missing", [4, 5], ids=["no statement", "no signature"])
def test_no_verdict_accepts_a_statement_without_its_bytes(deployment: Deployment, missing: int) -> None:
    given = list(another_accepted(deployment.database))
    for value in (None, b"", b"x" * 70_000):
        given[missing] = value
        with pytest.raises(psycopg.Error, match="without the bytes of the statement and its signature"):
            recorded(deployment.database, tuple(given))


@pytest.mark.usefixtures("run_id")
def test_no_verdict_approves_another_run(deployment: Deployment) -> None:
    other = drive(deployment, law(2), until="IG_grant_probe").run_id
    given = (other, *another_accepted(deployment.database)[1:])
    with pytest.raises(psycopg.Error, match="otherwise than the statement"):
        recorded(deployment.database, given)


ENDED = "update cutter_governance.approval_request set status = 'expired'"
OTHER_CHALLENGE = "update cutter_governance.approval_request set challenge = 'x'"
STOPPED = "update cutter_governance.run set state = 'stopped_stop'"


@pytest.mark.usefixtures("run_id")
@pytest.mark.parametrize("changed", [ENDED, OTHER_CHALLENGE, STOPPED])
def test_an_approval_for_which_nothing_waits_is_not_accepted(deployment: Deployment, changed: LiteralString) -> None:
    given = another_accepted(deployment.database)
    deployment.database.run(changed)
    assert recorded(deployment.database, given) == "not_waiting"


def test_a_person_whose_approval_comes_too_late_is_told(
    deployment: Deployment, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request ends after the judge has read it and before the verdict is recorded."""
    judge = approval_judge.judge

    def late(*arguments: Any, **given: Any) -> Any:
        answer = judge(*arguments, **given)
        deployment.database.run(ENDED)
        return answer

    monkeypatch.setattr(approval_judge, "judge", late)
    _, verdict = deployment.approve(run_id, CUT, by=1)
    assert (verdict.accepted, verdict.code) == (False, "decision_not_allowed")


def test_a_request_has_its_signatures_by_one_count(deployment: Deployment, run_id: str) -> None:
    """What is counted as signed is what is listed as accepted, also after another request of the gate."""
    count = "select cutter_governance.fn_people_signed(q) from cutter_governance.approval_request q"
    listed = "select count(*) from cutter_governance.approval_request q, cutter_governance.fn_request_approvals(q)"
    assert (deployment.database.value(count), deployment.database.value(listed)) == (1, 1)
    assert deployment.database.value(APPROVED) == run_id
    deployment.database.run(
        "alter table cutter_governance.approval_verdict disable trigger user;"
        " update cutter_governance.approval_verdict set challenge = 'x'"
    )
    assert (deployment.database.value(count), deployment.database.value(listed)) == (0, 0)
    assert deployment.database.value(APPROVED) is None


def test_an_accepted_verdict_without_a_good_signature_does_not_keep_a_run_from_its_end(deployment: Deployment) -> None:
    """The reader records a second approval that nobody signed. Its evidence leaves the statement out."""
    run_id = drive(deployment, law(2), until="IG_write_verify").run_id
    approval, _ = deployment.approve(run_id, LIFECYCLE)
    _, _, _, *rest = another_accepted(deployment.database)
    assert recorded(deployment.database, (run_id, LIFECYCLE, approval, *rest)) == "recorded"
    assert deployment.gate(ENACT, run_id, [approval]).status == "passed"
    assert deployment.gate(CLOSEOUT, run_id).status == "passed"
    assert broken_lines(deployment, run_id) == []
    bundle = offline.Bundle(exported(deployment.settings, run_id)[0].data)
    assert [row["accepted"] for row in bundle.rows("verdicts")] == [True] * 3
    assert len(bundle.accepted) == 2
    # Thousands of others would cost the closeout nothing.
    kept = "select jsonb_array_length(cutter_governance.fn_run_evidence(%s) -> 'signed')"
    assert deployment.database.value(kept, (run_id,)) == 2


def test_a_resume_without_a_good_signature_waits_for_a_signed_one(deployment: Deployment) -> None:
    """After the enactment only the closeout can see that nobody signed the resume."""
    run_id = drive(deployment, law(2), until=ENACT).run_id
    stop(deployment, run_id, "stopped_hard_cap")
    deployment.order(run_id, schema.RESUME, stopped_state="stopped_hard_cap")
    forged = another_accepted(deployment.database)
    assert recorded(deployment.database, forged) == "recorded"
    resume(deployment, run_id, forged[3].obj["approval_sha256"])
    with pytest.raises(Refused, match="if the run may close nevertheless"):
        deployment.gate(CLOSEOUT, run_id)
    stop(deployment, run_id, "stopped_error_closeout")
    signed = deployment.order(run_id, schema.RESUME, stopped_state="stopped_error_closeout")
    resume(deployment, run_id, signed.approval_sha256)
    assert deployment.gate(CLOSEOUT, run_id).status == "passed"
    assert broken_lines(deployment, run_id) == []


def stop(made: Deployment, run_id: str, state: str) -> None:
    made.database.value("select cutter_governance.fn_run_stop(%s, %s, 'x')", (run_id, state), role="cutter_read")


def resume(made: Deployment, run_id: str, sha256: str) -> None:
    answer = made.database.value("select cutter_governance.fn_run_resume(%s, %s)", (run_id, sha256), role="cutter_read")
    assert answer["status"] == "resumed", answer


@pytest.mark.parametrize("what", ["statement", "signature"])
@pytest.mark.parametrize("how", ["changed", "removed", "another's"])
def test_what_becomes_of_a_signed_file_after_it_was_judged_does_not_matter(
    deployment: Deployment, what: str, how: str
) -> None:
    run_id = drive(deployment, law(2), until="IG_write_verify").run_id
    approval, _ = deployment.approve(run_id, LIFECYCLE)
    file = deployment.settings.state / "kb" / (approval if what == "statement" else f"{approval}.asc")
    other = next(path for path in file.parent.glob("SG1*approval*") if path.suffix == file.suffix)
    file.unlink()
    if how != "removed":
        file.write_bytes(b"garbage" if how == "changed" else other.read_bytes())
    assert deployment.gate(ENACT, run_id, [approval]).status == "passed"
    assert deployment.gate(CLOSEOUT, run_id).status == "passed"
    assert broken_lines(deployment, run_id) == []


def test_a_genuine_statement_with_another_signature_costs_a_second_approval_only(deployment: Deployment) -> None:
    """The reader records the statement first, with a signature that is none. The gate refuses, and asks again."""
    run_id = drive(deployment, law(2), until="IG_write_verify").run_id
    approval, verdict = deployment.approve(run_id, LIFECYCLE)
    deployment.database.run(
        "alter table cutter_governance.signed_statement disable trigger user;"
        " update cutter_governance.signed_statement set signature = 'garbage' where verdict_id = ("
        " select max(id) from cutter_governance.approval_verdict);"
        " alter table cutter_governance.signed_statement enable always trigger trg_signed_statement_append_only"
    )
    assert verdict.accepted
    assert deployment.gate(ENACT, run_id, [approval]).status == "approval_refused"
    assert deployment.database.value(APPROVED) is None
    listed = (
        "select count(*) from cutter_governance.approval_request q, cutter_governance.fn_request_approvals(q)"
        " where q.gate = 'SG_lifecycle_authz'"
    )
    assert deployment.database.value(listed) == 0
    again, verdict = deployment.approve(run_id, LIFECYCLE, by=1)
    assert verdict.accepted
    assert deployment.gate(ENACT, run_id, [again]).status == "passed"


def names(deployment: Deployment, run_id: str) -> list[str]:
    """The names of the documents that a run has not written yet, of its line in the index, and of a stop's report."""
    run = RunRecord.of(deployment.run_row(run_id))
    digest = deployment.database.value("select sha256 from public.source_snapshot")
    folder, day = folder_of(run, digest), day_of(run).date()
    written = deployment.database.value("select array_agg(kb_id) from cutter_governance.outbox")
    return [
        *(name for name in run_documents(folder, GATES, day) if name not in written),
        index_id(run_id),
    ]


def test_no_role_takes_the_name_of_a_document_that_another_function_writes(deployment: Deployment, run_id: str) -> None:
    other = drive(deployment, law(2), until="IG_source_pin").run_id
    batch = "select cutter_governance.fn_batch_document('b', 'batch_report', 'x', %s, 'x')"
    route = "select cutter_governance.fn_stop_route_record(%s, %s, 'x')"
    for name in names(deployment, run_id):
        for call, given in ((route, (run_id, name)), (route, (other, name)), (batch, (name,))):
            with pytest.raises(psycopg.Error, match="is the name of another document"):
                deployment.database.value(call, given, role="cutter_read")


def test_no_role_records_a_document_without_a_text(deployment: Deployment, run_id: str) -> None:
    """Nobody could render it, so no later document of the run would be put."""
    route = "select cutter_governance.fn_stop_route_record(%s, %s, null)"
    batch = "select cutter_governance.fn_batch_document('b', 'batch_report', 'x', 'a/b/x.md', null)"
    for call, given in ((route, (run_id, stop_report(run_id))), (batch, ())):
        with pytest.raises(psycopg.Error, match="has no text") as refused:
            deployment.database.value(call, given, role="cutter_read")
        assert refused.value.sqlstate == "CU021"


def test_no_request_takes_the_name_of_the_other_gates_request(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    first = next(name for name in names(deployment, run_id) if "/SG1-" in name and "request" in name)
    opening = "select cutter_governance.fn_request_open(%s, %s, 600, gen_random_uuid())"
    answer = deployment.database.value(opening, (run_id, CUT), role="cutter_read")
    assert answer["status"] == "opened", answer
    document = "select cutter_governance.fn_request_document(%s, %s, 'x', 'low')"
    for name, refused in ((first.replace("/SG1-", "/SG2-"), True), (first, False)):
        given = (answer["request"]["request_id"], name)
        with pytest.raises(psycopg.Error, match="is the name of another") if refused else nullcontext():
            deployment.database.value(document, given, role="cutter_read")


def test_no_gate_seals_a_report_under_the_name_of_another(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = drive(deployment, law(2), until="IG_leg_b_record").run_id
    another = next(name for name in names(deployment, run_id) if "/11-" in name)
    monkeypatch.setattr(runner, "report_id", lambda *_: another)
    outcome = deployment.gate("IG_write_verify", run_id)
    assert (outcome.status, outcome.code) == ("failed", "malformed")
    assert "is the name of another document than the gate_report" in outcome.reason


def test_receipts_of_other_bytes_under_the_names_of_a_run_keep_it_from_nothing(deployment: Deployment) -> None:
    """The reader records receipts first. Each document gets a name with its digest."""
    run_id = drive(deployment, law(2), until="IG_write_verify").run_id
    record = (
        "select cutter_governance.fn_action_record(%s, 'x', 'kb', 'put', %s, repeat('a', 64), '{}', '{}', false, 'x')"
    )
    taken = names(deployment, run_id)
    for name in taken:
        deployment.database.value(record, (run_id, name), role="cutter_read")
    with pytest.raises(psycopg.Error, match="names other bytes"):
        deployment.database.value(record, (run_id, f"a-other{'0' * 12}.md"), role="cutter_read")
    drive(deployment, run_id=run_id, document_id=deployment.run_row(run_id)["document_id"])
    assert deployment.run_row(run_id)["state"] == "closeout_reported"
    assert broken_lines(deployment, run_id) == []
    put = deployment.database.value("select array_agg(kb_id) from cutter_governance.outbox where done_at is not null")
    assert not set(taken) & set(put)


def test_no_later_resume_pardons_one_that_nobody_signed_unless_it_says_so(deployment: Deployment) -> None:
    """A resume from a stop for another reason accepts nothing that was done before."""
    run_id = drive(deployment, law(2), until=ENACT).run_id
    stop(deployment, run_id, "stopped_hard_cap")
    deployment.order(run_id, schema.RESUME, stopped_state="stopped_hard_cap")
    forged = another_accepted(deployment.database)
    assert recorded(deployment.database, forged) == "recorded"
    resume(deployment, run_id, forged[3].obj["approval_sha256"])
    stop(deployment, run_id, "stopped_error_mark")
    signed = deployment.order(run_id, schema.RESUME, stopped_state="stopped_error_mark")
    resume(deployment, run_id, signed.approval_sha256)
    with pytest.raises(Refused, match="the evidence does not hold"):
        deployment.gate(CLOSEOUT, run_id)


def test_a_resume_pardons_nothing_that_came_after_it(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until=ENACT).run_id
    stop(deployment, run_id, CLOSEOUT_STOPPED)
    signed = deployment.order(run_id, schema.RESUME, stopped_state=CLOSEOUT_STOPPED)
    resume(deployment, run_id, signed.approval_sha256)
    stop(deployment, run_id, CLOSEOUT_STOPPED)
    forged = another_accepted(deployment.database)
    assert recorded(deployment.database, forged) == "recorded"
    resume(deployment, run_id, forged[3].obj["approval_sha256"])
    refused_closeout(deployment, run_id)


def test_no_bundle_holds_another_signature_than_the_judged_one(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until=CLOSEOUT).run_id
    members = offline.Bundle(exported(deployment.settings, run_id)[0].data).members
    del members["manifest.json"]
    name = next(name for name in members if name.startswith("signed/") and name.endswith(".asc"))
    lines = offline.check(offline.sealed({**members, name: members[name] + b"\n"}))
    assert any(verdict == offline.FAILED and "than the judged signature" in why for _, verdict, why in lines)


def test_a_statement_that_is_kept_with_another_signature_does_not_open_a_gate_by_its_file(
    deployment: Deployment,
) -> None:
    """The reader records the genuine bytes under another name first, with a signature that is none."""
    run_id = drive(deployment, law(2), until="IG_write_verify").run_id
    approval, verdict = deployment.approve(run_id, LIFECYCLE)
    deployment.database.run(
        "alter table cutter_governance.signed_statement disable trigger user;"
        " alter table cutter_governance.approval_verdict disable trigger user;"
        " update cutter_governance.signed_statement set signature = 'garbage' where verdict_id = ("
        " select max(id) from cutter_governance.approval_verdict);"
        " update cutter_governance.approval_verdict set kb_id = 'another.md' where id = ("
        " select max(id) from cutter_governance.approval_verdict)"
    )
    assert verdict.accepted
    assert deployment.gate(ENACT, run_id, [approval]).status == "approval_refused"


def test_a_name_with_a_digest_is_its_documents_although_a_receipt_claims_it(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    record = "select cutter_governance.fn_action_record(%s, 'x', 'kb', 'put', %s, %s, '{}', '{}', false, 'x')"
    name = f"a-other{'a' * 12}.md"
    deployment.database.value(record, (run_id, name, "a" * 12 + "0" * 52), role="cutter_read")
    deployment.database.value(record, (run_id, name, "a" * 12 + "1" * 52), role="cutter_read")
    kept = "select array_agg(payload_sha256) from cutter_governance.action_receipt where target = %s"
    assert deployment.database.value(kept, (name,)) == ["a" * 12 + "0" * 52]


def test_no_gate_is_opened_by_a_policy_whose_text_nobody_has(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_cut_leg_a_execute").run_id
    connection = deployment.database.connect("cutter_read")
    policy = {"sha256": "a" * 64, "decisions": []}
    answer = open_gate(connection, "IG_structural_verify", run_id, policy=policy)
    assert answer["code"] == "policy_without_text"


def test_no_gate_is_sealed_without_the_name_of_its_report(deployment: Deployment) -> None:
    """The closeout asks for the report of each gate, and nobody could give it afterwards."""
    run_id = drive(deployment, law(2), until="IG_cut_leg_a_execute").run_id
    connection = deployment.database.connect("cutter_read")
    number = open_gate(connection, "IG_structural_verify", run_id)["attempt"]
    close = "select cutter_governance.fn_gate_close(%s, 'IG_structural_verify', %s, %s)"
    assert one(connection, close, (run_id, number, Jsonb({"pins": {}})))["code"] == "report_not_named"


def test_no_role_stops_a_run_for_no_reason_that_a_person_can_lift(deployment: Deployment, run_id: str) -> None:
    """The run's state would name no stop, so no statement could be about it."""
    with pytest.raises(psycopg.Error, match="has no kind"):
        deployment.database.value(
            "select cutter_governance.fn_stop_set(%s, null, 'x', 'x')", (run_id,), role="cutter_read"
        )


SPOILT = {"base_run_id": "x"}
"""A pin that no gate gives of a first cut. The evidence then does not hold, and nobody can mend it."""


def spoilt(made: Deployment) -> str:
    """An enacted run whose IG_write_verify was sealed with the pin, as the password of cutter_verify allows."""
    run_id = drive(made, law(2), until="IG_leg_b_record").run_id
    seal = tx.seal

    def with_pin(opened: tx.OpenGate, report: GateReport, **given: Any) -> Any:
        return seal(opened, replace(report, pins={**report.pins, **SPOILT}), **given)

    with mock.patch.object(tx, "seal", with_pin):
        assert made.gate("IG_write_verify", run_id).status == "passed"
    approval, _ = made.approve(run_id, LIFECYCLE)
    assert made.gate(ENACT, run_id, [approval]).status == "passed"
    return run_id


def refused_closeout(made: Deployment, run_id: str) -> str:
    with pytest.raises(Refused, match="the evidence does not hold") as refused:
        made.gate(CLOSEOUT, run_id)
    return str(refused.value)


def test_a_resume_accepts_only_the_failure_that_its_signer_was_shown(deployment: Deployment) -> None:
    run_id = spoilt(deployment)
    report = next((deployment.settings.state / "kb").rglob("01-source-pin-*.md"))
    away = report.rename(report.with_suffix(".away"))
    with pytest.raises(Unavailable):
        deployment.gate(CLOSEOUT, run_id)
    away.rename(report)
    stop(deployment, run_id, CLOSEOUT_STOPPED)
    signed = deployment.order(run_id, schema.RESUME, stopped_state=CLOSEOUT_STOPPED)
    resume(deployment, run_id, signed.approval_sha256)
    refused_closeout(deployment, run_id)


def test_an_approver_may_close_a_run_whose_evidence_cannot_be_mended(deployment: Deployment) -> None:
    """Enacted law is never voided, so without this way the run would never end."""
    run_id = spoilt(deployment)
    reason = refused_closeout(deployment, run_id)
    stop(deployment, run_id, CLOSEOUT_STOPPED)
    signed = deployment.order(run_id, schema.RESUME, stopped_state=CLOSEOUT_STOPPED)
    resume(deployment, run_id, signed.approval_sha256)
    assert deployment.gate(CLOSEOUT, run_id).status == "passed"
    notes = deployment.database.value(
        "select result -> 'notes' from cutter_governance.gate_receipt where gate = 'IG_closeout'"
    )
    failed = broken_lines(deployment, run_id)[0]
    assert f"{failed[0]}: {failed[2]}"[:60] in reason
    assert "alice signed that the run closes nevertheless" in notes[0]
    assert f"{failed[0]}: {failed[2]}" in notes


def test_a_gpg_without_an_answer_is_an_outage_and_no_failure(deployment: Deployment) -> None:
    """Otherwise a person would have to sign for evidence that is sound."""
    run_id = drive(deployment, law(2), until=ENACT).run_id
    stop(deployment, run_id, CLOSEOUT_STOPPED)
    signed = deployment.order(run_id, schema.RESUME, stopped_state=CLOSEOUT_STOPPED)
    resume(deployment, run_id, signed.approval_sha256)
    for module, why in ((bundle, "gpg did not check a signature"), (closeout, "gpg gave no answer")):
        with (
            mock.patch.object(module, "find_binary", return_value="/nowhere/gpg"),
            pytest.raises(Unavailable, match=why),
        ):
            deployment.gate(CLOSEOUT, run_id)
    assert deployment.gate(CLOSEOUT, run_id).status == "passed"


REVOKE = "select cutter_governance.fn_revocation_record(%s, %s, repeat('e', 64), 'r.md')"


def revoking(made: Deployment, run_id: str) -> tuple[str, str]:
    """Another run's id, in which an accepted statement takes the run's approval back, and the approval's sha256."""
    row = made.database.value(
        "select to_jsonb(v) from cutter_governance.approval_verdict v where run_id = %s", (run_id,)
    )
    other = drive(made, law(2), until="IG_source_pin").run_id
    back = {"approval_sha256": row["approval_sha256"]}
    store_verdict(made.database, other, CUT, "x.md", {**row, "accepted": False})
    store_verdict(
        made.database, other, CUT, "r.md",
        {**row, "decision": "revoke", "approval_sha256": "e" * 64, "statement": back},
    )  # fmt: skip
    return other, row["approval_sha256"]


def test_an_approval_that_was_refused_here_is_not_taken_back_from_its_own_run(
    deployment: Deployment, run_id: str
) -> None:
    answer = deployment.database.value(REVOKE, revoking(deployment, run_id), role="cutter_read")
    assert answer["status"] == "revokes_nothing"


def test_who_takes_an_approval_back_waits_for_the_gate_that_consumes_it(deployment: Deployment) -> None:
    """Whichever run the taking back is about."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    offered = offer(deployment, deployment.approve(run_id, CUT)[1])
    back = revoking(deployment, run_id)
    holder, reader = deployment.database.connect("cutter_exec"), deployment.database.connect("cutter_read")
    assert open_gate(holder, "IG_cut_leg_a_execute", run_id, approvals=[offered])["status"] == "opened"
    with meanwhile(reader, lambda: one(reader, REVOKE, back)) as answer:
        assert not answer.done()
        holder.rollback()


def test_a_gate_opens_after_whoever_holds_its_run_is_done(deployment: Deployment) -> None:
    """What is recorded before the opening is in its evidence, so the moment of the opening comes after the waiting."""
    run_id = drive(deployment, law(2), until="IG_cut_leg_a_execute").run_id
    holder, connection = deployment.database.connect("postgres"), deployment.database.connect("cutter_read")
    number = attempt(connection, "IG_structural_verify", run_id)
    digest = payload(connection, "IG_structural_verify", run_id)
    holder.execute("select from cutter_governance.run where run_id = %s for update", (run_id,))
    with meanwhile(connection, lambda: open_gate(
        connection, "IG_structural_verify", run_id, number=number, payload_sha256=digest
    )) as opening:  # fmt: skip
        released = one(holder, "select clock_timestamp()")
        holder.commit()
        assert opening.result(30)["status"] == "opened"
    opened_at = one(
        connection, "select opened_at from cutter_governance.gate_receipt where gate = 'IG_structural_verify'"
    )
    assert opened_at > released
