"""Pure: an epoch of `approvers.yaml`: who may sign what, from when to when, and how many must (spec 03 "Policy").

An empty list means nobody: an approver without gates may sign nothing, and a gate that the file does not name opens for
nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex

SCHEMA: Final = "cutter-approvers/1"


class Tier(StrEnum):
    """How strict a gate is (spec 05 "Policy")."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Signing(StrEnum):
    """`required` is the default. With `optional`, people may lift a policy stop of a dry run without a signature.

    Live runs and the sovereign gates always need signatures.
    """

    REQUIRED = "required"
    OPTIONAL = "optional"


DEFAULT_THRESHOLDS: Final[Mapping[Tier, int]] = {Tier.LOW: 1, Tier.MEDIUM: 1, Tier.HIGH: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Approver:
    """One person. `fingerprint` is of the primary key, `key_sha256` the digest of the file in `keys/`."""

    name: str
    fingerprint: str
    key_sha256: str
    groups: tuple[str, ...]
    gates: tuple[str, ...]
    not_before: datetime
    not_after: datetime

    def within(self, moment: datetime) -> bool:
        """True from not_before until before not_after."""
        return self.not_before <= moment < self.not_after


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """The tier of a sovereign gate, and the number of distinct approvers that each tier asks for."""

    gate: str
    tier: Tier
    thresholds: tuple[tuple[Tier, int], ...] = tuple(DEFAULT_THRESHOLDS.items())

    def needed(self, tier: Tier) -> int:
        """The number of approvers that the tier asks for. The tier high never asks for fewer than two."""
        return max(dict(self.thresholds)[tier], 2 if tier is Tier.HIGH else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproverPolicy:
    """One epoch, identified by the sha256 of the file's bytes. `succession` approvers must sign the next epoch.

    `lifecycle_group` acts in the review decisions of SG_2, so an approver of SG_2 must be in it.
    """

    number: int
    deployment_id: str
    previous_sha256: str | None
    approvers: tuple[Approver, ...]
    gates: tuple[GateRule, ...]
    lifecycle_group: str
    succession: int
    gpg_binary: str
    gpg_version_floor: tuple[int, ...]
    signing: Signing = Signing.REQUIRED
    data: bytes = b""

    @property
    def sha256(self) -> str:
        """Identity of the epoch."""
        return sha256_hex(self.data)

    def approver_of(self, fingerprint: str) -> Approver | None:
        return next((approver for approver in self.approvers if approver.fingerprint == fingerprint), None)

    def rule_of(self, gate: str) -> GateRule | None:
        """The rule of the gate. None means that the gate opens for nobody."""
        return next((rule for rule in self.gates if rule.gate == gate), None)

    def thresholds(self) -> dict[str, int]:
        """For each gate, the approvers that its own tier asks for. The database's row of the epoch has this map."""
        return {rule.gate: rule.needed(rule.tier) for rule in self.gates}

    def tiers(self) -> dict[str, dict[str, int]]:
        """Maps each gate and tier to a number of approvers. The database's row of the epoch has this map too."""
        return {rule.gate: {tier.value: rule.needed(tier) for tier in Tier} for rule in self.gates}

    def needed(self, gate: str, tier: Tier | None) -> int:
        """The number of approvers that a gate asks for by its own tier, or by a higher given tier."""
        rule = self.rule_of(gate)
        return max(rule.needed(rule.tier), rule.needed(tier or rule.tier)) if rule else 1

    def tier_of(self, gate: str) -> Tier | None:
        rule = self.rule_of(gate)
        return rule.tier if rule else None


ALL_GATES: Final = tuple(gate.value for gate in Sovereign)
