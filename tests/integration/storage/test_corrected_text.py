"""The next command of a run is the same in every list, also after its text was corrected or its request was signed."""

from __future__ import annotations

from activities.reconciler.runs import NOT_ENDED
from cutter.catalogue import Role, Sovereign
from cutter.domain.next_step import next_step
from cutter.storage.pools import session
from starter.commands import inbox, status
from starter.operator import run_status
from tests.support.runs import Deployment, drive, law


def shown(made: Deployment, run_id: str) -> set[str]:
    """The next command, as the page of the run, the list of all runs and the ends of other commands print it."""
    line = next(run for run in status.newest(made.settings).runs if run.run_id == run_id)
    view = status.view_of(made.settings, run_id)
    return {view.next, line.next, run_status.step_of(made.settings, run_id).command}


def failed(made: Deployment, state: str) -> tuple[str, str]:
    driven = drive(made, law(2), until="IG_source_pin")
    made.database.value("select cutter_governance.fn_run_move(%s, %s, 'a test')", (driven.run_id, state))
    return driven.run_id, driven.document_id


def test_a_failed_run_names_the_run_of_the_corrected_text_after_its_registration(deployment: Deployment) -> None:
    run_id, document_id = failed(deployment, "failed_mark")
    again = f"cutter run {document_id} --amends {run_id}"
    add = f"cutter source add FILE --document-id {document_id} --profile PROFILE"
    assert shown(deployment, run_id) == {f"{add}    # then: {again}"}
    assert str(status.view_of(deployment.settings, run_id).first).startswith("correct the text")
    deployment.register(law(3), document_id=document_id)
    assert shown(deployment, run_id) == {again}
    assert status.view_of(deployment.settings, run_id).first is None


def test_the_text_of_another_document_corrects_nothing(deployment: Deployment) -> None:
    run_id, _ = failed(deployment, "failed_mark")
    before = shown(deployment, run_id)
    deployment.register(law(3))
    assert shown(deployment, run_id) == before


def test_every_reader_has_the_same_command_for_a_run_that_has_its_signatures(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    deployment.approve(run_id, Sovereign.CUT.value)
    (entry,) = inbox.waiting(deployment.settings)
    with session(deployment.settings, Role.READ) as connection:
        (open_run,) = NOT_ENDED.all(connection)
    commands = {entry.command, next_step(open_run).command}
    assert commands == shown(deployment, run_id) == {"cutter up"}
