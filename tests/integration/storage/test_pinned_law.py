"""The law of a run as its report shows it, and the request of a run that is over: what PostgreSQL says, and no more."""

from __future__ import annotations

import pytest

from activities.run.course import void_run
from cutter.approvals import schema
from cutter.catalogue import Sovereign, WorkerRole
from cutter.errors import Refused
from cutter.messages import VoidInput
from cutter.projections import report
from starter.approver import signing_desk
from starter.commands import pages, status
from starter.operator.pinned_law import pinned_law
from tests.support.runs import Deployment, drive, law


def page(made: Deployment, run_id: str) -> str:
    return report.render(status.view_of(made.settings, run_id), pinned_law(made.settings, run_id)).decode()


def void(made: Deployment, run_id: str) -> None:
    kb_id, _ = made.sign_order(run_id, schema.VOID)
    verdict = made.judge(run_id, Sovereign.LIFECYCLE, kb_id)
    assert verdict.accepted, verdict
    assert void_run(made.deps[WorkerRole.EXEC], VoidInput(run_id=run_id, kb_id=kb_id)).code == "voided"


def test_the_law_of_a_closed_run_is_its_cut_as_sealed_and_stored(deployment: Deployment) -> None:
    run_id = drive(deployment, law(5)).run_id
    view, pinned = status.view_of(deployment.settings, run_id), pinned_law(deployment.settings, run_id)
    assert pinned.view is not None
    assert (len(pinned.view.units), pinned.held, pinned.title) == (5, {"enacted": 5}, "An Act to test")
    assert pinned.view.stored_differences == ()
    assert report.differences(view.digests, pinned.view) == []
    shown = report.render(view, pinned).decode()
    for text in ("The law is enacted", "PostgreSQL holds 5 of 5 units.", "Article 4. Rule 4", "alice"):
        assert text in shown


def test_a_run_that_has_pinned_nothing_has_no_law(deployment: Deployment) -> None:
    run_id = deployment.begin(deployment.register(law(2)))
    assert pinned_law(deployment.settings, run_id).why == "The run has pinned no text."
    assert "The run has pinned no text." in page(deployment, run_id)


def test_the_report_of_a_text_that_cannot_be_cut_says_why(deployment: Deployment) -> None:
    document = deployment.register("Only words, and no heading.\n")
    run_id = deployment.begin(document)
    deployment.gate("IG_source_pin", run_id)
    pinned = pinned_law(deployment.settings, run_id)
    assert pinned.view is None
    assert pinned.why.startswith("The text cannot be cut: ")


def test_the_report_of_a_text_with_red_findings_lists_them(deployment: Deployment) -> None:
    document = deployment.register(law(2) + "\n# ARTICLE 5\n\nArticle 6. Lamps\n\nText.\n\nArticle 7. Oil\n\nText.\n")
    run_id = deployment.begin(document)
    deployment.gate("IG_source_pin", run_id)
    pinned = pinned_law(deployment.settings, run_id)
    assert pinned.view is None
    assert pinned.refused
    view = status.view_of(deployment.settings, run_id)
    shown = report.render(view, pinned).decode()
    assert all(finding.name in shown for finding in pinned.refused)


def test_units_that_were_changed_behind_the_gates_are_named(deployment: Deployment) -> None:
    run_id = drive(deployment, law(3), until="IG_write_verify").run_id
    deployment.database.run(
        "alter table public.information_unit disable trigger all; update public.information_unit u"
        """ set identity_profile = identity_profile || '{"title": "Another"}' from cutter_governance.run r"""
        f" where u.canonical_address = r.docprefix || '/ARTICLE-1' and r.run_id = '{run_id}'"
    )
    assert "1 differ from the plan" in page(deployment, run_id)


def test_the_request_of_a_voided_run_says_where_to_look_and_is_still_there_as_a_document(
    deployment: Deployment,
) -> None:
    run_id = drive(deployment, law(3), until="IG_write_verify").run_id
    asked = signing_desk.read_request(
        deployment.settings, run_id, deployment.request(run_id, Sovereign.LIFECYCLE)
    )  # fmt: skip
    void(deployment, run_id)
    with pytest.raises(Refused) as refused:
        signing_desk.read_view(deployment.settings, run_id)
    assert refused.value.code == "request_is_over"
    for command in (f"cutter request {run_id} --form md", f"cutter report {run_id}"):
        assert f"`{command}`" in str(refused.value)
    assert pages.document_of(deployment.settings, run_id) == (*asked, None)
    shown = page(deployment, run_id)
    assert "The void has withdrawn the drafts." in shown
    assert f"cutter run {deployment.run_row(run_id)['document_id']}" in shown


def test_an_open_request_whose_units_were_changed_is_refused_in_every_form(deployment: Deployment) -> None:
    run_id = drive(deployment, law(3), until="IG_write_verify").run_id
    deployment.request(run_id, Sovereign.LIFECYCLE)
    deployment.database.run(
        "alter table public.information_unit disable trigger all; update public.information_unit u"
        """ set identity_profile = identity_profile || '{"title": "Another"}' from cutter_governance.run r"""
        f" where u.canonical_address = r.docprefix || '/ARTICLE-1' and r.run_id = '{run_id}'"
    )
    for form in (signing_desk.read_view, pages.document_of):
        with pytest.raises(Refused, match=f"do not sign.*`cutter stop {run_id} --reason TEXT`") as refused:
            form(deployment.settings, run_id)
        assert refused.value.code == "view_digest_differs"
