"""The runbook about a lost database, typed on a local stack: everything is there again, and a run continues."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.processes import Stack, stack
from tests.support.runbook import awaits_enactment, enacted, ends, sections, types

SECTIONS = sections("runbooks/restore.md")
ENACTED, WAITS = "ICX-LOST-1", "ICX-LOST-2"


def recorded(made: Stack) -> Any:
    return made.value(
        "select jsonb_build_object('audit', (select jsonb_agg(a.hash) from cutter_governance.audit_event a),"
        " 'units', (select jsonb_agg(u order by u.id) from public.information_unit u),"
        " 'receipts', (select jsonb_agg(g order by g.run_id, g.gate) from cutter_governance.gate_receipt g))"
    )


@pytest.mark.timeout(600)
def test_a_lost_database_comes_back_and_the_open_run_continues() -> None:
    with stack("cr") as made:
        made.up()
        made.approver()
        enacted(made, ENACTED)
        run_id = awaits_enactment(made, WAITS)
        before = recorded(made)
        dumped = json.loads(types(made, "cutter backup dump cutter.gpg --json"))
        types(made, "cutter audit export --out audit.jsonl")
        (script,) = SECTIONS["The database is lost"]
        types(made, script.replace("DIGEST", dumped["sha256"]))
        after = recorded(made)
        # Workers that start again record events of their own.
        assert set(before.pop("audit")) <= set(after.pop("audit"))
        assert after == before
        ends(made, WAITS, run_id)
        assert {row["document"] for row in made.json("law", "show")["laws"]} == {ENACTED, WAITS}
