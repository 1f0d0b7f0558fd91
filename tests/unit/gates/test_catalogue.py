"""The table of gates is the seed's: what each gate moves, how long its phase may take, and how many there are."""

from __future__ import annotations

from typing import get_args

import pytest

from activities.worker.dependencies import ROLES_OF
from cutter import limits
from cutter.catalogue import GATES, OURS, GateRole, Sovereign, State, seed_state
from cutter.lifecycle.declarations import DOCUMENT_RUN
from docs.trace import as_the_seed

MOVES = (
    ("IG_source_pin", "pending", "source_pinned"),
    ("IG_mark", "source_pinned", "marked"),
    ("IG_cutplan", "marked", "cutplan_ok"),
    ("IG_backup", "cutplan_ok", "pre_write_backup_taken"),
    ("IG_grant_probe", "pre_write_backup_taken", "grants_probed"),
    ("SG_cut_authz", "grants_probed", "awaiting_cut_authorization"),
    ("IG_cut_leg_a_execute", "awaiting_cut_authorization", "cut_leg_a_committed"),
    ("IG_structural_verify", "cut_leg_a_committed", "structural_verified"),
    ("IG_leg_b_record", "structural_verified", "leg_b_recorded"),
    ("IG_write_verify", "leg_b_recorded", "write_verified"),
    ("SG_lifecycle_authz", "write_verified", "awaiting_lifecycle_authorization"),
    ("IG_lifecycle_enact_execute", "awaiting_lifecycle_authorization", "lifecycle_enacted"),
    ("IG_closeout", "lifecycle_enacted", "closeout_reported"),
)
CAPS = {
    "source_pin": 2, "mark": 5, "cutplan": 10, "backup": 5, "grant_probe": 1, "cut_leg_a": 10, "structural_verify": 2,
    "leg_b_record": 5, "write_verify": 5, "lifecycle_enact": 15, "closeout": 5,
}  # fmt: skip
"""Minutes of each phase."""


@pytest.mark.parametrize(("gate", "before", "after"), MOVES)
def test_each_gate_makes_the_seeds_move(gate: str, before: str, after: str) -> None:
    """Seed 000 §2, 000 §3."""
    moves = [edge for edge in DOCUMENT_RUN.edges if (before, after) in as_the_seed([edge])]
    assert {DOCUMENT_RUN.check(*move).trigger for move in moves} == {gate}


def test_only_the_two_writes_that_people_allow_follow_a_sovereign_gate() -> None:
    """Seed 000 §3."""
    asked = {gate.name: gate.sovereign for gate in GATES if gate.sovereign}
    assert asked == {"IG_cut_leg_a_execute": Sovereign.CUT, "IG_lifecycle_enact_execute": Sovereign.LIFECYCLE}


@pytest.mark.parametrize("phase", CAPS)
def test_each_phase_has_the_seeds_soft_cap(phase: str) -> None:
    """Seed 000 §6."""
    assert {gate.phase: gate.cap_minutes for gate in GATES}[phase] == CAPS[phase]


def test_the_table_has_the_seeds_totals() -> None:
    """Seed 000 §6, 000 §9."""
    seeds = [gate for gate in GATES if gate.name not in OURS]
    assert (len({*map(seed_state, State)}), len(Sovereign), len(seeds)) == (14, 2, 11)
    assert sum(gate.cap_minutes for gate in seeds) == 65
    assert limits.HARD_CAP_MINUTES == 60


def test_every_gate_connects_with_a_role_that_a_worker_holds() -> None:
    roles = {role for held in ROLES_OF.values() for role in held}
    assert {gate.role for gate in GATES} == roles == set(get_args(GateRole))
