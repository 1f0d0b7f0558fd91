"""The database refuses everything about a revision that was not approved on this base, whatever its worker does."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.living_law.conftest import At
from tests.support import gate_calls as gates
from tests.support.runs import Deployment, drive

LEG_A, ENACT = "IG_cut_leg_a_execute", "IG_lifecycle_enact_execute"
THIRD = "# Part One\n\nAnother preamble.\n"


def test_the_approved_rows_of_a_revision_commit(at_revision: At) -> None:
    connection = at_revision.connect()
    number = at_revision.opened(connection, LEG_A)
    answers = at_revision.revise(connection)
    assert sorted(answers) == ["created", "created", "kept", "kept", "kept", "repealed", "repealed", "revised"]
    assert at_revision.close(connection, LEG_A, number)["status"] == "sealed"
    connection.commit()


@pytest.mark.parametrize(
    "change", [{"body": "## Revised\n\nA forged rule."}, {"title": "Forged"}, {"owner": "government"}]
)
def test_leg_a_commits_no_rows_but_the_approved_ones(at_revision: At, change: dict[str, str]) -> None:
    connection = at_revision.connect()
    number = at_revision.opened(connection, LEG_A)
    at_revision.revise(connection, **change)
    assert at_revision.close(connection, LEG_A, number)["status"] == "sealed"
    with pytest.raises(psycopg.Error, match="do not digest to what was approved"):
        connection.commit()


def test_leg_a_writes_no_draft_outside_the_plan(at_revision: At) -> None:
    connection = at_revision.connect()
    number = at_revision.opened(connection, LEG_A)
    at_revision.revise(connection)
    more = "select public.fn_iu_create(%s, 'More', 'More.', 'x', 'law_unit', 'article', 'legislature') ->> 'status'"
    assert gates.one(connection, more, (at_revision.address("MORE"),)) == "created"
    assert at_revision.close(connection, LEG_A, number, {"units_created": 3})["status"] == "sealed"
    with pytest.raises(psycopg.Error, match="a draft is not in the plan"):
        connection.commit()


def test_a_unit_that_is_not_in_force_is_not_kept(at_revision: At) -> None:
    connection = at_revision.connect()
    at_revision.opened(connection, LEG_A)
    planned = (at_revision.run_id, [1], [at_revision.address("NOWHERE")])
    assert gates.one(connection, "select public.fn_iu_keep(%s, %s, %s)", planned) == "refused_not_in_base"


def test_a_row_is_planned_only_for_the_run_whose_leg_a_is_open(at_revision: At) -> None:
    base, address = at_revision.database.value(
        "select array[r.base_run_id, u.canonical_address] from cutter_governance.run r join public.information_unit u"
        " on starts_with(u.canonical_address, r.docprefix || '/') where r.run_id = %s limit 1",
        (at_revision.run_id,),
    )
    connection = at_revision.connect()
    at_revision.opened(connection, LEG_A)
    with pytest.raises(psycopg.Error, match="of its run is open in this transaction") as refused:
        connection.execute("select public.fn_iu_keep(%s, %s, %s)", (base, [1], [address]))
    assert refused.value.sqlstate == "CU007"


def test_an_enactment_is_whole(at_succession: At) -> None:
    """The second survey sees it, and the check at COMMIT sees it too."""
    with at_succession.with_every_grant(ENACT) as connection:
        at_succession.enact(connection, without="PART-ONE/DROPPED")
        connection.execute("reset session authorization")
        digest = at_succession.pins()["writer_digest"]
        problem = (
            "select cutter_governance.fn_revision_problem(r, %s, true) from cutter_governance.run r where run_id = %s"
        )
        assert gates.one(connection, problem, (digest, at_succession.run_id)) == "7 of 8 rows are as planned"


def test_an_enactment_that_misses_a_unit_is_not_sealed(at_succession: At) -> None:
    connection = at_succession.connect()
    number = at_succession.opened(connection, ENACT)
    at_succession.enact(connection, without="PART-ONE/REVISED")
    answer = at_succession.close(connection, ENACT, number, {"units_enacted": 3})
    assert (answer["status"], answer["drift"]["dimension"]) == ("drift", "row_content")


def test_an_enactment_ends_no_version_that_its_change_set_does_not_end(at_succession: At) -> None:
    ended = (
        "update public.unit_version v set lifecycle_status = 'superseded', effective_until = effective_from,"
        " ended_at = now(), ended_by = (select change_set_id from cutter_governance.cut_change_set where run_id = %s)"
        " from public.information_unit u where u.id = v.unit_id and u.canonical_address = %s"
        " and v.lifecycle_status = 'enacted'"
    )
    with at_succession.with_every_grant(ENACT) as connection:
        connection.execute("savepoint before_the_end")
        with pytest.raises(psycopg.Error, match="enacted law is immutable"):
            connection.execute(ended, (at_succession.run_id, at_succession.address("PART-ONE/KEPT")))
        connection.execute("rollback to savepoint before_the_end")
        at_succession.enact(connection)
        connection.execute("select set_config('app.canonical_writer', 'fn_iu_enact', true)")
        # The change set names this unit, but the version that it shows now has just begun.
        with pytest.raises(psycopg.Error, match="enacted law is immutable"):
            connection.execute(ended, (at_succession.run_id, at_succession.address("PART-ONE/REVISED")))


@pytest.mark.parametrize(
    "change",
    ["body = body || '!'", "title = 'Other'", "content_hash = repeat('0', 64)", "effective_from = '2020-01-01'"],
)
def test_the_text_of_an_ended_version_never_changes(at_succession: At, change: str) -> None:
    with at_succession.with_every_grant(ENACT) as connection, pytest.raises(psycopg.Error, match="law is immutable"):
        connection.execute(
            f"update public.unit_version v set {change}, lifecycle_status = 'superseded',"  # type: ignore[arg-type]
            " effective_until = v.effective_from, ended_at = now(),"
            " ended_by = (select change_set_id from cutter_governance.cut_change_set where run_id = %s)"
            " from public.information_unit u where u.id = v.unit_id and u.canonical_address = %s"
            " and v.lifecycle_status = 'enacted'",
            (at_succession.run_id, at_succession.address("PART-ONE/REVISED")),
        )


def test_a_version_that_ended_never_changes_again(at_succession: At) -> None:
    with at_succession.with_every_grant(ENACT) as connection:
        at_succession.enact(connection)
        connection.execute("select set_config('app.canonical_writer', 'fn_iu_enact', true)")
        with pytest.raises(psycopg.Error, match="enacted law is immutable"):
            connection.execute(
                "update public.unit_version set effective_until = effective_until + 1"
                " where lifecycle_status = 'superseded'"
            )


def test_two_revisions_of_one_base_are_never_both_enacted(deployment: Deployment) -> None:
    """A second run is refused while one is open. This one is open again after another revision was enacted."""
    first = drive(deployment, "# Part One\n\nA preamble.\n")
    deployment.register(THIRD, document_id=first.document_id)
    late = drive(deployment, document_id=first.document_id, until="IG_grant_probe")
    state = "update cutter_governance.run set ended_at = %s where run_id = %s"
    deployment.database.run(state, ("2026-01-01", late.run_id))
    drive(deployment, document_id=first.document_id)
    deployment.database.run(state, (None, late.run_id))
    outcome = deployment.gate(LEG_A, late.run_id)
    assert outcome.status != "passed"
    problem = "select cutter_governance.fn_base_problem(r) from cutter_governance.run r where run_id = %s"
    assert "the base is the law of" in deployment.database.value(problem, (late.run_id,))
    whole = "select cutter_governance.fn_revision_problem(r, %s, false) from cutter_governance.run r where run_id = %s"
    digest = deployment.database.value("select cutter_governance.fn_revision_digest(%s)", (late.run_id,))
    assert "the base is the law of" in deployment.database.value(whole, (digest, late.run_id))


def test_a_base_that_changed_stops_the_run_with_drift_of_the_base(deployment: Deployment) -> None:
    first = drive(deployment, "# Part One\n\nA preamble.\n")
    deployment.register(THIRD, document_id=first.document_id)
    late = drive(deployment, document_id=first.document_id, until="IG_cutplan")
    state = "update cutter_governance.run set ended_at = %s where run_id = %s"
    deployment.database.run(state, ("2026-01-01", late.run_id))
    drive(deployment, document_id=first.document_id)
    deployment.database.run(state, (None, late.run_id))
    outcome = deployment.gate("IG_backup", late.run_id)
    assert (outcome.status, outcome.state) == ("drift", "stopped_drift_base"), outcome
    # As after an acknowledgement: the run expects what the survey finds. The base is still another one.
    connection = deployment.database.connect("postgres")
    connection.execute("set session_replication_role = replica")
    connection.execute(
        "insert into cutter_governance.drift_acknowledgement (run_id, statement_sha256, after_pins, pin_seq)"
        " select %s, 'signed', cutter_governance.fn_survey(%s, %s), nextval('cutter_governance.pin_seq')",
        (late.run_id, late.run_id, first.document_id),
    )
    connection.execute("update cutter_governance.run set state = 'cutplan_ok' where run_id = %s", (late.run_id,))
    connection.commit()
    again = deployment.gate("IG_backup", late.run_id)
    assert (again.status, again.code) == ("drift", outcome.code), again


def test_the_first_gate_cannot_choose_its_base(deployment: Deployment) -> None:
    first = drive(deployment, "# Part One\n\nA preamble.\n")
    deployment.register(THIRD, document_id=first.document_id)
    good = drive(deployment, document_id=first.document_id, until="IG_source_pin")
    pins = deployment.database.value("select cutter_governance.fn_run_pins(%s)", (good.run_id,))
    deployment.database.run("update cutter_governance.run set ended_at = now() where run_id = %s", (good.run_id,))
    other = deployment.begin(first.document_id)
    wrong = ({"base_run_id": good.run_id}, {"base_receipt_hash": "0" * 64}, {"operation_kind": "correction"},
             dict.fromkeys(name for name in pins if name.startswith(("base_", "operation"))))  # fmt: skip
    for change in wrong:
        connection = deployment.database.connect("cutter_read")
        answer = gates.open_gate(connection, "IG_source_pin", other)
        forged = {name: value for name, value in {**pins, **change}.items() if value is not None}
        closed = gates.close_gate(connection, "IG_source_pin", other, int(answer["attempt"]), forged)
        assert (closed["status"], closed["code"]) == ("refused", "pins_not_on_base"), closed
        connection.rollback()


def test_an_approval_of_an_earlier_revision_approves_no_later_one(deployment: Deployment) -> None:
    """The law returns to its first text and changes again: the same two texts, and another base."""
    first_text, second_text = "# Part One\n\nA preamble.\n", THIRD
    first = drive(deployment, first_text)
    driven = []
    for text in (second_text, first_text, second_text):
        deployment.register(text, document_id=first.document_id)
        until = "IG_grant_probe" if len(driven) == 2 else None
        driven.append(drive(deployment, document_id=first.document_id, until=until))
    digests = {
        deployment.database.value("select cutter_governance.fn_run_pins(%s) ->> 'writer_digest'", (run.run_id,))
        for run in driven
    }
    assert len(digests) == 3
    earlier, later = driven[0], driven[2]
    deployment.request(later.run_id, "SG_cut_authz")
    verdict = deployment.judge(later.run_id, "SG_cut_authz", earlier.approvals["SG_cut_authz"])
    assert not verdict.accepted
    outcome = deployment.gate(LEG_A, later.run_id, (earlier.approvals["SG_cut_authz"],))
    assert outcome.status != "passed", outcome
