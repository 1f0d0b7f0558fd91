"""Pure: the one table of states and gates (seed 000 §1, §2, §6; spec "States and gates").

The workflow, the worker's registration, the database's own copy, the docs page and the tests all read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class State(StrEnum):
    """The seed's states, verbatim, and the states to which our own gates lead. A state of the families failed_,
    stopped_ and voided_ has its reason after the prefix.
    """

    PENDING = "pending"
    SOURCE_PINNED = "source_pinned"
    MARKED = "marked"
    CUTPLAN_OK = "cutplan_ok"
    PRE_WRITE_BACKUP_TAKEN = "pre_write_backup_taken"
    GRANTS_PROBED = "grants_probed"
    AWAITING_CUT_AUTHORIZATION = "awaiting_cut_authorization"
    CUT_LEG_A_COMMITTED = "cut_leg_a_committed"
    STRUCTURAL_VERIFIED = "structural_verified"
    LEG_B_RECORDED = "leg_b_recorded"
    WRITE_VERIFIED = "write_verified"
    AWAITING_LIFECYCLE_AUTHORIZATION = "awaiting_lifecycle_authorization"
    LIFECYCLE_ENACTED = "lifecycle_enacted"
    CLOSEOUT_REPORTED = "closeout_reported"


class Role(StrEnum):
    """The database roles (spec 04 "Roles"). A session connects as one of them, and has the rights of no other."""

    OWNER = "cutter_owner"
    """The role that owns the database and migrates it."""
    READ = "cutter_read"
    BACKUP = "cutter_backup"
    EXEC = "cutter_exec"
    VERIFY = "cutter_verify"
    OPERATOR = "cutter_operator"
    """The role of the commands that people type."""
    DIRECTUS = "directus"
    API = "cutter_api"
    DESK = "cutter_desk"
    """The role of `cutter desk`: it reads what the commands of people read, and may write nothing."""


GateRole = Literal[Role.READ, Role.BACKUP, Role.EXEC, Role.VERIFY]
"""The roles with which gates connect. They are the roles of the workers."""


SKIPPED = "skipped"
"""The terminal state of a run whose version an earlier run has enacted. No seed has this state."""


class WorkerRole(StrEnum):
    """The three worker processes. Each holds only its own passwords and its own signing key."""

    CUTTER = "cutter"
    EXEC = "exec"
    VERIFY = "verify"


class Effect(StrEnum):
    """The changes of the surveyed state that a gate may make between its two surveys."""

    NONE = "none"
    UNITS_CREATED = "units_created"
    DECISION_RECORDED = "decision_recorded"
    UNITS_ENACTED = "units_enacted"


class Sovereign(StrEnum):
    """The two sovereign gates that wait for people."""

    CUT = "SG_cut_authz"
    LIFECYCLE = "SG_lifecycle_authz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One internal gate. `cap_minutes` is its soft cap, and `number` its place in the order."""

    number: int
    name: str
    from_state: State
    to_state: State
    role: GateRole
    worker: WorkerRole
    cap_minutes: int
    effect: Effect
    report: str
    sovereign: Sovereign | None = None

    @property
    def phase(self) -> str:
        """The gate's name without IG_ and _execute: the seed's phase name (000 §6)."""
        return self.name.removeprefix("IG_").removesuffix("_execute")


_S, _R, _W, _E = State, Role, WorkerRole, Effect

_Row = tuple[str, State, State, GateRole, WorkerRole, int, Effect, str, Sovereign | None]
"""The fields of a gate after its number."""

# fmt: off
_ROWS: tuple[_Row, ...] = (
    ("IG_source_pin", _S.PENDING, _S.SOURCE_PINNED, _R.READ, _W.CUTTER, 2, _E.NONE, "01-source-pin", None),
    ("IG_mark", _S.SOURCE_PINNED, _S.MARKED, _R.READ, _W.CUTTER, 5, _E.NONE, "02-mark", None),
    ("IG_cutplan", _S.MARKED, _S.CUTPLAN_OK, _R.READ, _W.CUTTER, 10, _E.NONE, "03-cutplan", None),
    ("IG_backup", _S.CUTPLAN_OK, _S.PRE_WRITE_BACKUP_TAKEN, _R.BACKUP, _W.CUTTER, 5, _E.NONE,
     "04-pre-write-backup", None),
    ("IG_grant_probe", _S.PRE_WRITE_BACKUP_TAKEN, _S.GRANTS_PROBED, _R.READ, _W.CUTTER, 1, _E.NONE,
     "05-grant-probe", None),
    ("IG_cut_leg_a_execute", _S.AWAITING_CUT_AUTHORIZATION, _S.CUT_LEG_A_COMMITTED, _R.EXEC, _W.EXEC, 10,
     _E.UNITS_CREATED, "06-cut-leg-a", Sovereign.CUT),
    ("IG_structural_verify", _S.CUT_LEG_A_COMMITTED, _S.STRUCTURAL_VERIFIED, _R.READ, _W.CUTTER, 2, _E.NONE,
     "07-structural-verify", None),
    ("IG_leg_b_record", _S.STRUCTURAL_VERIFIED, _S.LEG_B_RECORDED, _R.EXEC, _W.EXEC, 5,
     _E.DECISION_RECORDED, "08-leg-b-record", None),
    ("IG_write_verify", _S.LEG_B_RECORDED, _S.WRITE_VERIFIED, _R.VERIFY, _W.VERIFY, 5, _E.NONE,
     "09-write-verify", None),
    ("IG_lifecycle_enact_execute", _S.AWAITING_LIFECYCLE_AUTHORIZATION, _S.LIFECYCLE_ENACTED, _R.EXEC,
     _W.EXEC, 15, _E.UNITS_ENACTED, "10-lifecycle-enact", Sovereign.LIFECYCLE),
    ("IG_closeout", _S.LIFECYCLE_ENACTED, _S.CLOSEOUT_REPORTED, _R.READ, _W.CUTTER, 5, _E.NONE,
     "11-final-orchestrator-report", None),
)

GATES: tuple[Gate, ...] = tuple(
    Gate(number=number, name=name, from_state=before, to_state=after, role=role, worker=worker, cap_minutes=cap,
         effect=effect, report=report, sovereign=sovereign)
    for number, (name, before, after, role, worker, cap, effect, report, sovereign) in enumerate(_ROWS, start=1)
)
# fmt: on

OURS: frozenset[str] = frozenset()
"""The gates of the table that no seed has. `seed_state` translates a state before it is compared with a seed."""

LONGEST_CAP_SECONDS = max(gate.cap_minutes for gate in GATES) * 60
"""The time within which every gate ends. A worker that shuts down waits so long for its gates."""

BY_NAME: dict[str, Gate] = {gate.name: gate for gate in GATES}

PLANNED: tuple[Gate, ...] = tuple(
    gate for gate in GATES if all(entry.sovereign is None for entry in GATES[: gate.number])
)
"""The gates before people are asked for the first time. A rehearsal seals their receipts."""

REHEARSED: tuple[Gate, ...] = GATES[: len(PLANNED) + 1]
"""The gates of a rehearsal. It passes the planned gates as a run does. It rolls back the first write."""


def stands_on(gate: Gate) -> Sovereign | None:
    """The sovereign gate whose approval a gate needs: its own, or the last one before it. None before the first."""
    return next((entry.sovereign for entry in reversed(GATES[: gate.number]) if entry.sovereign is not None), None)


def seed_state(state: str) -> str:
    """The state as the seeds count it. A state to which one of our own gates leads counts as the state in which that
    gate begins.
    """
    ours = next((gate for gate in GATES if gate.name in OURS and gate.to_state == state), None)
    return state if ours is None else seed_state(ours.from_state)
