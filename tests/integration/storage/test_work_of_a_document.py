"""What is done once for a document or a look, and not again at each gate or for each item."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import LiteralString

import pytest
import uuid_utils

from activities.batch.approval_set import judge_set
from activities.outbox import publish
from cutter import limits
from cutter.batch.documents import pre_batched
from cutter.catalogue import SKIPPED, Role, Sovereign, State, WorkerRole
from cutter.domain.run_record import RunRecord
from cutter.kb.store import Store
from cutter.kb.write_once import put
from cutter.messages import Mode, SetInput
from cutter.storage import batches as batch_rows
from cutter.storage.roles import grants_asked
from starter.approver.session_requests import Signatures, approved_in_advance, statements, view_of, waiting
from starter.approver.signing_desk import Signing
from tests.support.batch import queue_yaml
from tests.support.database import Database
from tests.support.grown import without_triggers
from tests.support.runs import Deployment, drive, law
from tests.support.signatures import sign_answer

CALLS: LiteralString = "select calls from pg_stat_xact_user_functions where funcname = %s"
STATES = (*State, SKIPPED, "stopped_manual", "stopped_drift_grants", "failed_mark", "voided_cancelled")


def test_the_folder_of_a_run_is_written_when_it_waits_and_when_it_stops(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    state = deployment.settings.runs / run_id / "state.json"
    assert not state.exists()
    deployment.request(run_id, Sovereign.CUT)
    assert json.loads(state.read_bytes())["state"] == State.AWAITING_CUT_AUTHORIZATION
    assert len(list(state.parent.glob("phase-*.md"))) == 5


@pytest.mark.parametrize("ended", [False, True])
def test_code_and_database_agree_which_runs_are_on_their_way(deployment: Deployment, ended: bool) -> None:
    run_id = deployment.begin(deployment.register(law(2)))
    database = deployment.database
    for state in STATES:
        change = "update cutter_governance.run set state = %s, ended_at = case when %s then now() end where run_id = %s"
        database.run(change, (state, ended, run_id))
        moves = database.value("select cutter_governance.fn_run_moves(%s)", (run_id,))
        assert moves == RunRecord.of(deployment.run_row(run_id)).moves, state
        full = database.value("select cutter_governance.fn_run_published(%s) ? 'receipts'", (run_id,))
        assert full != moves, state


def test_a_run_on_its_way_names_its_last_document_and_those_that_wait(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_mark").run_id
    database = deployment.database
    again: LiteralString = (
        "update cutter_governance.outbox set done_at = null, sha256 = null"
        " where subject = 'IG_source_pin' and run_id = %s"
    )
    database.run(again, (run_id,))
    kb_id = database.value("select kb_id from cutter_governance.outbox where subject = 'IG_mark'")
    published = database.value("select cutter_governance.fn_run_published(%s, %s)", (run_id, kb_id))
    assert [(document["subject"], document["sha256"] is None) for document in published["documents"]] == [
        ("IG_source_pin", True),
        ("IG_mark", False),
    ]


def batch_of(deployment: Deployment, names: list[str], mode: Mode = "live") -> str:
    """A batch of these documents, or its rehearsal; the batch's id."""
    batch_id = str(uuid_utils.uuid7())
    with deployment.database.connect("cutter_operator") as connection:
        options = batch_rows.Options(mode=mode)
        admitted = batch_rows.admit(
            connection, queue_yaml([{"document_id": name} for name in names], batch_id), options
        )
        batch_rows.register(connection, admitted, options, run_caps={"hard_seconds": 60.0}, starter="olga")
    return batch_id


def test_a_signing_session_leaves_out_a_request_that_the_worker_has_not_put_yet(deployment: Deployment) -> None:
    """The row comes a moment before the document, and there is nothing to read in between."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    deployment.request(run_id, Sovereign.CUT)
    database = deployment.database
    database.run(
        "update cutter_governance.run set batch_id = %s where run_id = %s",
        (batch_id := batch_of(deployment, [deployment.run_row(run_id)["document_id"]]), run_id),
    )
    assert [request.document.request.run_id for request in waiting(deployment.settings, batch_id).asked] == [run_id]
    database.run("update cutter_governance.outbox set done_at = null where kind = 'request'")
    assert waiting(deployment.settings, batch_id).asked == []


def test_a_signing_session_takes_some_of_many_requests_and_counts_the_others(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(3)]
    for run_id in runs:
        deployment.request(run_id, Sovereign.CUT)
    names = [deployment.run_row(run_id)["document_id"] for run_id in runs]
    batch_id = batch_of(deployment, names)
    deployment.database.run("update cutter_governance.run set batch_id = %s", (batch_id,))
    monkeypatch.setattr(limits, "SET_STATEMENTS_MAX", 2)
    session = waiting(deployment.settings, batch_id)
    assert ([request.name for request in session.asked], session.left_out, session.others) == (names[:2], [], 1)
    chosen = waiting(deployment.settings, batch_id, names[2:])
    assert ([request.name for request in chosen.asked], chosen.left_out, chosen.others) == (names[2:], names[:2], 0)


def test_the_first_of_two_people_finds_those_that_nobody_has_signed_first(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first session's documents still wait for the second person, so the next one would take them again."""
    with deployment.database.connect("postgres") as connection, without_triggers(connection):
        connection.execute("""update cutter_governance.policy_epoch set thresholds = '{"SG_cut_authz": 2}'""")
    runs = [drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(2)]
    names = [deployment.run_row(run_id)["document_id"] for run_id in runs]
    batch_id = batch_of(deployment, names)
    deployment.database.run("update cutter_governance.run set batch_id = %s", (batch_id,))
    deployment.request(runs[1], Sovereign.CUT)
    _, verdict = deployment.approve(runs[0], Sovereign.CUT)
    assert verdict.accepted
    monkeypatch.setattr(limits, "SET_STATEMENTS_MAX", 1)
    assert [request.name for request in waiting(deployment.settings, batch_id).asked] == names[1:]


def offered(deployment: Deployment, batch_id: str, by: int, only: Sequence[str] = ()) -> tuple[list[str], int, int]:
    """What the next session offers an approver, how many others it counts, and how many the approver has signed."""
    session = waiting(deployment.settings, batch_id, only, deployment.keys.signing(by))
    return [request.name for request in session.asked], session.others, session.done


def test_a_session_leaves_out_what_its_approver_has_signed(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documents that wait for the second person would otherwise keep the first one from all others."""
    with deployment.database.connect("postgres") as connection, without_triggers(connection):
        connection.execute("""update cutter_governance.policy_epoch set thresholds = '{"SG_cut_authz": 2}'""")
    runs = [drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(2)]
    first, second = names = [deployment.run_row(run_id)["document_id"] for run_id in runs]
    batch_id = batch_of(deployment, names)
    deployment.database.run("update cutter_governance.run set batch_id = %s", (batch_id,))
    monkeypatch.setattr(limits, "SET_STATEMENTS_MAX", 1)
    assert deployment.approve(runs[0], Sovereign.CUT)[1].accepted
    assert deployment.approve(runs[1], Sovereign.CUT, by=1)[1].accepted
    assert offered(deployment, batch_id, 0) == ([second], 0, 1)
    assert offered(deployment, batch_id, 1) == ([first], 0, 1)
    assert offered(deployment, batch_id, 0, [first]) == ([first], 0, 1)
    with deployment.database.connect("postgres") as connection, without_triggers(connection):
        connection.execute("update cutter_governance.approval_verdict set not_after = now()")
    assert offered(deployment, batch_id, 0) == ([first], 1, 0)


def rehearsed(deployment: Deployment, count: int) -> tuple[str, list[str]]:
    """A batch whose documents were rehearsed: its id, and the documents."""
    runs = [drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(count)]
    for run_id in runs:
        deployment.request(run_id, Sovereign.CUT)
    names = [deployment.run_row(run_id)["document_id"] for run_id in runs]
    batch_id = batch_of(deployment, names, "dryrun")
    deployment.database.run(
        "update cutter_governance.run set batch_id = %s, outcome = 'rehearsed'", (f"{batch_id}-dryrun",)
    )
    return batch_id, names


def sign_in_advance(deployment: Deployment, batch_id: str, document_id: str, signer: Signing) -> None:
    signatures = Signatures(settings=deployment.settings, batch_id=batch_id, signer=signer, before=True)
    [asked] = waiting(deployment.settings, batch_id, [document_id]).asked
    list(signatures.sign([signatures.approval(asked)]))


def test_a_session_leaves_out_what_its_approver_has_signed_in_advance(deployment: Deployment) -> None:
    """The first statement about a document has no approver in its name, and the second one has."""
    batch_id, [first, second] = rehearsed(deployment, 2)
    for by in (0, 1):
        assert offered(deployment, batch_id, by) == ([second, first] if by else [first, second], 0, 0)
        sign_in_advance(deployment, batch_id, first, deployment.keys.signing(by))
        assert offered(deployment, batch_id, by) == ([second], 0, 1)


def test_a_session_offers_what_only_another_key_has_signed_in_advance(deployment: Deployment) -> None:
    """Nobody can hide a request from an approver with a statement in the approver's name."""
    batch_id, [name] = rehearsed(deployment, 1)
    forger = replace(deployment.keys.signing(1), approver=deployment.keys.signing(0).approver)
    sign_in_advance(deployment, batch_id, name, forger)
    assert offered(deployment, batch_id, 0) == ([name], 0, 0)


def test_a_copy_of_an_approval_hides_no_other_document(deployment: Deployment) -> None:
    """A writer of the knowledge base can copy a genuine statement to the name of another document."""
    batch_id, names = rehearsed(deployment, 2)
    sign_in_advance(deployment, batch_id, names[0], deployment.keys.signing(0))
    store = Store(deployment.settings.kb)
    own, other = (pre_batched(batch_id, Sovereign.LIFECYCLE.value, name) for name in names)
    for ending in ("", ".asc"):
        put(store, other + ending, store.get(own + ending))
    assert offered(deployment, batch_id, 0) == (names[1:], 0, 1)


def test_an_approval_of_an_earlier_request_hides_no_document(deployment: Deployment) -> None:
    """After a second rehearsal, an approval of the first one opens nothing."""
    batch_id, [name] = rehearsed(deployment, 1)
    sign_in_advance(deployment, batch_id, name, deployment.keys.signing(0))
    assert offered(deployment, batch_id, 0) == ([], 0, 1)
    store = Store(deployment.settings.kb)
    [item] = view_of(deployment.settings, batch_id).items
    other = f"{item.request_kb_id}".removesuffix(".md") + "-again.md"
    put(store, other, store.get(item.request_kb_id or "") + b"\n")
    signer, signed = deployment.keys.signing(0), statements(store, batch_id)
    assert approved_in_advance(store, batch_id, signer, [item], signed) == {name}
    assert approved_in_advance(store, batch_id, signer, [replace(item, request_kb_id=other)], signed) == set()


def test_the_look_for_signatures_ends(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can keep a session from its begin with many statements in its signer's name."""
    batch_id, [name] = rehearsed(deployment, 1)
    sign_in_advance(deployment, batch_id, name, deployment.keys.signing(0))
    sign_in_advance(deployment, batch_id, name, deployment.keys.signing(1))
    assert offered(deployment, batch_id, 1) == ([], 0, 1)
    with monkeypatch.context() as short:
        short.setattr(limits, "SIGNED_LOOK_SECONDS", -1)
        assert offered(deployment, batch_id, 1) == ([name], 0, 0)
    store, own = Store(deployment.settings.kb), pre_batched(batch_id, Sovereign.LIFECYCLE.value, name)
    for age, expected in (("00000000", ([], 0, 1)), ("ffffffff", ([name], 0, 0))):
        for number in range(limits.SIGNED_LOOK_STATEMENTS):
            for ending in (".md", ".md.asc"):
                forged = f"{deployment.keys.signing(1).approver}-{age}-{number}"
                put(store, f"{own.removesuffix('.md')}.{forged}{ending}", b"x")
        assert offered(deployment, batch_id, 1) == expected


def test_after_a_rehearsal_the_documents_with_the_fewest_signatures_come_first(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signature in advance changes no document, so the next session would take the same ones again."""
    runs = [drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(2)]
    for run_id in runs:
        deployment.request(run_id, Sovereign.CUT)
    first, second = names = [deployment.run_row(run_id)["document_id"] for run_id in runs]
    batch_id = batch_of(deployment, names, "dryrun")
    deployment.database.run(
        "update cutter_governance.run set batch_id = %s, outcome = 'rehearsed'", (f"{batch_id}-dryrun",)
    )
    monkeypatch.setattr(limits, "SET_STATEMENTS_MAX", 1)
    assert [request.name for request in waiting(deployment.settings, batch_id).asked] == [first]
    signed = pre_batched(batch_id, Sovereign.LIFECYCLE.value, first)
    for name in (signed, f"{signed}.asc"):
        put(Store(deployment.settings.kb), name, b"x")
    assert [request.name for request in waiting(deployment.settings, batch_id).asked] == [second]


def test_a_set_that_is_judged_again_takes_what_a_killed_worker_had_judged(deployment: Deployment) -> None:
    """Its verdicts are in the database, but the batch has not heard of them, and hands over what the answer names."""
    runs = [drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(3)]
    names = [deployment.run_row(run_id)["document_id"] for run_id in runs]
    batch_id = batch_of(deployment, names)
    deployment.database.run("update cutter_governance.run set batch_id = %s", (batch_id,))
    folder, who = f"knowledge/dev/batches/{batch_id}/a-set", deployment.keys.signing()
    for run_id, name in zip(runs, names, strict=True):
        request = deployment.request(run_id, Sovereign.CUT)
        if name != names[2]:
            sign_answer(deployment.settings, who, run_id, request, kb_id=f"{folder}/{name}.cut.md")
    order = SetInput(batch_id=batch_id, folder=folder)
    deployment.judge(runs[0], Sovereign.CUT, f"{folder}/{names[0]}.cut.md")
    answer = judge_set(deployment.deps[WorkerRole.CUTTER], order)
    assert [(entry.document_id, entry.accepted) for entry in answer.entries] == [(names[0], True), (names[1], True)]
    assert answer.missing == (names[2],)
    # A set of the last document does not miss those that are approved already.
    sign_answer(deployment.settings, who, runs[2], request, kb_id=f"{folder}-2/{names[2]}.cut.md")
    assert judge_set(deployment.deps[WorkerRole.CUTTER], replace(order, folder=f"{folder}-2")).missing == ()


def test_a_look_at_a_batch_makes_its_view_once(deployment: Deployment) -> None:
    names = [deployment.register(law(2), document_id=f"ICX-{n}") for n in (1, 2, 3)]
    batch_id = batch_of(deployment, names)
    with deployment.database.connect("postgres") as connection:
        connection.execute("set track_functions = 'all'")
        row = connection.execute("select cutter_governance.fn_batch_seen(%s)", (batch_id,)).fetchone()
        assert row is not None
        assert [item["document_id"] for item in row[0]["items"]] == names
        assert connection.execute(CALLS, ("fn_batch_view",)).fetchone() == (1,)


def test_a_look_counts_the_people_only_of_a_request_that_somebody_approved(deployment: Deployment) -> None:
    """To count them is the costliest part of an item, and a queue may have thousands of items."""
    runs = [drive(deployment, law(2), until="IG_grant_probe").run_id for _ in range(2)]
    names = [deployment.run_row(run_id)["document_id"] for run_id in runs]
    batch_id = batch_of(deployment, [*names, deployment.register(law(2), document_id="ICX-LAST")])
    deployment.database.run("update cutter_governance.run set batch_id = %s", (batch_id,))
    for run_id in runs:
        deployment.request(run_id, Sovereign.CUT)
    assert deployment.approve(runs[0], Sovereign.CUT)[1].accepted
    with deployment.database.connect("postgres") as connection:
        connection.execute("set track_functions = 'all'")
        row = connection.execute("select cutter_governance.fn_batch_view(%s)", (batch_id,)).fetchone()
        assert row is not None
        assert [(item["signed"], item["approved"]) for item in row[0]["items"]] == [(1, True), (0, False), (0, False)]
        assert connection.execute(CALLS, ("fn_people_signed",)).fetchone() == (1,)


@pytest.mark.parametrize(
    ("gate", "until", "surveys"), [(Sovereign.CUT, "IG_grant_probe", 1), (Sovereign.LIFECYCLE, "IG_write_verify", 2)]
)
def test_a_request_surveys_again_only_after_its_own_decision(
    deployment: Deployment, gate: Sovereign, until: str, surveys: int
) -> None:
    run_id = drive(deployment, law(2), until=until).run_id
    asking: LiteralString = "select cutter_governance.fn_request_open(%s, %s, 600, gen_random_uuid()) ->> 'status'"
    with deployment.database.connect("postgres") as connection:
        connection.execute("set track_functions = 'all'")
        assert connection.execute(asking, (run_id, gate.value)).fetchone() == ("opened",)
        assert connection.execute(CALLS, ("fn_survey",)).fetchone() == (surveys,)


def test_a_second_probe_reads_no_privilege(database: Database) -> None:
    matrix: LiteralString = "select cutter_governance.fn_grant_matrix(%(roles)s, %(verbs)s, %(schemas)s)"
    with database.connect("cutter_read") as connection:
        first = connection.execute(matrix, grants_asked()).fetchone()
        connection.commit()
    with database.connect("postgres") as connection:
        connection.execute("set track_functions = 'all'")
        assert connection.execute(matrix, grants_asked()).fetchone() == first
        assert connection.execute(CALLS, ("fn_grant_matrix_read",)).fetchone() is None


def test_a_worker_that_publishes_nothing_writes_no_folder_of_a_run_on_its_way(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_mark").run_id
    assert publish(deployment.deps[WorkerRole.CUTTER], Role.READ, run_id) == {}
    assert not (deployment.settings.runs / run_id).exists()
