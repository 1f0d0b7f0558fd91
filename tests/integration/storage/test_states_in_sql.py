"""The states that the database knows are those of the declared lifecycles, and so are its workers' transitions."""

from __future__ import annotations

import re

import pytest

from cutter.catalogue import GATES, Sovereign
from cutter.lifecycle.declarations import APPROVAL, BATCH, DOCUMENT_RUN, WORKER, Lifecycle
from tests.support.database import Database

CONSTRAINT = (
    "select pg_get_constraintdef(oid) from pg_constraint where contype = 'c' and conrelid = %s::regclass"
    " and pg_get_constraintdef(oid) ~ ('^CHECK ..' || %s || ' = ANY')"
)


@pytest.mark.parametrize(
    ("lifecycle", "table", "column"),
    [
        (BATCH, "cutter_governance.batch", "state"),
        (APPROVAL, "cutter_governance.approval_request", "status"),
        (WORKER, "cutter_governance.worker_heartbeat", "state"),
    ],
    ids=lambda argument: getattr(argument, "name", argument),
)
def test_a_table_takes_the_states_of_its_lifecycle_and_begins_with_the_first(
    database: Database, lifecycle: Lifecycle, table: str, column: str
) -> None:
    """Seeds 001 §3, 003 §1.3, 004 "Worker State Machine" States."""
    text = database.value(CONSTRAINT, (table, column))
    assert re.findall("'([a-z_]+)'::text", text) == list(lifecycle.states)
    begins = database.value(
        "select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid"
        " and a.attnum = d.adnum where d.adrelid = %s::regclass and a.attname = %s",
        (table, column),
    )
    assert begins == f"'{lifecycle.initial}'::text"


def test_a_worker_s_transitions_are_the_declared_ones_with_their_triggers(database: Database) -> None:
    """Seed 004 "Worker State Machine" Transitions."""
    for before in WORKER.states:
        for after in WORKER.states:
            trigger = database.value("select cutter_governance.fn_worker_trigger(%s, %s)", (before, after))
            rule = WORKER.rule(before, after)
            assert trigger == (rule.trigger if rule else None), (before, after)


def test_what_leads_from_state_to_state_in_the_database_is_the_document_run_s_way(database: Database) -> None:
    """Seed 000 §2."""
    rows = database.value(
        "select array_agg(array[from_state, to_state, gate] order by ordinal) from cutter_governance.gate_catalogue"
    )
    for before, after, gate in rows:
        assert DOCUMENT_RUN.check(before, after).trigger == gate
    assert len(rows) == len(GATES)
    assert {rule.trigger for rule in DOCUMENT_RUN.rules} > {sovereign.value for sovereign in Sovereign}
