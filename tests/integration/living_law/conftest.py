"""Stages of a revision, each made once a session and cloned for each test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from activities.gates.cut_leg_a import revision_calls, write_rows
from activities.gates.cutplan import base_of
from activities.gates.lifecycle_enact import TO_ENACT
from activities.gates.pinned_source import SNAPSHOT, mark_pinned
from cutter.catalogue import Sovereign
from cutter.marking import Marking, build_plan
from cutter.marking.revision import plan_revision
from cutter.storage.law_texts import LAW
from cutter.storage.records import many
from cutter.types import Json
from tests.support import gate_calls as gates
from tests.support.database import Connection, Database, TestCluster
from tests.support.revisions import revision_stage
from tests.support.runs import Keys, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """A revision at its stage, in a database of this test's own."""

    database: Database
    stage: Stage

    @property
    def run_id(self) -> str:
        return self.stage.run_id

    def address(self, name: str) -> str:
        return f"{self.stage.document_id}/{name}"

    def connect(self, role: str = "cutter_exec") -> Connection:
        return self.database.connect(role)

    def opened(self, connection: Connection, gate: str) -> int:
        """The gate, opened with the stage's approvals; the attempt's number."""
        answer = gates.open_gate(connection, gate, self.run_id, approvals=self.stage.offers)
        assert answer["status"] == "opened", answer
        return int(answer["attempt"])

    def close(self, connection: Connection, gate: str, number: int, pins: Json | None = None) -> Json:
        return gates.close_gate(connection, gate, self.run_id, number, pins or {"units_created": 2})

    def revise(self, connection: Connection, **changed: Any) -> Sequence[str]:
        """Every planned row as leg A writes it; `changed` replaces values of the revised unit."""
        pins = self.pins()
        pinned = SNAPSHOT.one(connection, {"source_version_id": pins["source_version_id"]})
        marking = mark_pinned(pinned, pins["docprefix"], 10_000)
        assert isinstance(marking, Marking)
        cut = build_plan(pinned.data, marking, docprefix=pins["docprefix"], source_version_id=pins["source_version_id"])
        law = base_of(pins, LAW.all(connection, {"run_id": self.run_id}))
        assert law is not None
        calls = revision_calls(plan_revision(cut, law), self.run_id, "cutter_exec/DOT-991/test-cut")
        sent = [{**call, **changed} if call["operation"] == "revise" else call for call in calls]
        return write_rows(connection, self.run_id, sent)

    def enact(self, connection: Connection, *, without: str = "") -> Sequence[str]:
        """fn_iu_enact of every unit that the revision changes, except the one named."""
        row = connection.execute(
            "select q.review_decision_id, c.change_set_id from cutter_governance.approval_request q"
            " join cutter_governance.cut_change_set c on c.run_id = q.run_id"
            " where q.run_id = %s and q.gate = 'SG_lifecycle_authz'",
            (self.run_id,),
        ).fetchone()
        assert row is not None
        shared = {
            "actor": "cutter_exec/DOT-991/test-enact", "review_decision_id": row[0], "change_set_id": row[1],
            "reason": "test", "tool_revision": "test/1",
        }  # fmt: skip
        changes = TO_ENACT.all(connection, {"run_id": self.run_id})
        calls = [
            {**shared, "address": change.address, "target": change.target}
            for change in changes
            if not without or change.address != self.address(without)
        ]
        return many(connection, "enact_unit", calls)

    @contextmanager
    def with_every_grant(self, gate: str) -> Iterator[Connection]:
        """A session of cutter_exec that may write the tables of the law, in the open gate; it is rolled back."""
        connection = self.connect("postgres")
        connection.execute("set session authorization cutter_exec")
        connection.commit()
        self.opened(connection, gate)
        connection.execute("reset session authorization")
        connection.execute("grant select, insert, update, delete on all tables in schema public to cutter_exec")
        connection.execute("set session authorization cutter_exec")
        connection.execute("select set_config('app.canonical_writer', 'fn_iu_enact', true)")
        yield connection
        connection.rollback()

    def pins(self) -> Json:
        pins: Json = self.database.value("select cutter_governance.fn_run_pins(%s)", (self.run_id,))
        return pins


@pytest.fixture(scope="session")
def revision_cut_stage(cluster: TestCluster, keys: Keys) -> Iterator[Stage]:
    with revision_stage(cluster, keys, until="IG_grant_probe", sovereign=Sovereign.CUT) as made:
        yield made


@pytest.fixture(scope="session")
def revision_enact_stage(cluster: TestCluster, keys: Keys) -> Iterator[Stage]:
    with revision_stage(cluster, keys, until="IG_write_verify", sovereign=Sovereign.LIFECYCLE) as made:
        yield made


@pytest.fixture
def at_revision(revision_cut_stage: Stage) -> Iterator[At]:
    """Before leg A of a revision, its approval accepted."""
    with revision_cut_stage.clone() as database:
        yield At(database=database, stage=revision_cut_stage)


@pytest.fixture
def at_succession(revision_enact_stage: Stage) -> Iterator[At]:
    """Before the enactment of a revision, its approval accepted."""
    with revision_enact_stage.clone() as database:
        yield At(database=database, stage=revision_enact_stage)
