"""Pure: the commands: every side effect that a worker can have, one table (seed 002 AG-EXE-01, seed 003 §1.4, §5).

A command is what is proposed to the policy, what its receipt is found by, and what its receipt says. Reads are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cutter.approvals.policy import Tier
from cutter.catalogue import GATES, Sovereign
from cutter.domain.digests import is_digest

ESCALATION: Final = "SG_failure_escalation"
"""What a document about a stop or a failure is written at (seed 000 §3)."""

PLACES: Final = (*(gate.name for gate in GATES), *(gate.value for gate in Sovereign), ESCALATION)
"""Where in a run a command may happen; one about a batch as a whole, or about a void, happens at none of them."""


class Connector(StrEnum):
    """What a command goes through."""

    DATABASE = "database"
    BACKUP = "backup"
    KB = "kb"
    NOTIFICATION = "notification"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One kind of side effect. `places` are the gates where it happens, empty for anywhere.

    `approvable`: people can be asked about it. Documents and notifications are what they are asked with, and evidence
    tells of what has happened already: those may only be allowed or denied.
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
        how_to_reverse="enacted law is never voided", places=("IG_lifecycle_enact_execute",), approvable=True,
    ),
    Operation(
        connector=Connector.DATABASE, name="withdraw_drafts", risk=Tier.HIGH, reversible=False,
        how_to_reverse="the document is run again", approvable=True,
    ),
    Operation(
        connector=Connector.BACKUP, name="take", risk=Tier.LOW, reversible=True, how_to_reverse="delete the artifact",
        places=("IG_backup",), approvable=True,
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

BY_KEY: Final = {(one.connector, one.name): one for one in OPERATIONS}


KB_PUT: Final = BY_KEY[Connector.KB, "put"]
NOTIFICATION_POST: Final = BY_KEY[Connector.NOTIFICATION, "post"]
EVIDENCE_STORE: Final = BY_KEY[Connector.EVIDENCE, "store"]
BACKUP_TAKE: Final = BY_KEY[Connector.BACKUP, "take"]
WITHDRAW_DRAFTS: Final = BY_KEY[Connector.DATABASE, "withdraw_drafts"]


def write_of(gate: str) -> Operation | None:
    """What a gate writes into the database, or None."""
    return next((one for one in OPERATIONS if one.connector is Connector.DATABASE and gate in one.places), None)


def operations_at(place: str) -> tuple[Operation, ...]:
    """Everything that is done at a gate: what belongs there alone, and its document."""
    return (*(one for one in OPERATIONS if place in one.places), KB_PUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One side effect: what is done to which target, with the sha256 of what is written there."""

    operation: Operation
    target: str
    fields_sha256: str

    def __post_init__(self) -> None:
        if not self.target or not is_digest(self.fields_sha256):
            raise ValueError("a command has a target and the sha256 of its fields")

    @property
    def idempotency_key(self) -> str:
        """Identifies the side effect, whatever is written (seed 003 §4.1): other fields under it are a conflict."""
        return f"{self.operation.connector}:{self.operation.name}:{self.target}"
