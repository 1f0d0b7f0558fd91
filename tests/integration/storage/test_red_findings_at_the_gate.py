"""A text with a red finding passes IG_mark by no route; with the accepted names of its version it does."""

from __future__ import annotations

from typing import Any

import pytest

from activities.gates import cutplan
from activities.gates.pinned_source import options_of
from cutter import marking, sources
from cutter.catalogue import BY_NAME, GATES, Sovereign
from cutter.errors import NotFound, ProgrammingError, Refused
from cutter.storage.run_evidence import Snapshot
from starter.approver import signing_desk
from tests.support import gate_calls as gates
from tests.support.runs import Deployment, drive

RED = "heading_absorbed:ICX-RED/ARTICLE-1"
NOT_ACCEPTED = "red_finding_not_accepted"
SWALLOWED = b"# Act\n\n## Article 1. Scope\n\nOne.\n\nArticle 2.\n\nTwo.\n\n## Article 3. Terms\n\nThree.\n"
ACCEPTED = {RED: "quoted from the act of 1911"}


def registered(made: Deployment, **options: Any) -> sources.RegisteredVersion:
    return sources.register(
        made.settings, SWALLOWED, document_id="ICX-RED", docprefix="ICX-RED", profile="generic-markdown",
        options=options,
    )  # fmt: skip


def accepted_until(made: Deployment, gate: str) -> str:
    """A run of the accepted version, with that gate sealed."""
    registered(made, accept=ACCEPTED)
    return drive(made, document_id="ICX-RED", until=gate).run_id


def withdraw(made: Deployment) -> None:
    """Take the acceptance out of the version, as only the owner of the database can."""
    made.database.run(
        "alter table public.source_version disable trigger trg_source_version_append_only; "
        "update public.source_version set marking_options = marking_options - 'accept'; "
        "alter table public.source_version enable always trigger trg_source_version_append_only"
    )


def passed(made: Deployment, run_id: str, gate: str) -> bool:
    """Whether the gate has a sealed receipt."""
    sealed = "select exists (select from cutter_governance.gate_receipt where run_id = %s and gate = %s)"
    return bool(made.database.value(sealed, (run_id, gate)))


def test_the_gate_refuses_a_text_that_was_registered_by_force(deployment: Deployment) -> None:
    registered(deployment)
    run_id = deployment.begin("ICX-RED")
    assert deployment.gate("IG_source_pin", run_id).status == "passed"
    outcome = deployment.gate("IG_mark", run_id)
    assert outcome.status == "failed"
    assert "heading_absorbed, line 7, red 1: see `cutter mark FILE" in outcome.reason


def test_the_gate_passes_the_version_whose_findings_were_accepted(deployment: Deployment) -> None:
    registered(deployment, accept=ACCEPTED)
    assert drive(deployment, document_id="ICX-RED", until="IG_cutplan").outcomes["IG_mark"].status == "passed"


def test_the_database_seals_no_red_finding_that_the_version_does_not_accept(deployment: Deployment) -> None:
    """Whatever the worker says of its own report: the names in its pins must be accepted with the version."""
    registered(deployment)
    without = drive(deployment, document_id="ICX-RED", until="IG_source_pin").run_id
    connection = deployment.database.connect("cutter_read")
    number = gates.open_gate(connection, "IG_mark", without)["attempt"]
    assert gates.close_gate(connection, "IG_mark", without, number, {"red_findings": RED})["code"] == NOT_ACCEPTED
    connection.rollback()
    deployment.database.run("update cutter_governance.run set ended_at = now()")
    registered(deployment, accept=ACCEPTED)
    accepted = drive(deployment, document_id="ICX-RED", until="IG_source_pin").run_id
    number = gates.open_gate(connection, "IG_mark", accepted)["attempt"]
    for other in (f"{RED} giant_unit:ICX-RED/ARTICLE-3", RED.lower(), f"{RED}~2"):
        assert (
            gates.close_gate(connection, "IG_mark", accepted, number, {"red_findings": other})["code"] == NOT_ACCEPTED
        )
    assert gates.close_gate(connection, "IG_mark", accepted, number, {"red_findings": RED})["status"] == "sealed"


@pytest.mark.parametrize("gate", ["IG_cutplan", "IG_cut_leg_a_execute", "IG_structural_verify", "IG_write_verify"])
def test_no_later_gate_passes_once_the_acceptance_is_gone(deployment: Deployment, gate: str) -> None:
    """Each marks the text again, in its own process: the exec worker before it writes, the verify worker after."""
    run_id = accepted_until(deployment, GATES[BY_NAME[gate].number - 2].name)
    approvals = [deployment.approve(run_id, Sovereign.CUT)[0]] if gate == "IG_cut_leg_a_execute" else []
    withdraw(deployment)
    with pytest.raises(ProgrammingError, match="refuses"):
        deployment.gate(gate, run_id, approvals)
    assert not passed(deployment, run_id, gate)


def test_the_verifier_rebuilds_from_a_marking_of_its_own(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the marking that its process keeps for other gates does not refuse."""
    run_id = accepted_until(deployment, "IG_leg_b_record")
    withdraw(deployment)
    monkeypatch.setattr(cutplan, "mark_pinned", marked_without_refusal)
    with pytest.raises(ProgrammingError, match="the verifier's rebuild refuses"):
        deployment.gate("IG_write_verify", run_id)
    assert not passed(deployment, run_id, "IG_write_verify")


def marked_without_refusal(pinned: Snapshot, docprefix: str, limit: int) -> marking.Marking | marking.MarkRefusal:
    profile = marking.parse_profile(pinned.profile_body.encode())
    return marking.examine(pinned.data, profile=profile, docprefix=docprefix, options=options_of(pinned, limit))


def test_no_request_is_made_once_the_acceptance_is_gone(deployment: Deployment) -> None:
    run_id = accepted_until(deployment, "IG_grant_probe")
    withdraw(deployment)
    with pytest.raises(NotFound, match="the marked text is gone"):
        deployment.request(run_id, Sovereign.CUT)


@pytest.mark.parametrize(
    ("gate", "before"), [(Sovereign.CUT, "IG_grant_probe"), (Sovereign.LIFECYCLE, "IG_write_verify")]
)
def test_the_signers_machine_refuses_once_the_acceptance_is_gone(
    deployment: Deployment, gate: Sovereign, before: str
) -> None:
    run_id = accepted_until(deployment, before)
    document, _ = signing_desk.read_request(deployment.settings, run_id, deployment.request(run_id, gate))
    assert signing_desk.recompute(deployment.settings, document).accepted_findings == (RED,)
    withdraw(deployment)
    with pytest.raises(Refused, match="the snapshot is refused here: line 7") as refused:
        signing_desk.recompute(deployment.settings, document)
    assert refused.value.code == "heading_absorbed"


def test_an_acceptance_makes_a_version_of_its_own(deployment: Deployment) -> None:
    first, second = registered(deployment), registered(deployment, accept=ACCEPTED)
    assert (first.status, second.status) == ("registered", "registered")
    assert first.source_version_id != second.source_version_id
    assert registered(deployment, accept=ACCEPTED).status == "registered_before"


def test_a_run_of_an_older_text_does_not_take_the_acceptance_of_a_newer_one(deployment: Deployment) -> None:
    registered(deployment)
    run_id = deployment.begin("ICX-RED")
    assert deployment.gate("IG_source_pin", run_id).status == "passed"
    registered(deployment, accept=ACCEPTED)
    assert deployment.gate("IG_mark", run_id).status != "passed"


def test_the_register_refuses_and_names_what_can_be_accepted(deployment: Deployment) -> None:
    wanted = sources.Registration(
        document_id="ICX-RED", docprefix="ICX-RED", profile="generic-markdown", options={}, source_uri=None,
        normalise=None, forbidden=(),
    )  # fmt: skip
    with pytest.raises(Refused, match="--accept heading_absorbed:ICX-RED/ARTICLE-1 --because TEXT") as refused:
        sources.require_runnable(deployment.settings, SWALLOWED, wanted)
    assert refused.value.code == "heading_absorbed"
