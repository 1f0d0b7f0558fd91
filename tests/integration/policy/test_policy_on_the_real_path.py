"""The policy on the real path: activities, database, gpg and stores; a denial writes nothing and ends the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from activities import effects, permission
from activities.backup_effects import RECORDED, receipt_of
from activities.gates import closeout as closeout_gate
from activities.gates.backup import refresh_backup
from activities.run import approval_requests
from activities.run.approval_requests import open_request, resume_run
from activities.run.course import void_run
from cutter.approvals import schema
from cutter.approvals.request import RequestDocument, parse_request
from cutter.catalogue import BY_NAME, GATES, Role, Sovereign, WorkerRole
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.errors import Conflict, PolicyDenied
from cutter.gates import closeout, cutplan
from cutter.gates.report import GateReport
from cutter.kb.store import Store
from cutter.messages import GateInput, GateOutcome, RequestInput, ResumeInput, VoidInput
from cutter.policy.command import BY_KEY, Connector
from cutter.projections.run_folder import read_state
from cutter.storage.pools import single
from cutter.types import Json
from tests.support.policies import never_installed, policy_of, put_in_force, put_unread
from tests.support.runs import Deployment, drive, in_force, law
from tests.unit.backup.test_backup_values import RECORD

LEG_A, LEG_B, VERIFY, ENACT = (gate.name for gate in GATES if gate.role in (Role.EXEC, Role.VERIFY))
CUT, LIFECYCLE = Sovereign.CUT.value, Sovereign.LIFECYCLE.value

CONNECTOR_OF = {name: connector.value for connector, name in BY_KEY}


def state_of(made: Deployment, run_id: str) -> str:
    return str(made.run_row(run_id)["state"])


def written(made: Deployment) -> Json:
    """Everything that a run can have written, counted."""
    tables = ("public.information_unit", "cutter_governance.cut_change_set", "cutter_governance.verify_result",
              "cutter_governance.approval_consumption", "cutter_governance.action_receipt",
              "cutter_governance.gate_receipt", "public.iu_lifecycle_log")  # fmt: skip
    counted = {name: made.database.value(f"select count(*) from {name}") for name in tables}  # type: ignore[arg-type]
    return {**counted, "enacted": made.database.value(
        "select count(*) from public.information_unit where lifecycle_status = 'enacted'"
    ), "files": sorted(str(path) for path in Path(made.settings.runs).rglob("*.gpg"))}  # fmt: skip


def grown_stale(made: Deployment, run_id: str) -> None:
    made.database.run(
        "update cutter_governance.run set caps = caps || '{\"backup_max_age_seconds\": 0.001}' where run_id = %s",
        (run_id,),
    )


def denied(outcome: GateOutcome, why: str) -> bool:
    return (outcome.status, outcome.code, outcome.state) == ("failed", "policy_denied", "failed_policy") and (
        why in outcome.reason
    )


@pytest.mark.parametrize(
    ("gate", "operation"),
    [(LEG_A, "create_units"), (LEG_B, "record_cut"), (VERIFY, "record_verification"), (ENACT, "enact_units"),
     ("IG_backup", "take")],
)  # fmt: skip
def test_a_denied_write_writes_nothing_and_ends_the_run_with_the_rule_and_its_line(
    deployment: Deployment, gate: str, operation: str
) -> None:
    """Seeds 002 "Execution Command Boundary", 003 §5."""
    step = BY_NAME[gate]
    run_id = drive(deployment, law(2), until=GATES[step.number - 2].name).run_id
    approvals = (deployment.approve(run_id, step.sovereign)[0],) if step.sovereign else ()
    before = written(deployment)
    in_force(
        deployment.settings, "mode: dryrun, verdict: allow", f"operation: {operation}, document: ICX-*, verdict: deny"
    )
    outcome = deployment.gate(gate, run_id, approvals)
    assert denied(outcome, f"policy.yaml line 4: rule r1 says deny to {CONNECTOR_OF[operation]} {operation} at {gate}")
    assert written(deployment) == before
    run = deployment.run_row(run_id)
    assert (run["state"], run["last_error"]["gate"]) == ("failed_policy", gate)
    kept = run["last_error"]["report"]["policy"]
    assert kept["sha256"] == policy_of(deployment.settings).sha256
    assert ("r1", 4, "deny") in {
        (decision["rule"], decision["line"], decision["verdict"]) for decision in kept["decisions"]
    }
    assert deployment.gate(gate, run_id, approvals).status == "ended"


def _missing(deployment: Deployment) -> None:
    never_installed(deployment.database)


def _unread(body: str) -> Callable[[Deployment], None]:
    return lambda deployment: put_unread(deployment.settings, body)


@pytest.mark.parametrize(
    ("breaks", "why"),
    [
        (_missing, "policy.yaml: none is installed"),
        (_unread("rules: ["), "policy.yaml line 2: "),
        (_unread("schema: cutter-policy/1\nrules: []\n"),
         "no rule matches kb put at IG_source_pin"),
        (_unread("schema: cutter-policy/1\nrules:\n  - {name: a, verdict: alow}\n"),
         "policy.yaml line 3: rule a: verdict must be"),
        (_unread(
            "schema: cutter-policy/1\nrules:\n  - {name: a, connector: database, verdict: needs_approval(urgent)}\n"),
         "policy.yaml line 3: rule a: there is no such tier"),
        (_unread(
            "schema: cutter-policy/1\nrules:\n  - {name: a, mode: dryrun, verdict: allow}\n"
            "  - {name: b, candidates: ..10, verdict: allow}\n"),
         "policy.yaml line 4: rule b asks how many candidates there are, which is not known"),
    ],
    ids=["missing", "no yaml", "no rule", "broken", "unknown tier", "evaluation error"],
)  # fmt: skip
def test_a_policy_that_does_not_answer_denies(deployment: Deployment, breaks: Any, why: str) -> None:
    """Seed 003 §5."""
    run_id = deployment.begin(deployment.register(law(2)))
    before = written(deployment)
    breaks(deployment)
    assert denied(deployment.gate("IG_source_pin", run_id), why)
    assert (written(deployment), state_of(deployment, run_id)) == (before, "failed_policy")


def test_reads_are_no_commands_and_ask_for_no_leave(deployment: Deployment) -> None:
    """Seed 002 "Execution Command Boundary"."""
    run_id = drive(deployment, law(2), until="IG_source_pin").run_id
    deps, context = deployment.deps[WorkerRole.CUTTER], here(deployment)
    kb_id, recorded = deployment.database.value(
        "select json_build_array(target, payload_sha256) from cutter_governance.action_receipt where connector = 'kb'"
    )
    _missing(deployment)
    with pytest.raises(PolicyDenied):
        effects.put(deps, context, "a/b.md", b"one")
    assert sha256_hex(deps.kb.get(kb_id)) == recorded
    with single(deps.pool(Role.READ)) as connection:
        (sidecar,) = connection.execute("select cutter_governance.fn_run_sidecar(%s)", (run_id,)).fetchone() or ({},)
    assert [receipt["gate"] for receipt in sidecar["receipts"]] == ["IG_source_pin"]


def test_the_policy_is_read_anew_at_every_attempt(deployment: Deployment) -> None:
    """Seed 002 "Migration Notes"."""
    document = deployment.register(law(2))
    run_id = drive(deployment, document_id=document, until="IG_mark").run_id
    in_force(deployment.settings, "gate: IG_cutplan, verdict: deny")
    assert denied(deployment.gate("IG_cutplan", run_id), "line 3: rule r0")
    put_in_force(deployment.settings)
    assert drive(deployment, document_id=document, until="IG_cutplan").state == "cutplan_ok"


def test_a_denial_behind_the_enactment_stops_the_run_and_a_policy_put_right_closes_it(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_lifecycle_enact_execute").run_id
    in_force(deployment.settings, "connector: evidence, verdict: deny")
    refused = deployment.gate("IG_closeout", run_id)
    assert (refused.status, refused.code) == ("needs_approval", "policy_denied")
    assert state_of(deployment, run_id) == refused.state == "stopped_unavailable_policy"
    put_in_force(deployment.settings)
    resumed = resume_run(deployment.deps[WorkerRole.CUTTER], ResumeInput(run_id=run_id))
    assert (resumed.code, resumed.state) == ("resumed", "lifecycle_enacted")
    assert deployment.gate("IG_closeout", run_id).status == "passed"


def test_a_denied_document_is_not_put_and_a_request_without_its_document_fails_the_run(
    deployment: Deployment,
) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    in_force(deployment.settings, f"connector: kb, gate: {CUT}, verdict: deny")
    asked = RequestInput(run_id=run_id, gate=CUT)
    view = open_request(deployment.deps[WorkerRole.CUTTER], asked)
    assert (view.status, view.code) == ("denied", "policy_denied")
    assert f"line 3: rule r0 says deny to kb put at {CUT}" in view.reason
    assert state_of(deployment, run_id) == "failed_policy"
    assert deployment.database.value("select count(*) from cutter_governance.approval_request") == 0


@pytest.mark.parametrize(
    ("sovereign", "rule"),
    [
        (CUT, "operation: create_units, document: ICX-*, verdict: deny"),
        (CUT, "operation: create_units, tenant: default, verdict: deny"),
        (CUT, "operation: record_cut, mode: live, verdict: deny"),
        (CUT, "operation: record_verification, candidates: 2.., verdict: deny"),
        (CUT, "connector: kb, gate: IG_leg_b_record, verdict: deny"),
        (LIFECYCLE, "operation: enact_units, verdict: deny"),
    ],
)
def test_nobody_is_asked_to_sign_for_what_the_policy_never_allows(
    deployment: Deployment, sovereign: str, rule: str
) -> None:
    """Seed 003 §5."""
    before = "IG_grant_probe" if sovereign == CUT else VERIFY
    run_id = drive(deployment, law(2), until=before).run_id
    in_force(deployment.settings, rule)
    view = open_request(deployment.deps[WorkerRole.CUTTER], RequestInput(run_id=run_id, gate=sovereign))
    assert (view.status, view.code) == ("denied", "policy_denied")
    assert "policy.yaml line 3: rule r0 says deny to" in view.reason
    assert state_of(deployment, run_id) == "failed_policy"
    asked = "select count(*) from cutter_governance.approval_request where gate = %s"
    assert deployment.database.value(asked, (sovereign,)) == 0


def test_what_only_the_clock_decides_is_shown_to_the_person_who_is_asked(deployment: Deployment) -> None:
    """Seed 003 §5."""
    at_night = "operation: create_units, window: 22:00-05:00, verdict: allow"
    in_force(deployment.settings, at_night, "operation: create_units, verdict: deny")
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    view = open_request(deployment.deps[WorkerRole.CUTTER], RequestInput(run_id=run_id, gate=CUT))
    document = parse_request(Store(deployment.settings.kb).get(view.kb_id))
    assert isinstance(document, RequestDocument)
    denial = "policy.yaml line 4: rule r1 says deny to database create_units at IG_cut_leg_a_execute"
    assert document.effect_policy == f"05:00-22:00 UTC: {denial}"


def test_a_rehearsal_shows_what_the_policy_denies_to_the_live_run(deployment: Deployment) -> None:
    """Its signatures are for both gates of the live run."""
    in_force(deployment.settings, "operation: enact_units, mode: live, verdict: deny")
    run_id = drive(deployment, law(2), until="IG_grant_probe", mode="dryrun").run_id
    view = open_request(deployment.deps[WorkerRole.CUTTER], RequestInput(run_id=run_id, gate=CUT))
    text = Store(deployment.settings.kb).get(view.kb_id).decode()
    assert "by the time of the write: `always: policy.yaml line 3: rule r0 says deny to database enact_units at" in text


@contextmanager
def denied_while_open(made: Deployment, gate: ModuleType) -> Iterator[None]:
    """While the gate evaluates its evidence, a policy comes into force that lets nobody put documents."""

    def meanwhile(evidence: object) -> GateReport:
        in_force(made.settings, "connector: kb, verdict: deny")
        report: GateReport = evaluate(evidence)
        return report

    evaluate = gate.evaluate
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gate, "evaluate", meanwhile)
        yield
    put_in_force(made.settings)


def test_a_policy_that_comes_while_a_gate_is_open_counts_for_its_report(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_mark").run_id
    with denied_while_open(deployment, cutplan):
        outcome = deployment.gate("IG_cutplan", run_id)
        assert (outcome.status, outcome.sha256) == ("passed", "")
    assert waiting(deployment, run_id) == ["IG_cutplan"]
    assert deployment.gate("IG_cutplan", run_id).sha256
    assert waiting(deployment, run_id) == []


def test_a_policy_that_comes_while_a_run_closes_counts_for_its_line_in_the_index(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_lifecycle_enact_execute").run_id
    with denied_while_open(deployment, closeout), pytest.raises(PolicyDenied, match="rule r0"):
        deployment.gate("IG_closeout", run_id)
    assert state_of(deployment, run_id) == "closeout_reported"
    assert deployment.gate("IG_closeout", run_id).status == "passed"
    assert waiting(deployment, run_id) == []


def test_a_policy_that_comes_before_a_closeout_is_open_counts_for_its_evidence(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = drive(deployment, law(2), until="IG_lifecycle_enact_execute").run_id

    def meanwhile(*given: Any) -> Any:
        in_force(deployment.settings, "connector: evidence, verdict: deny")
        return fetched(*given)

    fetched = closeout_gate._fetched
    monkeypatch.setattr(closeout_gate, "_fetched", meanwhile)
    refused = deployment.gate("IG_closeout", run_id)
    assert (refused.status, refused.state) == ("needs_approval", "stopped_unavailable_policy")
    assert not list(Path(deployment.settings.runs).rglob("evidence*"))


def test_a_policy_that_comes_while_a_request_is_made_counts_for_its_document(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id

    def meanwhile(document: RequestDocument) -> bytes:
        in_force(deployment.settings, "connector: kb, verdict: deny")
        return rendered(document)

    rendered = approval_requests.render_request
    monkeypatch.setattr(approval_requests, "render_request", meanwhile)
    kb_id = deployment.request(run_id, CUT)
    assert not Store(deployment.settings.kb).exists(kb_id)
    assert CUT in waiting(deployment, run_id)
    put_in_force(deployment.settings)
    deployment.request(run_id, CUT)
    assert Store(deployment.settings.kb).exists(kb_id)


def waiting(made: Deployment, run_id: str) -> list[str]:
    """The subjects of the documents that wait to be put."""
    return list(made.database.value(
        "select coalesce(array_agg(subject), '{}') from cutter_governance.outbox where run_id = %s and done_at is null",
        (run_id,),
    ))  # fmt: skip


def test_a_rehearsal_is_denied_what_the_run_would_be(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe", mode="dryrun").run_id
    in_force(deployment.settings, "operation: create_units, verdict: deny")
    assert denied(deployment.gate(LEG_A, run_id), "line 3: rule r0")


def test_nobody_fails_a_run_by_asking_for_its_write_before_it_is_approved(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    deployment.request(run_id, CUT)
    in_force(deployment.settings, "operation: create_units, verdict: deny")
    assert deployment.gate(LEG_A, run_id).status == "approval_refused"
    assert state_of(deployment, run_id) == "awaiting_cut_authorization"


def test_a_sealed_receipt_says_by_which_rule_of_which_policy(deployment: Deployment) -> None:
    """Seed 003 §5."""
    in_force(deployment.settings, "operation: create_units, candidates: ..10, verdict: needs_approval(low)")
    run_id = drive(deployment, law(2), until=LEG_A).run_id
    kept = deployment.database.value("select policy from cutter_governance.gate_receipt where gate = %s", (LEG_A,))
    fields = ("operation", "verdict", "tier", "rule", "line")
    assert [tuple(decision[field] for field in fields) for decision in kept["decisions"]] == [
        ("create_units", "needs_approval", "low", "r0", 3), ("put", "allow", None, "documents", 10),
    ]  # fmt: skip
    report = deployment.database.value(
        "select to_jsonb(a) from cutter_governance.action_receipt a where gate = %s", (LEG_A,)
    )
    assert report["request_metadata"]["policy"] == {"sha256": kept["sha256"], "rule": "documents", "line": 10}
    body = deployment.database.value(
        "select body from cutter_governance.governing_policy where sha256 = %s", (kept["sha256"],)
    )
    assert body == policy_of(deployment.settings).text
    assert run_id


# --- people -----------------------------------------------------------------------------------------------------------


def test_a_high_tier_takes_two_different_people(deployment: Deployment) -> None:
    """Seed 003 §1.3."""
    in_force(deployment.settings, "operation: create_units, verdict: needs_approval(high)")
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    view = open_request(deployment.deps[WorkerRole.CUTTER], RequestInput(run_id=run_id, gate=CUT))
    assert view.approvers_needed == 2
    assert "Tier high: 2 distinct approvers" in deployment.deps[WorkerRole.CUTTER].kb.get(view.kb_id).decode()
    alice, _ = deployment.approve(run_id, CUT)
    (shown,) = read_state(deployment.settings.runs, run_id)["sovereign_approvals"]
    assert (shown["approval_kb_id"], shown["validated_utc"] is None) == (alice, False), "seed 000 §5"
    again, verdict = deployment.approve(run_id, CUT)
    assert verdict.accepted
    before = written(deployment)
    for signed in ((alice,), (alice, again)):
        outcome = deployment.gate(LEG_A, run_id, signed)
        assert (outcome.status, outcome.code) == ("approval_refused", "threshold_missing")
        assert "2 distinct approvers are needed, 1 approved: alice" in outcome.reason
        assert written(deployment) == before
    bob, _ = deployment.approve(run_id, CUT, by=1)
    assert deployment.gate(LEG_A, run_id, (alice, bob)).status == "passed"


@pytest.mark.parametrize("operation", ["record_cut", "record_verification"])
def test_what_is_written_behind_an_approval_raises_the_number_that_it_takes(
    deployment: Deployment, operation: str
) -> None:
    in_force(deployment.settings, f"operation: {operation}, verdict: needs_approval(high)")
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    view = open_request(deployment.deps[WorkerRole.CUTTER], RequestInput(run_id=run_id, gate=CUT))
    assert view.approvers_needed == 2
    alice, bob = (deployment.approve(run_id, CUT, by=who)[0] for who in (0, 1))
    assert deployment.gate(LEG_A, run_id, (alice,)).code == "threshold_missing"
    assert deployment.gate(LEG_A, run_id, (alice, bob)).status == "passed"
    assert drive(deployment, run_id=run_id, document_id="-", until=VERIFY).state == "write_verified"


def test_a_rule_that_comes_after_the_request_asks_for_the_second_person_then(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    alice, _ = deployment.approve(run_id, CUT)
    cutter = deployment.deps[WorkerRole.CUTTER]
    in_force(deployment.settings, "operation: create_units, verdict: needs_approval(high)")
    outcome = deployment.gate(LEG_A, run_id, (alice,))
    assert (outcome.status, outcome.code) == ("approval_refused", "threshold_missing")
    view = open_request(cutter, RequestInput(run_id=run_id, gate=CUT))
    assert (view.approvers_needed, list(view.accepted)) == (2, ["alice"])
    bob, _ = deployment.approve(run_id, CUT, by=1)
    assert deployment.gate(LEG_A, run_id, (alice, bob)).status == "passed"


@pytest.mark.parametrize(("tier", "people"), [("low", 1), ("high", 2)])
def test_where_no_sovereign_gate_asks_the_run_waits_for_signatures_that_it_goes_on(
    deployment: Deployment, tier: str, people: int
) -> None:
    """Seed 003 §5."""
    in_force(deployment.settings, f"connector: backup, verdict: needs_approval({tier})")
    run_id = drive(deployment, law(2), until="IG_cutplan").run_id
    before = written(deployment)
    outcome = deployment.gate("IG_backup", run_id)
    assert (outcome.status, outcome.state) == ("needs_approval", "stopped_policy_backup")
    assert f"line 3: rule r0 says needs_approval({tier}) to backup take" in outcome.reason
    assert f"0 of {people} have approved" in outcome.reason
    assert (written(deployment), state_of(deployment, run_id)) == (before, "stopped_policy_backup")

    unsigned = resume_run(deployment.deps[WorkerRole.CUTTER], ResumeInput(run_id=run_id))
    assert unsigned.code == "refused"
    assert unsigned.reason == f"the stop needs a signed resume: `cutter status {run_id}` names the command"
    if people == 2:
        assert resumed(deployment, run_id, by=0) == ("more_needed", "stopped_policy_backup")
        assert resumed(deployment, run_id, by=0) == ("refused", "stopped_policy_backup")
        assert resumed(deployment, run_id, by=1) == ("resumed", "cutplan_ok")
    else:
        assert resumed(deployment, run_id, by=0) == ("resumed", "cutplan_ok")
    assert deployment.gate("IG_backup", run_id).status == "passed"


def resumed(made: Deployment, run_id: str, *, by: int) -> tuple[str, str]:
    """Somebody signs that the run, stopped before its backup, goes on: the answer, and the state then."""
    verdict = made.order(run_id, schema.RESUME, by=by, stopped_state="stopped_policy_backup")
    assert verdict.accepted, verdict
    order = ResumeInput(run_id=run_id, statement_sha256=verdict.approval_sha256)
    return resume_run(made.deps[WorkerRole.CUTTER], order).code, state_of(made, run_id)


def test_a_stale_backup_asks_for_as_many_people_as_its_own_tier(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    deployment.request(run_id, CUT)
    grown_stale(deployment, run_id)
    in_force(deployment.settings, "connector: backup, verdict: needs_approval(low)")
    order = GateInput(run_id=run_id)
    outcome = refresh_backup(deployment.deps[WorkerRole.CUTTER], order)
    assert (outcome.status, outcome.state) == ("needs_approval", "stopped_policy_backup")
    assert "0 of 1 have approved" in outcome.reason
    assert resumed(deployment, run_id, by=0) == ("resumed", "grants_probed")
    deployment.request(run_id, CUT)
    assert refresh_backup(deployment.deps[WorkerRole.CUTTER], order).status == "passed"


def test_a_stale_backup_is_not_renewed_against_the_policy(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    deployment.request(run_id, CUT)
    grown_stale(deployment, run_id)
    in_force(deployment.settings, "connector: backup, verdict: deny")
    before = written(deployment)
    outcome = refresh_backup(deployment.deps[WorkerRole.CUTTER], GateInput(run_id=run_id))
    assert denied(outcome, "line 3: rule r0 says deny to backup take")
    assert (written(deployment), state_of(deployment, run_id)) == (before, "failed_policy")


def test_nobody_fails_a_run_that_has_written_by_asking_for_a_backup_that_it_does_not_need(
    deployment: Deployment,
) -> None:
    run_id = drive(deployment, law(2), until="IG_structural_verify").run_id
    grown_stale(deployment, run_id)
    in_force(deployment.settings, "connector: backup, verdict: deny")
    outcome = refresh_backup(deployment.deps[WorkerRole.CUTTER], GateInput(run_id=run_id))
    assert (outcome.status, outcome.code) == ("out_of_order", "policy_denied")
    assert state_of(deployment, run_id) == "structural_verified"


def test_a_void_is_denied_and_carried_out_when_the_policy_allows_it_again(deployment: Deployment) -> None:
    """Seed 002 "Execution Command Boundary"."""
    run_id = drive(deployment, law(2), until=LEG_A).run_id
    judgement = deployment.order(run_id, schema.VOID)
    order = VoidInput(run_id=run_id, kb_id=judgement.kb_id)
    for verdict, code in (("deny", "policy_denied"), ("needs_approval(high)", "policy_approval_missing")):
        in_force(deployment.settings, f"operation: withdraw_drafts, verdict: {verdict}")
        done = void_run(deployment.deps[WorkerRole.EXEC], order)
        assert (done.code, done.state) == (code, "")
        assert state_of(deployment, run_id) == "cut_leg_a_committed"
    put_in_force(deployment.settings)
    assert void_run(deployment.deps[WorkerRole.EXEC], order).code == "voided"
    kept = deployment.database.value("select policy from cutter_governance.void_record")
    assert [decision["operation"] for decision in kept["decisions"]] == ["withdraw_drafts", "put"]


# --- receipts ---------------------------------------------------------------------------------------------------------


def here(made: Deployment) -> permission.Context:
    return permission.of_batch(made.database.value("select clock_timestamp()"), "b")


def test_a_document_s_name_with_other_bytes_is_refused_with_both_hashes(deployment: Deployment) -> None:
    """Seed 002 "Execution Command Boundary"."""
    deps = deployment.deps[WorkerRole.CUTTER]
    first = effects.put(deps, here(deployment), "a/b.md", b"one")
    assert effects.put(deps, here(deployment), "a/b.md", b"one").sha256 == first.sha256
    with pytest.raises(Conflict) as caught:
        effects.put(deps, here(deployment), "a/b.md", b"two")
    assert sha256_hex(b"one") in str(caught.value)
    assert sha256_hex(b"two") in str(caught.value)
    other = effects.Put(kb_id="a/b.md", sha256=sha256_hex(b"two"), data=b"two", rule=first.rule)
    again = [effects.receipt_of_put(here(deployment), put, "test") for put in (first, first, other)]

    def write() -> None:
        with single(deps.pool(Role.READ)) as connection, connection.pipeline():
            for statement, fields in again:
                connection.execute(statement, fields)

    with pytest.raises(Conflict) as caught:
        write()
    assert f"kb:put:a/b.md was done with fields of sha256 {sha256_hex(b'one')}, now {sha256_hex(b'two')}" in str(
        caught.value
    )
    assert deployment.database.value("select count(*) from cutter_governance.action_receipt") == 0, "rolled back"


def test_an_allowed_document_s_receipt_says_by_which_rule(deployment: Deployment) -> None:
    """Seeds 003 §1.4, 003 §4.1."""
    deps = deployment.deps[WorkerRole.CUTTER]
    done = effects.put(deps, here(deployment), "a/b.md", b"one")
    with single(deps.pool(Role.READ)) as connection:
        connection.execute(*effects.receipt_of_put(here(deployment), done, "test"))
    kept = deployment.database.value("select to_jsonb(a) from cutter_governance.action_receipt a")
    assert (kept["idempotency_key"], kept["payload_sha256"]) == ("kb:put:a/b.md", sha256_hex(b"one"))
    operation = BY_KEY[Connector.KB, "put"]
    assert (kept["reversible"], kept["how_to_reverse"]) == (operation.reversible, operation.how_to_reverse)
    assert set(kept["request_metadata"]) == {"kind", "policy", "risk"}


def test_a_backup_s_name_for_another_key_is_refused_with_both_hashes(deployment: Deployment) -> None:
    """Seeds 002 "Execution Command Boundary", 003 §4.2."""
    deps, context = deployment.deps[WorkerRole.CUTTER], here(deployment)
    rule = permission.required(deps, context, BY_KEY[Connector.BACKUP, "take"])
    taken = replace(RECORD, artifact_id="x/pre_write.gpg", recipient="A" * 40)
    other = replace(taken, recipient="0" * 40)
    hashes = [
        canonical_digest({"artifact_id": record.artifact_id, "recipient": record.recipient})
        for record in (taken, other)
    ]
    with single(deps.pool(Role.BACKUP)) as connection:
        for _ in range(2):
            noted = RECORDED.one(connection, receipt_of(context, taken, rule))
            assert noted.sha256 == taken.sha256
    with pytest.raises(Conflict) as caught, single(deps.pool(Role.BACKUP)) as connection:
        RECORDED.one(connection, receipt_of(context, other, rule))
    assert f"{hashes[0]}, now {hashes[1]}" in str(caught.value)


def test_a_gate_s_receipt_for_another_payload_is_refused_with_both_hashes(deployment: Deployment) -> None:
    """Seed 002 "Execution Command Boundary"."""
    run_id = drive(deployment, law(2), until="IG_mark").run_id
    previous = deployment.database.value(
        "select payload_sha256 from cutter_governance.gate_receipt where gate = 'IG_mark'"
    )
    deployment.database.run(
        "alter table cutter_governance.gate_receipt disable trigger trg_gate_receipt_immutable;"
        " update cutter_governance.gate_receipt set payload_sha256 = repeat('0', 64) where gate = 'IG_mark';"
        " alter table cutter_governance.gate_receipt enable always trigger trg_gate_receipt_immutable"
    )
    with pytest.raises(Conflict) as caught:
        deployment.gate("IG_mark", run_id)
    assert "0" * 64 in str(caught.value)
    assert previous in str(caught.value)
