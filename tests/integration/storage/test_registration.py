"""fn_run_register and who calls it: one open live run a document, named to whoever asks for a second."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import psycopg
import pytest
import uuid_utils

from activities.run.course import begin_run
from cutter.batch.queue import QueueRefused
from cutter.catalogue import WorkerRole
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, Refused
from cutter.messages import BeginInput, Mode, RunInput
from cutter.storage import batches as batch_rows
from cutter.storage import runs as run_rows
from cutter.storage.runs import caps_of, mint_run_id
from cutter.types import Json
from tests.support.batch import queue_yaml
from tests.support.gate_calls import meanwhile, one
from tests.support.runs import Deployment, drive, law, next_epoch

REGISTER = "select cutter_governance.fn_run_register(%s, %s, %s, 'olga', '{}', %s)"


def register(deployment: Deployment, document_id: str, *, mode: str = "live", execution: str | None = None) -> Json:
    answer: Json = deployment.database.value(
        REGISTER, (mint_run_id(), document_id, mode, execution), role="cutter_operator"
    )
    return answer


def test_a_second_live_run_of_a_document_is_not_registered_and_the_open_one_is_named(deployment: Deployment) -> None:
    """Seed 000 §7."""
    first = drive(deployment, law(2), until="IG_source_pin")
    answer = register(deployment, first.document_id)
    assert (answer["status"], answer["run_id"], answer["state"]) == ("busy", first.run_id, "source_pinned")
    assert register(deployment, first.document_id, execution="foreign")["status"] == "busy"
    problem = f"{first.document_id} has the open run {first.run_id} .source_pinned.: see `cutter status {first.run_id}`"
    with pytest.raises(Refused, match=problem) as caught:
        deployment.begin(first.document_id)
    assert caught.value.code == "STOP_RUN_BUSY"
    with pytest.raises(Refused, match=problem):
        run_rows.register_run(deployment.settings, first.document_id, "live")
    made = "select count(*) from cutter_governance.run where document_id = %s"
    assert deployment.database.value(made, (first.document_id,)) == 1


def test_a_stopped_run_is_open_and_an_ended_one_makes_room(deployment: Deployment) -> None:
    run_id = deployment.begin(deployment.register(law(2)))
    document_id = deployment.run_row(run_id)["document_id"]
    move = "select cutter_governance.fn_run_move(%s, %s, 'a test')"
    deployment.database.value(move, (run_id, "stopped_terminated"))
    assert register(deployment, document_id)["state"] == "stopped_terminated"
    deployment.database.value(move, (run_id, "failed_mark"))
    assert register(deployment, document_id)["status"] == "registered"


def test_a_run_that_its_batch_has_not_made_is_none_of_it(deployment: Deployment) -> None:
    """What was signed for a batch would else be for whoever starts a workflow that names it."""
    document_id = deployment.register(law(2))
    start = BeginInput(
        run=RunInput(document_id=document_id, mode="live", starter="mallory", batch_id="b"), first_execution_id="e"
    )
    with pytest.raises(Refused, match="no run of the batch b, which alone begins its runs") as caught:
        begin_run(deployment.deps[WorkerRole.CUTTER], start)
    assert caught.value.code == "STOP_NOT_IN_BATCH"
    assert deployment.database.value("select count(*) from cutter_governance.run") == 0


def test_a_run_says_what_triggered_it_and_one_trigger_starts_one_run(deployment: Deployment) -> None:
    """Seed 003 §1.1: by a person, by Temporal's own client, and in a batch; the database itself refuses a second."""
    first, second, third = (deployment.register(law(2), document_id=f"ICX-{n}") for n in range(3))
    by_hand = register(deployment, first)["run_id"]
    started = register(deployment, second, execution="e1")["run_id"]
    answer = deployment.database.value(
        "select cutter_governance.fn_run_make(%s, %s, 'live', 'olga', '{}', null, 'b', null)", (mint_run_id(), third)
    )
    triggers = {
        run_id: (deployment.run_row(run_id)["trigger_type"], deployment.run_row(run_id)["trigger_ref"])
        for run_id in (by_hand, started, answer["run_id"])
    }
    assert triggers == {
        by_hand: ("command", by_hand), started: ("workflow", "e1"), answer["run_id"]: ("batch", answer["run_id"])
    }  # fmt: skip
    assert register(deployment, second, execution="e1")["run_id"] == started
    with pytest.raises(psycopg.errors.UniqueViolation):
        deployment.database.run(
            "insert into cutter_governance.run (run_id, document_id, mode, starter, first_execution_id)"
            " values (%s, 'ICX-9', 'dryrun', 'olga', 'e1')",
            (mint_run_id(),),
        )


def test_the_same_run_and_the_same_execution_are_found_again(deployment: Deployment) -> None:
    """Seed 003 §1.1."""
    document_id = deployment.register(law(2))
    first = register(deployment, document_id, execution="e1")
    assert register(deployment, document_id, execution="e1") == first
    again = deployment.database.value(REGISTER, (first["run_id"], document_id, "live", None), role="cutter_operator")
    assert again == first


def test_a_rehearsal_is_no_second_live_run(deployment: Deployment) -> None:
    live = drive(deployment, law(2), until="IG_source_pin")
    assert register(deployment, live.document_id, mode="dryrun")["status"] == "registered"
    assert register(deployment, live.document_id, mode="dryrun")["status"] == "registered"


def test_of_two_registrations_at_once_one_is_told_of_the_other(deployment: Deployment) -> None:
    """Seed 000 §7."""
    document_id = deployment.register(law(2))
    first, second = (deployment.database.connect("cutter_operator") for _ in range(2))
    made = one(first, REGISTER, (mint_run_id(), document_id, "live", None))
    ask = (mint_run_id(), document_id, "live", None)
    with meanwhile(second, lambda: one(second, REGISTER, ask)) as future:
        first.commit()
    assert (future.result()["status"], future.result()["run_id"]) == ("busy", made["run_id"])


@pytest.mark.parametrize(("mode", "other"), [("live", "dryrun"), ("dryrun", "live"), ("dryrun", "dryrun")])
def test_a_batch_starts_no_run_beside_an_open_one_whatever_the_modes(
    deployment: Deployment, mode: Mode, other: str
) -> None:
    """One workflow a document: a run that could not have it would keep its lane and its batch for ever."""
    early, late = (deployment.register(law(2)) for _ in range(2))
    held = register(deployment, early, mode=other)["run_id"]
    batch_id = str(uuid_utils.uuid7()) + ("-dryrun" if mode == "dryrun" else "")
    with deployment.database.connect("cutter_operator") as connection:
        data = queue_yaml([{"document_id": name} for name in (early, late)], batch_id[:36])
        options = batch_rows.Options(mode=mode)
        admitted = batch_rows.admit(connection, data, options)
        batch_rows.register(connection, admitted, options, run_caps={"hard_seconds": 60.0}, starter="olga")
    assert [row.decided for row in admitted.rows] == ["busy", None]
    assert held in str(admitted.rows[0].reason)
    opened = register(deployment, late, mode=other)["run_id"]
    start = "select cutter_governance.fn_batch_item_start(%s, %s, %s, 'olga')"
    refused = deployment.database.value(start, (batch_id, late, mint_run_id()), role="cutter_read")
    assert (refused["status"], refused["run_id"]) == ("busy", opened)
    deployment.database.value("select cutter_governance.fn_run_move(%s, 'voided_cancelled', 'a test')", (opened,))
    made = deployment.database.value(start, (batch_id, late, mint_run_id()), role="cutter_read")
    assert made["status"] == "registered"
    answer = deployment.database.value(start, (batch_id, late, mint_run_id()), role="cutter_read")
    assert (answer["status"], answer["run_id"]) == ("found", made["run_id"])


@pytest.mark.parametrize(
    ("column", "index"), [("docprefix", "run_active_docprefix"), ("document_id", "run_active_document")]
)
def test_the_tables_own_indexes_hold_one_live_run(deployment: Deployment, column: str, index: str) -> None:
    """Seed 001 §5."""
    first = drive(deployment, law(2), until="IG_source_pin")
    values = {"document_id": "ICX-ANOTHER", "docprefix": "ICX-ANOTHER", column: first.document_id}
    insert = """
        insert into cutter_governance.run (run_id, document_id, docprefix, mode, starter)
        values (%s, %s, %s, 'live', 'x')
    """
    with pytest.raises(psycopg.errors.UniqueViolation, match=index):
        deployment.database.run(insert, (mint_run_id(), values["document_id"], values["docprefix"]))


def test_a_batch_is_made_once_and_another_queue_under_its_id_is_refused_with_both_hashes(
    deployment: Deployment,
) -> None:
    """Seed 002 "Execution Command Boundary": the same key and payload find what is there, another payload nothing."""
    items = [{"document_id": deployment.register(law(2))} for _ in range(2)]
    batch_id = str(uuid_utils.uuid7())

    def made(data: bytes) -> tuple[str, bool]:
        with deployment.database.connect("cutter_operator") as connection:
            options = batch_rows.Options()
            admitted = batch_rows.admit(connection, data, options)
            return batch_rows.register(connection, admitted, options, run_caps={"hard_seconds": 60.0}, starter="olga")

    first, other = queue_yaml(items, batch_id), queue_yaml(items[:1], batch_id)
    assert [made(first), made(first)] == [(batch_id, True), (batch_id, False)]
    with pytest.raises(Conflict) as caught:
        made(other)
    assert caught.value.code == "STOP_BATCH_CONFLICT"
    assert all(sha256_hex(data)[:16] in str(caught.value) for data in (first, other))
    assert deployment.database.value("select count(*) from cutter_governance.batch_item") == 2


def test_a_resume_of_a_batch_does_not_check_its_approvers_again(deployment: Deployment, tmp_path: Path) -> None:
    """Seed 001 §9: an approver who left since the registration does not end the batch."""
    deployment.register(law(2), document_id="ICX-1")
    options, caps = batch_rows.Options(), asdict(caps_of(deployment.settings))
    queue = queue_yaml([{"document_id": "ICX-1", "actor": "bob"}])
    with deployment.database.connect("cutter_operator") as connection:
        admission = batch_rows.admit(connection, queue, options)
        assert batch_rows.register(connection, admission, options, run_caps=caps, starter="olga")[1]
        connection.commit()
        next_epoch(deployment, tmp_path / "approvers", people=1)
        again = batch_rows.admit(connection, queue, options)
        assert batch_rows.register(connection, again, options, run_caps=caps, starter="olga")[1] is False
        connection.commit()
        with pytest.raises(QueueRefused, match="bob is no approver"):
            batch_rows.admit(connection, queue + b"# changed\n", options)
