"""Each dimension that the seed wants surveyed before a gate stops it when something else changed it."""

from __future__ import annotations

import pytest

from tests.cases.tampering import KINDS
from tests.integration.storage.conftest import LEG_A, At
from tests.support import gate_calls as gates

REWRITTEN = (
    "do $$ begin execute regexp_replace(pg_get_functiondef(%L::regproc), '(?i)begin', 'begin perform 1;'); end $$"
)
ADDED = {"canonical_address": "a unit added", "review_decision": "a decision added"}


@pytest.mark.parametrize(
    ("changed", "dimension"),
    [
        ("canonical_address", "row_count"), ("fn_iu_create", "source"), ("fn_iu_enact", "source"),
        ("fn_iu_apply_edit_draft", "source"), ("review_decision", "review_decision"),
    ],
)  # fmt: skip
def test_what_the_seed_surveys_stops_the_gate_when_it_changed(at_cut: At, changed: str, dimension: str) -> None:
    """Seeds 000 §7, 000 §8, 000 §9."""
    owner = at_cut.connect("postgres")
    if changed in ADDED:
        kind = next(kind for kind in KINDS if kind.name == ADDED[changed])
        kind.apply(owner, prefix=at_cut.docprefix, run=at_cut.run_id)
    else:
        owner.execute(REWRITTEN.replace("%L", f"'public.{changed}'"))
    owner.commit()
    connection = at_cut.connect()
    answer = at_cut.open(connection, number=gates.attempt(connection, LEG_A, at_cut.run_id))
    assert (answer["status"], answer["drift"]["dimension"]) == ("drift", dimension)
    assert answer["drift"]["diff"], "the payload says what differs"
