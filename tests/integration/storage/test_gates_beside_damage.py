"""While the segment of any document is damaged, PostgreSQL opens no gate that changes law, and shares no backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from cutter.storage.backups import NEWEST
from tests.integration.storage.conftest import ENACT, LEG_A, VERIFY, At
from tests.support import gate_calls as gates
from tests.support.database import Connection
from tests.support.runs import Deployment, drive, law

OTHER = "ICX-ANOTHER-LAW"
SAID = "its live rows differ from its segment in public.unit_version, although no change was counted"
DAMAGED = (
    "insert into cutter_governance.backup_coverage (document_id, changes, problem) values (%s, 1, %s)"
    " on conflict (document_id) do update set problem = excluded.problem"
)
AGAIN = "select cutter_governance.fn_backup_again(%s)"
GIVEN_UP = "select given_up_at from cutter_governance.backup_head"


@pytest.mark.parametrize("gate", [LEG_A, ENACT])
def test_a_gate_that_changes_law_stays_shut_until_the_segment_is_dealt_with(
    at_cut: At, at_enact: At, gate: str
) -> None:
    at = at_cut if gate == LEG_A else at_enact
    at.database.run(DAMAGED, (OTHER, SAID))
    connection = at.connect()
    answer = at.open(connection, gate)
    assert {name: answer[name] for name in ("status", "code", "problem")} == {
        "status": "backup_damaged", "code": "segment_damaged", "problem": f"{OTHER}: {SAID}",
    }  # fmt: skip
    connection.rollback()
    consumed = "select count(*) from cutter_governance.approval_consumption where gate = %s"
    sovereign = at.database.value("select sovereign from cutter_governance.gate_catalogue where gate = %s", (gate,))
    assert at.database.value(consumed, (sovereign,)) == 0
    assert at.database.value(AGAIN, (OTHER,), role="cutter_backup") is True
    assert at.open(connection, gate)["status"] == "opened"


@contextmanager
def damage(deployment: Deployment) -> Iterator[None]:
    deployment.database.run(DAMAGED, (OTHER, SAID))
    yield
    deployment.database.run("delete from cutter_governance.backup_coverage where document_id = %s", (OTHER,))


def test_what_leg_a_wrote_is_recorded_and_verified_beside_a_damaged_segment(deployment: Deployment) -> None:
    run = drive(deployment, law(2), until=LEG_A)
    with damage(deployment):
        drive(deployment, document_id=run.document_id, run_id=run.run_id, until=VERIFY)
    assert deployment.run_row(run.run_id)["state"] == "write_verified"


def test_a_rehearsal_beside_a_damaged_segment_writes_nothing_and_may_be_made(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe", mode="dryrun").run_id
    with damage(deployment), closing(deployment.database.connect("cutter_exec")) as connection:
        assert gates.open_gate(connection, LEG_A, run_id, rehearse=True)["status"] == "opened"


@pytest.mark.parametrize(("problem", "every", "noted"), [(SAID, False, True), (SAID, True, True), (None, True, False)])
def test_the_moment_at_which_a_damaged_segment_is_given_up_is_noted(
    at_cut: At, problem: str | None, every: bool, noted: bool
) -> None:
    at_cut.database.run(DAMAGED, (OTHER, problem))
    assert at_cut.database.value(AGAIN, (None if every else OTHER,), role="cutter_backup") is True
    assert (at_cut.database.value(GIVEN_UP) is not None) is noted


@pytest.mark.parametrize("holds_it", [False, True])
def test_a_backup_that_replaces_a_damaged_segment_gives_it_up_too(at_cut: At, holds_it: bool) -> None:
    at_cut.database.run(DAMAGED, (OTHER, SAID))
    before = "update cutter_governance.backup_head set tree = repeat('a', 64), columns_sha256 = repeat('b', 64)"
    at_cut.database.run(before)
    document = OTHER if holds_it else at_cut.stage.document_id
    held = f'{{"{document}": {{"changes": 1, "fingerprint": "{"c" * 64}"}}}}'
    seal = "select cutter_governance.fn_backup_seal(repeat('a', 64), repeat('d', 64), repeat('b', 64), 'x', %s, %s)"
    assert at_cut.database.value(seal, ("e" * 64, held), role="cutter_backup") is True
    assert (at_cut.database.value(GIVEN_UP) is not None) is holds_it


def superseded(connection: Connection, run_id: str) -> list[bool]:
    return [row.superseded for row in NEWEST.all(connection, {"run_id": run_id, "limit": 5})]


def test_no_write_relies_on_a_backup_from_before_the_moment(at_cut: At) -> None:
    with closing(at_cut.connect()) as connection:
        assert superseded(connection, at_cut.run_id) == [False]
        at_cut.database.run("update cutter_governance.backup_head set given_up_at = clock_timestamp() + interval '1 s'")
        assert superseded(connection, at_cut.run_id) == [True]
