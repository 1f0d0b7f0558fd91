"""IO: the moments of a run at which something is killed, and how each is awaited by looking at the database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg

from tests.support.processes import CUTTER_WORKER, EXEC, VERIFY, Stack, wait
from tests.support.proxy import Cut

MOMENT_SECONDS = 240
"""A moment that has not come by then is a failure of the campaign."""

ATTEMPT: LiteralString = (
    "select 1 from cutter_governance.gate_attempt where run_id = %(run)s and gate = %(gate)s and finished_at is null"
)
PASSED: LiteralString = (
    "select 1 from cutter_governance.gate_receipt where run_id = %(run)s and gate = %(gate)s and sealed_at is not null"
)
WAITS: LiteralString = (
    "select 1 from cutter_governance.approval_request"
    " where run_id = %(run)s and gate = %(gate)s and status = 'requested' and kb_id is not null"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When to kill. `looks` is what must be seen; `worker` serves the gate.

    `cut` is for moments too short to be seen from outside: the exec worker's connection is held there by the proxy.
    `signalled`: right after the approval was handed over.
    """

    name: str
    gate: str
    worker: str
    looks: LiteralString = ATTEMPT
    cut: Cut | None = None
    signalled: bool = False


MOMENTS = (
    Moment(name="while the plan is built", gate="IG_cutplan", worker=CUTTER_WORKER),
    Moment(name="while the backup runs", gate="IG_backup", worker=CUTTER_WORKER),
    Moment(name="while SG_1 waits", gate="SG_cut_authz", worker=CUTTER_WORKER, looks=WAITS),
    Moment(name="as SG_1's approval was sent", gate="SG_cut_authz", worker=CUTTER_WORKER, signalled=True),
    Moment(name="during leg A, all units written", gate="IG_cut_leg_a_execute", worker=EXEC, cut=Cut.STATEMENT),
    Moment(name="between leg A's COMMIT and its answer", gate="IG_cut_leg_a_execute", worker=EXEC, cut=Cut.ANSWER),
    Moment(name="during leg B", gate="IG_leg_b_record", worker=EXEC),
    Moment(name="while the write is verified", gate="IG_write_verify", worker=VERIFY),
    Moment(name="while SG_2 waits", gate="SG_lifecycle_authz", worker=CUTTER_WORKER, looks=WAITS),
    Moment(name="between enactment's COMMIT and answer", gate="IG_lifecycle_enact_execute", worker=EXEC,
           cut=Cut.ANSWER, signalled=True),
)  # fmt: skip


def come(stack: Stack, run_id: str, moment: Moment) -> bool:
    """Wait for the moment; False when it was over before it was seen (the kill then comes just after it)."""
    given = {"run": run_id, "gate": moment.gate}
    with psycopg.connect(stack.superuser(), autocommit=True) as connection:

        def seen() -> str:
            if connection.execute(moment.looks, given).fetchone():
                return "seen"
            return "over" if moment.looks != WAITS and connection.execute(PASSED, given).fetchone() else ""

        return bool(_often(seen, what=moment.name) == "seen")


def _often(condition: Callable[[], Any], *, what: str) -> Any:
    """Like `wait`, with many looks within one: a gate may last a tenth of a second."""
    return wait(
        lambda: next((answer for answer in (condition() for _ in range(20)) if answer), None),
        seconds=MOMENT_SECONDS,
        what=what,
    )
