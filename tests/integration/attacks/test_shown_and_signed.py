"""A person signs exactly what is shown: the signer's machine builds it again, and refuses what differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from cutter.approvals.request import RequestDocument, parse_request, render_request
from cutter.approvals.statement import Statement, parse
from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.errors import Refused
from cutter.projections import request_page
from cutter.request_view.forms import markdown, view_digest
from starter.approver import signing_desk
from starter.commands.pages import Form, rendered
from tests.support.database import TestCluster
from tests.support.runs import Deployment, Keys, deployment, drive, law

BEFORE = {Sovereign.CUT: "IG_grant_probe", Sovereign.LIFECYCLE: "IG_write_verify"}
OTHER = "0" * 64


@pytest.fixture(scope="module")
def made(cluster: TestCluster, keys: Keys) -> Iterator[Deployment]:
    with cluster.database(prefix="shown") as database, deployment(database, keys) as opened:
        yield opened


@pytest.fixture(scope="module", params=list(Sovereign), ids=["SG_1", "SG_2"])
def asked(made: Deployment, request: pytest.FixtureRequest) -> tuple[str, Sovereign]:
    """A run that waits at a sovereign gate, and the gate."""
    gate: Sovereign = request.param
    run_id = drive(made, law(4), until=BEFORE[gate]).run_id
    made.request(run_id, gate)
    return run_id, gate


def read(made: Deployment, run_id: str, gate: Sovereign) -> tuple[RequestDocument, bytes]:
    return signing_desk.read_request(made.settings, run_id, made.request(run_id, gate))


def test_what_is_built_here_is_what_the_request_shows_and_asks_for(
    made: Deployment, asked: tuple[str, Sovereign]
) -> None:
    document, data = read(made, *asked)
    view = signing_desk.recompute(made.settings, document)
    assert (len(view.units), view.digests.writer_digest) == (4, document.request.writer_digest)
    assert (view_digest(view), markdown(view)) == (document.view_digest, document.shown)
    assert view.digests.findings_digest == document.request.findings_digest
    assert document.shown.encode() in data
    for unit in view.units:
        assert sha256_hex(view.body(unit)) == unit.body_sha256


def test_the_request_to_enact_shows_what_was_written_and_verified(
    made: Deployment, asked: tuple[str, Sovereign]
) -> None:
    document, _ = read(made, *asked)
    view = signing_desk.recompute(made.settings, document)
    gates = [gate.gate for gate in view.sealed]
    if asked[1] is Sovereign.CUT:
        assert gates == []
        assert {unit.stored for unit in view.units} == {None}
    else:
        assert gates == ["IG_cut_leg_a_execute", "IG_structural_verify", "IG_leg_b_record", "IG_write_verify"]
        assert view.stored_differences == ()
        assert all(check.ok for gate in view.sealed for check in gate.checks)
        assert "PostgreSQL holds 4 of these 4 units as drafts." in document.shown


def test_every_form_of_a_request_names_the_same_digest(made: Deployment, asked: tuple[str, Sovereign]) -> None:
    document, data, view = signing_desk.read_view(made.settings, asked[0])
    forms = {form: rendered(form, document, data, view) for form in Form}
    assert forms[Form.MARKDOWN] == data
    assert forms[Form.HTML] == request_page.render(document, view)
    assert json.loads(forms[Form.JSON])["view_digest"] == document.view_digest
    for shown in forms.values():
        assert document.view_digest.encode() in shown


def test_the_statement_carries_the_findings_and_what_was_accepted(
    made: Deployment, asked: tuple[str, Sovereign]
) -> None:
    document, data = read(made, *asked)
    statement = signing_desk.answer(document, data, made.keys.signing(), "approve")
    body = parse(signing_desk.render(statement))
    assert isinstance(body, Statement)
    assert (body.findings_digest, body.accepted_findings) == (document.request.findings_digest, "none")


def _asks(**changes: object) -> Callable[[RequestDocument], RequestDocument]:
    return lambda document: replace(document, request=replace(document.request, **changes))  # type: ignore[arg-type]


CHANGED: dict[str, Callable[[RequestDocument], RequestDocument]] = {
    "writer_digest": _asks(writer_digest=OTHER),
    "region_sha": _asks(region_sha=OTHER),
    "candidate_count": _asks(candidate_count=3),
    "findings_digest": _asks(findings_digest=OTHER),
    "accepted_findings": _asks(accepted_findings="looks_uncut:LINE-9"),
    "view_digest": lambda document: replace(document, view_digest=OTHER),
    "request_text": lambda document: replace(document, shown=document.shown.replace("Rule 2", "Rule 3")),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_request_that_says_something_else_is_not_signed(
    made: Deployment, asked: tuple[str, Sovereign], what: str
) -> None:
    """As if a worker had made it: the document is whole in itself, and only what it says is another thing."""
    document, _ = read(made, *asked)
    changed = parse_request(render_request(CHANGED[what](document)))
    assert isinstance(changed, RequestDocument)
    assert changed != document
    with pytest.raises(Refused, match="do not sign") as refused:
        signing_desk.recompute(made.settings, changed)
    assert refused.value.code == f"{what}_differs"


def test_a_request_whose_shown_text_was_changed_in_the_knowledge_base_is_not_read(
    made: Deployment, asked: tuple[str, Sovereign]
) -> None:
    document, data = read(made, *asked)
    path = made.settings.state / "kb" / document.kb_id
    changed = replace(document, shown=document.shown.replace("Rule 2", "Rule 3"))
    for written in (data.replace(b"Rule 2", b"Rule 3", 1), render_request(changed)):
        path.write_bytes(written)
        with pytest.raises(Refused, match="rebuild") as refused:
            signing_desk.read_request(made.settings, asked[0], document.kb_id)
        assert refused.value.code in ("request_altered", "request_of_another")
    path.write_bytes(data)


def test_a_stored_unit_that_is_not_the_planned_one_is_not_signed(deployment: Deployment) -> None:
    """Also where the worker that made the request saw the altered row and put it into the request."""
    run_id = drive(deployment, law(3), until=BEFORE[Sovereign.LIFECYCLE]).run_id
    document, _ = read(deployment, run_id, Sovereign.LIFECYCLE)
    deployment.database.run(
        "alter table public.unit_version disable trigger all; "
        "update public.unit_version v set body = 'x', content_hash = encode(sha256('x'), 'hex')"
        " from public.information_unit u, cutter_governance.run r"
        " where v.unit_id = u.id and u.canonical_address = r.docprefix || '/ARTICLE-1'"
        f" and r.run_id = '{run_id}'"
    )
    with pytest.raises(Refused, match="do not sign") as refused:
        signing_desk.recompute(deployment.settings, document)
    assert refused.value.code == "view_digest_differs"
    view = signing_desk.build_of(deployment.settings, document)
    assert [address.rpartition("/")[2] for address in view.stored_differences] == ["ARTICLE-1"]
    current = replace(document, view_digest=view_digest(view), shown=markdown(view))
    with pytest.raises(Refused, match="another form than the plan") as refused:
        signing_desk.recompute(deployment.settings, current)
    assert refused.value.code == "stored_differs"
