"""Caps of tenants (seed 003 §3.4), decided by the database in the transaction that makes a run."""

from __future__ import annotations

import json
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from activities.batch import advance as batch_steer
from activities.run import course
from cutter.catalogue import WorkerRole
from cutter.errors import Refused
from cutter.evidence import audit
from cutter.messages import SteerInput
from cutter.storage import batch_views
from cutter.storage import batches as batch_rows
from cutter.storage import runs as run_rows
from cutter.storage.runs import mint_run_id
from cutter.types import Json
from starter import cli
from starter.commands.audit import exported
from starter.commands.tenants import look
from tests.support.batch import queue_yaml
from tests.support.gate_calls import meanwhile, one
from tests.support.runs import Deployment, drive, law

REGISTER = "select cutter_governance.fn_run_register(%s, %s, 'live', 'olga', '{}', null, %s)"
MAKE = "select cutter_governance.fn_run_make(%s, %s, 'live', 'olga', '{}', null, %s, null)"
SET = "select cutter_governance.fn_tenant_set(%s, %s, %s, 'olga')"
OPERATOR = "cutter_operator"


def caps(deployment: Deployment, tenant: str = "north", workflow: str = "any", **numbers: int | None) -> Json:
    made: Json = deployment.database.value(SET, (tenant, workflow, Jsonb(numbers)), role=OPERATOR)
    return made


def documents(deployment: Deployment, count: int, tenant: str = "north") -> list[str]:
    deployment.settings = deployment.settings.model_copy(update={"tenant": tenant})
    return [deployment.register(law(2)) for _ in range(count)]


def start(deployment: Deployment, document_id: str, batch_id: str | None = None) -> Json:
    if batch_id:
        # As the batch makes it (fn_batch_item_start), which nobody else may.
        made: Json = deployment.database.value(MAKE, (mint_run_id(), document_id, batch_id))
        return made
    answer: Json = deployment.database.value(REGISTER, (mint_run_id(), document_id, None), role=OPERATOR)
    return answer


def move(deployment: Deployment, run_id: str, state: str) -> None:
    deployment.database.value("select cutter_governance.fn_run_move(%s, %s, 'a test')", (run_id, state))


def test_without_a_cap_every_run_begins(deployment: Deployment) -> None:
    caps(deployment, "south", max_concurrency=1, max_runs_per_min=1)
    assert {start(deployment, document)["status"] for document in documents(deployment, 4)} == {"registered"}


@pytest.mark.parametrize("state", ["awaiting_cut_authorization", "stopped_stop", "failed_mark", "voided_cancelled"])
def test_max_concurrency_counts_what_is_at_work_and_not_what_waits_for_people_or_is_over(
    deployment: Deployment, state: str
) -> None:
    """Seed 003 §3.4."""
    caps(deployment, max_concurrency=2)
    first, second, third = documents(deployment, 3)
    run_id = start(deployment, first)["run_id"]
    start(deployment, second)
    refused = start(deployment, third)
    assert (refused["status"], refused["code"]) == ("waits", "STOP_TENANT_CONCURRENCY")
    assert (refused["at_work"], refused["max_concurrency"], refused["again_utc"]) == (2, 2, None)
    assert deployment.database.value("select count(*) from cutter_governance.run") == 2
    move(deployment, run_id, state)
    assert start(deployment, third)["status"] == "registered"


def test_max_runs_per_min_counts_single_runs_and_those_of_batches_and_says_when_there_is_room(
    deployment: Deployment,
) -> None:
    """Seed 003 §3.4."""
    caps(deployment, max_runs_per_min=2)
    first, second, third = documents(deployment, 3)
    run_id = start(deployment, first)["run_id"]
    move(deployment, run_id, "failed_mark")
    start(deployment, second, batch_id="a batch")
    for batch_id in (None, "a batch"):
        refused = start(deployment, third, batch_id)
        assert (refused["status"], refused["code"], refused["last_minute"]) == ("waits", "STOP_TENANT_RATE", 2)
    again = (
        "select extract(epoch from %s::timestamptz - created_at)::float from cutter_governance.run where run_id = %s"
    )
    assert 60 <= deployment.database.value(again, (refused["again_utc"], run_id)) <= 61
    minute = "update cutter_governance.run set created_at = created_at - interval '1 minute' where run_id = %s"
    deployment.database.run(minute, (run_id,))
    assert start(deployment, third)["status"] == "registered"


def test_who_starts_a_run_is_told_which_cap_and_when_to_try_again(deployment: Deployment) -> None:
    caps(deployment, max_concurrency=1, max_runs_per_min=2)
    first, second, third = documents(deployment, 3)
    run_id = run_rows.register_run(deployment.settings, first, "live")
    sentence = (
        "tenant north has 1 of 1 runs at work .max_concurrency.: type the same command again when one of them has "
        "ended or waits for a person; see `cutter tenants`"
    )
    with pytest.raises(Refused, match=sentence) as caught:
        run_rows.register_run(deployment.settings, second, "live")
    assert caught.value.code == "STOP_TENANT_CONCURRENCY"
    move(deployment, run_id, "awaiting_cut_authorization")
    deployment.begin(second)
    move(deployment, deployment.database.value("select max(run_id) from cutter_governance.run"), "stopped_stop")
    with pytest.raises(Refused, match=r"began 2 of 2 .*: type the same command again at 20\d\d-.*Z; see") as refused:
        deployment.begin(third)
    assert refused.value.code == "STOP_TENANT_RATE"


def test_a_document_that_has_an_open_run_is_told_so_before_any_cap(deployment: Deployment) -> None:
    caps(deployment, max_concurrency=1)
    (document_id,) = documents(deployment, 1)
    started = start(deployment, document_id)
    assert start(deployment, document_id)["status"] == "busy"
    answer = deployment.database.value(REGISTER, (started["run_id"], document_id, None), role=OPERATOR)
    assert answer["status"] == "registered", "a run that is there already takes no place"


@pytest.mark.parametrize("cap", ["max_concurrency", "max_runs_per_min"])
def test_of_two_registrations_at_once_only_one_takes_the_last_place(deployment: Deployment, cap: str) -> None:
    """Seed 003 §3.4."""
    caps(deployment, **{cap: 1})
    document_ids = documents(deployment, 2)
    first, second = (deployment.database.connect(OPERATOR) for _ in range(2))
    assert one(first, REGISTER, (mint_run_id(), document_ids[0], None))["status"] == "registered"
    ask = (mint_run_id(), document_ids[1], None)
    with meanwhile(second, lambda: one(second, REGISTER, ask)) as future:
        first.commit()
    assert future.result()["status"] == "waits"


def test_the_same_run_at_once_is_one_run_also_in_the_last_place(deployment: Deployment) -> None:
    caps(deployment, max_concurrency=1)
    (document_id,) = documents(deployment, 1)
    first, second = (deployment.database.connect(OPERATOR) for _ in range(2))
    ask = (mint_run_id(), document_id, None)
    made = one(first, REGISTER, ask)
    with meanwhile(second, lambda: one(second, REGISTER, ask)) as future:
        first.commit()
    assert future.result() == made


def test_an_override_holds_for_its_workflow_instead_of_the_tenant_s_own_number(deployment: Deployment) -> None:
    """Seed 003 §3.4."""
    caps(deployment, max_concurrency=1, weight=3)
    caps(deployment, workflow="batch", max_concurrency=2)
    first, second, third = documents(deployment, 3)
    assert start(deployment, first)["status"] == "registered"
    assert start(deployment, second)["status"] == "waits"
    assert start(deployment, second, "a batch")["status"] == "registered"
    assert start(deployment, third, "a batch")["status"] == "waits"
    (tenant,) = look(deployment.settings)
    assert (tenant.document.max_concurrency, tenant.batch.max_concurrency) == (1, 2)
    assert (tenant.document.weight, tenant.batch.weight) == (3, 3)


@pytest.mark.parametrize("workflow", ["any", "document"])
def test_over_max_writes_per_run_a_run_fails_at_cutplan_before_anybody_is_asked(
    deployment: Deployment, workflow: str
) -> None:
    """Seed 003 §3.4."""
    documents(deployment, 0)
    caps(deployment, workflow=workflow, max_writes_per_run=2)
    driven = drive(deployment, law(3), until="IG_mark")
    outcome = deployment.gate("IG_cutplan", driven.run_id)
    assert (outcome.status, outcome.code) == ("failed", "within_max_writes_per_run")
    assert outcome.reason == "within_max_writes_per_run: observed 3 units, expected at most 2: see `cutter tenants`"
    run = deployment.run_row(driven.run_id)
    assert (run["state"], course.code_of(run["last_error"])) == ("failed_cutplan", "within_max_writes_per_run")
    assert deployment.database.value("select count(*) from cutter_governance.approval_request") == 0
    caps(deployment, workflow=workflow, max_writes_per_run=3)
    assert deployment.gate("IG_cutplan", drive(deployment, law(3), until="IG_mark").run_id).status == "passed"


def test_an_item_over_its_tenant_s_cap_waits_while_other_tenants_take_its_lanes(deployment: Deployment) -> None:
    """Seed 003 §3.4."""
    caps(deployment, max_concurrency=1)
    north, south = documents(deployment, 3), documents(deployment, 2, "south")
    batch_id = batch(deployment, [*north, *south], lanes=3)
    step = steer(deployment, batch_id)
    assert [start.document_id for start in step.starts] == [north[0], *south]
    assert step.totals == {"pending": 2, "planning": 3}
    move(deployment, step.starts[0].run_id, "failed_mark")
    step = steer(deployment, batch_id)
    assert [start.document_id for start in step.starts] == [north[1]]
    assert {item["decided"] for item in view(deployment, batch_id)["items"]} == {None}


def test_a_signature_that_takes_in_a_failed_item_is_used_when_there_is_room_and_not_before(
    deployment: Deployment,
) -> None:
    first, second = documents(deployment, 2)
    batch_id = batch(deployment, [first])
    (failed,) = steer(deployment, batch_id).starts
    move(deployment, failed.run_id, "failed_mark")
    assert deployment.order(failed.run_id, "include_failed").accepted
    other = start(deployment, second)["run_id"]
    caps(deployment, max_concurrency=1)
    used = "select count(*) from cutter_governance.order_consumption"
    assert (steer(deployment, batch_id).starts, deployment.database.value(used)) == ((), 0)
    move(deployment, other, "failed_mark")
    assert len(steer(deployment, batch_id).starts) == 1
    assert deployment.database.value(used) == 1


def test_an_item_whose_place_was_taken_meanwhile_stays_pending(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the start another run began: the start itself finds no room."""
    caps(deployment, max_concurrency=1)
    first, second = documents(deployment, 2)
    batch_id = batch(deployment, [first])
    start(deployment, second)
    monkeypatch.setattr(batch_views, "ROOMS", SimpleNamespace(all=lambda *_: []))
    step = steer(deployment, batch_id)
    assert (step.starts, step.totals, step.over) == ((), {"pending": 1}, False)


def test_the_weights_of_a_batch_are_those_of_its_registration(deployment: Deployment) -> None:
    caps(deployment, weight=2)
    north, south = documents(deployment, 6), documents(deployment, 6, "south")
    batch_id = batch(deployment, [*south, *north], lanes=3)
    caps(deployment, weight=1)
    begun = [start.document_id for start in steer(deployment, batch_id).starts]
    assert (len(set(begun) & set(north)), len(set(begun) & set(south))) == (2, 1)


def test_a_change_of_caps_is_on_the_audit_chain_with_what_was_before(deployment: Deployment) -> None:
    caps(deployment, max_concurrency=4, weight=2)
    made = caps(deployment, max_concurrency=None, max_runs_per_min=9)
    assert (made["weight"], made["max_concurrency"], made["max_runs_per_min"]) == (2, None, 9)
    caps(deployment, weight=None, max_runs_per_min=None)
    assert deployment.database.value("select count(*) from cutter_governance.tenant_cap") == 0
    bodies = deployment.database.value(
        "select array_agg(body order by seq) from cutter_governance.audit_event where chain = 'tenants'"
    )
    events = [json.loads(body) for body in bodies]
    assert [(event["before"]["max_concurrency"], event["after"]["max_concurrency"]) for event in events] == [
        (None, 4), (4, None), (None, None),
    ]  # fmt: skip
    assert {(event["by"], event["session"]) for event in events} == {("olga", OPERATOR)}
    assert audit.verify(exported(deployment.settings, None)).problems == ()


@pytest.mark.parametrize(
    ("tenant", "workflow", "numbers"),
    [
        ("north", "any", {"weight": 0}), ("north", "any", {"weight": 1001}), ("north", "any", {"max_concurrency": 0}),
        ("north", "any", {"max_runs_per_min": -1}), ("north", "any", {"max_writes_per_run": 0}),
        ("north", "void", {"weight": 1}), ("the north", "any", {"weight": 1}), ("", "any", {"weight": 1}),
    ],
)  # fmt: skip
def test_the_database_refuses_a_number_or_a_name_that_makes_no_sense(
    deployment: Deployment, tenant: str, workflow: str, numbers: Json
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        caps(deployment, tenant, workflow, **numbers)


@pytest.mark.parametrize("role", ["cutter_read", "cutter_exec", "cutter_verify", "cutter_backup"])
def test_no_worker_sets_caps(deployment: Deployment, role: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        deployment.database.value(SET, ("north", "any", Jsonb({"weight": 9})), role=role)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        deployment.database.run("update cutter_governance.tenant_cap set weight = 9", role=role)


def test_the_command_sets_and_shows_them(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = deployment.settings
    monkeypatch.setenv("CUTTER_STATE_DIR", str(settings.state_dir))
    monkeypatch.setenv("CUTTER_DATABASE_URL", str(settings.database_url))
    monkeypatch.setenv("CUTTER_SECRETS_DIR", str(settings.secrets))
    assert cli.run(["tenants"]) == 0
    assert "no tenants yet" in capsys.readouterr().out
    assert cli.run(["tenants", "set", "north", "--max-concurrency", "4", "--weight", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["max_concurrency"] == 4
    assert cli.run(["tenants", "set", "north", "--max-concurrency", "9", "--workflow", "batch"]) == 0
    start(deployment, documents(deployment, 1)[0])
    capsys.readouterr()
    assert cli.run(["tenants"]) == 0
    assert " ".join(capsys.readouterr().out.splitlines()[1].split()) == "north 2 1 of 4 (in batches 9) 1"
    assert cli.run(["status"]) == 0
    assert "1 of 4 (in batches 9)" in capsys.readouterr().out
    assert cli.run(["status", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["tenants"]
    assert (shown["tenant"], shown["document"]["room"], shown["batch"]["room"]) == ("north", 3, 8)
    for wrong in (
        ["north"], ["the north", "--weight", "1"], ["north", "--weight", "0"], ["north", "--weight", "1001"],
        ["north", "--max-concurrency", "many"], ["north", "--weight", "1", "--workflow", "void"],
    ):  # fmt: skip
        assert cli.run(["tenants", "set", *wrong]) == 2


def batch(deployment: Deployment, document_ids: list[str], lanes: int = 4) -> str:
    data = queue_yaml([{"document_id": name} for name in document_ids])
    with deployment.database.connect(OPERATOR) as connection:
        options = batch_rows.Options(lanes=lanes)
        admission = batch_rows.admit(connection, data, options)
        batch_id, _ = batch_rows.register(
            connection, admission, options, run_caps={"hard_seconds": 60.0}, starter="olga"
        )
    return batch_id


def view(deployment: Deployment, batch_id: str) -> Json:
    with deployment.database.connect(OPERATOR) as connection:
        return asdict(batch_views.view(connection, batch_id))


def steer(deployment: Deployment, batch_id: str) -> Any:
    return batch_steer.steer_batch(deployment.deps[WorkerRole.CUTTER], SteerInput(batch_id=batch_id))
