"""A copy of a stage for each test, and what gates do there by SQL alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from activities.gates.cut_leg_a import create_units
from activities.gates.pinned_source import SNAPSHOT, mark_pinned
from cutter.marking import Marking, build_plan
from cutter.marking.plan import CutPlan
from cutter.storage.records import many
from cutter.types import Json
from tests.support import gate_calls as gates
from tests.support.database import Connection, Database
from tests.support.runs import Stage

LEG_A, LEG_B, VERIFY, ENACT = (
    "IG_cut_leg_a_execute",
    "IG_leg_b_record",
    "IG_write_verify",
    "IG_lifecycle_enact_execute",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """A run at its stage, in a database of this test's own."""

    database: Database
    stage: Stage

    @property
    def run_id(self) -> str:
        return self.stage.run_id

    @property
    def docprefix(self) -> str:
        return self.stage.document_id

    def connect(self, role: str = "cutter_exec") -> Connection:
        return self.database.connect(role)

    def run(self) -> Json:
        row: Json = self.database.value(
            "select to_jsonb(r) from cutter_governance.run r where run_id = %s", (self.run_id,)
        )
        return row

    def open(self, connection: Connection, gate: str = LEG_A, **given: Any) -> Json:
        """fn_gate_open with the stage's approvals."""
        given.setdefault("approvals", self.stage.offers)
        return gates.open_gate(connection, gate, self.run_id, **given)

    def opened(self, connection: Connection, gate: str = LEG_A) -> int:
        """The same, which must open; the attempt's number."""
        answer = self.open(connection, gate)
        assert answer["status"] == "opened", answer
        return int(answer["attempt"])

    def close(self, connection: Connection, number: int, pins: Json | None = None, gate: str = LEG_A) -> Json:
        """fn_gate_close, by default with what leg A pins."""
        given = pins if pins is not None else {"units_created": self.stage.units}
        return gates.close_gate(connection, gate, self.run_id, number, given)

    def plan(self, connection: Connection) -> CutPlan:
        """The approved plan, from the stored snapshot."""
        pins = gates.one(connection, "select cutter_governance.fn_run_pins(%s)", (self.run_id,))
        pinned = SNAPSHOT.one(connection, {"source_version_id": pins["source_version_id"]})
        marking = mark_pinned(pinned, pins["docprefix"], 10_000)
        assert isinstance(marking, Marking)
        return build_plan(
            pinned.data, marking, docprefix=pins["docprefix"], source_version_id=pins["source_version_id"]
        )

    def create(self, connection: Connection) -> Sequence[str]:
        """The approved units, by fn_iu_create."""
        return create_units(connection, self.plan(connection), actor="cutter_exec/DOT-991/test-cut")

    def enact(self, connection: Connection, **changed: Any) -> Sequence[str]:
        """fn_iu_enact of every unit of the run."""
        row = connection.execute(
            "select q.review_decision_id, c.change_set_id from cutter_governance.approval_request q"
            " join cutter_governance.cut_change_set c on c.run_id = q.run_id"
            " where q.run_id = %s and q.gate = 'SG_lifecycle_authz'",
            (self.run_id,),
        ).fetchone()
        assert row is not None
        values = {
            "actor": "cutter_exec/DOT-991/test-enact", "review_decision_id": row[0], "change_set_id": row[1],
            "reason": "test", "tool_revision": "test/1", **changed,
        }  # fmt: skip
        addresses = connection.execute(
            "select canonical_address from public.information_unit where starts_with(canonical_address, %s)"
            " and deleted_at is null order by 1",
            (f"{self.docprefix}/",),
        ).fetchall()
        return many(
            connection, "enact_unit", [{**values, "address": address, "target": "enacted"} for (address,) in addresses]
        )

    def units(self) -> int:
        """Committed rows under the run's prefix."""
        return int(self.database.value(
            "select count(*) from public.information_unit where starts_with(canonical_address, %s)",
            (f"{self.docprefix}/",),
        ))  # fmt: skip


@pytest.fixture
def at_cut(cut_stage: Stage) -> Iterator[At]:
    """Before leg A, its approval accepted."""
    with cut_stage.clone() as database:
        yield At(database=database, stage=cut_stage)


@pytest.fixture
def at_enact(enact_stage: Stage) -> Iterator[At]:
    """Before the enactment, its approval accepted."""
    with enact_stage.clone() as database:
        yield At(database=database, stage=enact_stage)


@pytest.fixture
def at_end(enacted_stage: Stage) -> Iterator[At]:
    """After the closeout."""
    with enacted_stage.clone() as database:
        yield At(database=database, stage=enacted_stage)
