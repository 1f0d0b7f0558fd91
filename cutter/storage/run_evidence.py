"""IO: reads all facts of a run from the database, as its evidence and as its sidecar."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.domain.run_record import RunSidecar
from cutter.storage.gate_transaction import call
from cutter.storage.pools import Connection
from cutter.storage.records import Rows, records, values
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMoment:
    """The evidence and the sidecar of a run from one moment. Both are None if the run is unknown."""

    evidence: Json | None
    sidecar: Json | None


EVIDENCE: Rows[Json | None] = values("run_evidence")
SIDECAR: Rows[Json | None] = values("run_sidecar")
BOTH = records("run_evidence_and_sidecar", OneMoment)


def sidecar_now(connection: Connection, run_id: str) -> RunSidecar:
    """The sidecar of a run that a workflow drives. Raises Unavailable if the database has no such run."""
    return RunSidecar.of(call(connection, "select cutter_governance.fn_run_sidecar(%s)", (run_id,)))
