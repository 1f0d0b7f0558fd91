"""After a scrub has found a difference, no gate changes law, until people have dealt with it. Then a run goes on with a
backup that does not need the damaged segment.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from activities.gates.backup import refresh_backup
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.backup.segments.scrub import again
from cutter.catalogue import Sovereign, WorkerRole
from cutter.messages import GateInput
from tests.cases.tampering import quiet
from tests.integration.backup.segment_rig import Laws, laws
from tests.support import runs
from tests.support.database import TestCluster

LEG_A = "IG_cut_leg_a_execute"


@pytest.fixture
def world(cluster: TestCluster, keys: runs.Keys) -> Iterator[Laws]:
    with laws(cluster, keys) as made:
        yield made


TABLES = {
    "public.information_unit": "update public.information_unit u set owner_ref = {} where starts_with({}, %s)",
    "public.iu_lifecycle_log": "update public.iu_lifecycle_log l set actor = {} from public.information_unit u"
    " where u.id = l.unit_id and starts_with({}, %s)",
}


@contextmanager
def forged(world: Laws, number: int) -> Iterator[str]:
    """Two tables of this law were altered while their triggers were off. Gives the document's id."""
    name = world.driven[number].document_id
    _alter(world, name, "{} || ' forged'")
    yield name
    _alter(world, name, "replace({}, ' forged', '')")


def _alter(world: Laws, name: str, value: str) -> None:
    with closing(world.database.connect("postgres")) as connection:
        for table, edit in TABLES.items():
            column = "u.owner_ref" if "owner_ref" in edit else "l.actor"
            with quiet(connection, table):
                connection.execute(edit.format(value.format(column), "u.canonical_address"), (f"{name}/",))
        connection.commit()


def code(outcome: object) -> RefusalCode:
    assert isinstance(outcome, BackupRefusal), outcome
    return outcome.code


def approved(world: Laws, run_id: str, sovereign: Sovereign) -> str:
    kb_id, verdict = world.made.approve(run_id, sovereign)
    assert verdict.accepted, verdict
    return kb_id


def mended(world: Laws, document: str) -> None:
    with closing(world.database.connect("cutter_backup")) as connection:
        assert again(connection, document)


def resumed(world: Laws, run_id: str) -> None:
    answer = world.database.value("select cutter_governance.fn_run_resume(%s)", (run_id,), role="cutter_read")
    assert answer["status"] == "resumed", answer


def test_a_run_with_a_backup_stops_at_leg_a_and_goes_on_after_the_segment_was_mended(world: Laws) -> None:
    ready = runs.drive(
        world.made, document_id=world.driven[2].document_id, run_id=world.driven[2].run_id, until="IG_grant_probe",
        quick=False,
    )  # fmt: skip
    approval = approved(world, ready.run_id, Sovereign.CUT)
    with forged(world, 0) as name:
        report = world.scrub()
        tables = "public.information_unit, public.iu_lifecycle_log"
        problem = f"its live rows differ from its segment in {tables}, although no change was counted"
        assert report.problems == {name: problem}
        outcome = world.made.gate(LEG_A, ready.run_id, [approval])
        assert (outcome.status, outcome.code, outcome.state) == (
            "backup_damaged", "segment_damaged", "stopped_unavailable_segment",
        )  # fmt: skip
        assert outcome.reason == f"{name}: {problem}; find the cause, then type `cutter backup again DOCUMENT`"
        assert world.made.run_row(ready.run_id)["state"] == "stopped_unavailable_segment"
        assert code(world.take("damaged.gpg")) is RefusalCode.SEGMENT_DAMAGED
    world.database.value("select pg_sleep(1)")  # A backup says its time in whole seconds.
    mended(world, name)
    resumed(world, ready.run_id)
    outcome = world.made.gate(LEG_A, ready.run_id, [approval])
    assert (outcome.status, outcome.reason) == ("backup_stale", "a damaged segment was given up after the backup")
    assert refresh_backup(world.made.deps[WorkerRole.CUTTER], GateInput(run_id=ready.run_id)).status == "passed"
    assert name not in world.uncovered(), "the new backup holds the document again"
    assert world.made.gate(LEG_A, ready.run_id, [approval]).status == "passed"


def test_a_gate_that_must_take_a_backup_stops_and_does_not_fail(world: Laws) -> None:
    run = runs.drive(world.made, runs.law(2), until="IG_cutplan", quick=False)
    with forged(world, 1) as name:
        assert list(world.scrub().problems) == [name]
        outcome = world.made.gate("IG_backup", run.run_id)
        assert (outcome.status, outcome.state) == ("backup_damaged", "stopped_unavailable_segment")
        assert outcome.reason.startswith(f"{name}: its live rows differ")
    assert not world.scrub().problems, "the rows are again those of the segment"
    resumed(world, run.run_id)
    assert world.made.gate("IG_backup", run.run_id).status == "passed"
