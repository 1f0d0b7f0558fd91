"""Pure: one table of the commands: every side effect that a worker can have (seed 002 AG-EXE-01, seed 003 §1.4, §5).

A worker proposes a command to the effect policy. The command's receipt has the same fields, and the worker finds the
receipt by the command's idempotency key. Reading is no side effect, so no command reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cutter.approvals.policy import Tier
from cutter.catalogue import GATES, Sovereign
from cutter.domain.digests import is_digest

ESCALATION: Final = "SG_failure_escalation"
"""The gate at which a worker writes a document about a stop or a failure (seed 000 §3)."""

PLACES: Final = (*(gate.name for gate in GATES), *(gate.value for gate in Sovereign), ESCALATION)
"""The gates of a run at which a command may happen. A command about a whole batch, or about a void, has no gate."""


class Connector(StrEnum):
    """The system in which a command has its effect."""

    DATABASE = "database"
    BACKUP = "backup"
    KB = "kb"
    NOTIFICATION = "notification"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One kind of side effect. `places` names the gates where it happens. If `places` is empty, it can happen anywhere.

    `approvable` is true if the policy can ask people about it. The policy can only allow or deny documents,
    notifications and evidence: cutter asks people by documents and notifications, and evidence reports facts of the
    past.
    """

    connector: Connector
    name: str
    risk: Tier
    reversible: bool
    how_to_reverse: str
    places: tuple[str, ...] = ()
    approvable: bool = False


_DRAFTS = "`cutter void RUN --reason TEXT` withdraws the drafts; governance rows stay"

OPERATIONS: Final = (
    Operation(
        connector=Connector.DATABASE, name="create_units", risk=Tier.HIGH, reversible=True, how_to_reverse=_DRAFTS,
        places=("IG_cut_leg_a_execute",), approvable=True,
    ),
    Operation(
        connector=Connector.DATABASE, name="record_cut", risk=Tier.MEDIUM, reversible=True, how_to_reverse=_DRAFTS,
        places=("IG_leg_b_record",), approvable=True,
    ),
    Operation(
        connector=Connector.DATABASE, name="record_verification", risk=Tier.MEDIUM, reversible=True,
        how_to_reverse=_DRAFTS, places=("IG_write_verify",), approvable=True,
    ),
    Operation(
        connector=Connector.DATABASE, name="enact_units", risk=Tier.HIGH, reversible=False,
        how_to_reverse="an enacted document cannot be voided", places=("IG_lifecycle_enact_execute",), approvable=True,
    ),
    Operation(
        connector=Connector.DATABASE, name="withdraw_drafts", risk=Tier.HIGH, reversible=False,
        how_to_reverse="start a new run of the document", approvable=True,
    ),
    Operation(
        connector=Connector.BACKUP, name="take", risk=Tier.LOW, reversible=True,
        how_to_reverse="delete the artifact after the run has ended", places=("IG_backup",), approvable=True,
    ),
    Operation(
        connector=Connector.KB, name="put", risk=Tier.LOW, reversible=False,
        how_to_reverse="write-once; a later document says more",
    ),
    Operation(
        connector=Connector.NOTIFICATION, name="post", risk=Tier.LOW, reversible=False,
        how_to_reverse="a later message says more",
    ),
    Operation(
        connector=Connector.EVIDENCE, name="store", risk=Tier.LOW, reversible=True,
        how_to_reverse="delete the artifact", places=("IG_closeout",),
    ),
)  # fmt: skip

BY_KEY: Final = {(operation.connector, operation.name): operation for operation in OPERATIONS}


KB_PUT: Final = BY_KEY[Connector.KB, "put"]
NOTIFICATION_POST: Final = BY_KEY[Connector.NOTIFICATION, "post"]
EVIDENCE_STORE: Final = BY_KEY[Connector.EVIDENCE, "store"]
BACKUP_TAKE: Final = BY_KEY[Connector.BACKUP, "take"]
WITHDRAW_DRAFTS: Final = BY_KEY[Connector.DATABASE, "withdraw_drafts"]


def write_of(gate: str) -> Operation | None:
    """The gate's write into the database; None for a gate that writes nothing."""
    writes = (operation for operation in OPERATIONS if operation.connector is Connector.DATABASE)
    return next((operation for operation in writes if gate in operation.places), None)


def operations_at(place: str) -> tuple[Operation, ...]:
    """Every side effect at a gate: those that happen only there, and the gate's document."""
    return (*(operation for operation in OPERATIONS if place in operation.places), KB_PUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One side effect: the operation, its target, and the sha256 of the content that the operation writes there."""

    operation: Operation
    target: str
    fields_sha256: str

    def __post_init__(self) -> None:
        if not self.target or not is_digest(self.fields_sha256):
            raise ValueError("a command has a target and the sha256 of its fields")

    @property
    def idempotency_key(self) -> str:
        """The key of the side effect (seed 003 §4.1). The same key with another `fields_sha256` is a conflict."""
        return f"{self.operation.connector}:{self.operation.name}:{self.target}"
