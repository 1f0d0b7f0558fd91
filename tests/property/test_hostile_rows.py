"""Whatever JSON or text stands in a row, no reader fails: written by each role's functions, and past the checks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.support import hostile_rows as hostile
from tests.support import runs
from tests.support.database import TestCluster
from tests.support.hostile_rows import Ground
from tests.support.hypothesis_profile import costly

pytestmark = pytest.mark.thorough


TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
KEYS = TEXTS | st.sampled_from([
    "policy", "sha256", "decisions", "invariants", "pins", "notes", "name", "ok", "observed", "report", "reason",
    "queue", "slots", "used", "size_bytes", "taken_utc", "tier", "diff", "soft_seconds", "retry_delays_seconds",
    "backup_artifact", "units_created", "accepted", "code", "connector", "operation", "verdict", "receipt_hash",
])  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=12
)

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Every example reads everything, so that making one smaller would take minutes; the readers' names say enough."""


@pytest.fixture(scope="module")
def ground(cluster: TestCluster, keys: runs.Keys) -> Iterator[Ground]:
    with cluster.database() as database, runs.deployment(database, keys) as made, hostile.ground(made) as at:
        assert hostile.failing(at) == []
        yield at


@settings(max_examples=costly(8), phases=PHASES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(what="a receipt's invariants", value={"name": True})
@given(what=st.sampled_from(sorted(hostile.COLUMNS)), value=VALUES)
def test_no_reader_fails_on_what_stands_in_a_row_past_the_checks(ground: Ground, what: str, value: object) -> None:
    with hostile.unchecked(ground.database), hostile.past_the_checks(ground, what, value):
        assert hostile.failing(ground) == []


@settings(max_examples=costly(8), phases=PHASES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(call=st.sampled_from(hostile.CALLS), value=VALUES, key=st.uuids())
def test_what_a_role_may_say_is_refused_in_words_or_read_by_every_reader(
    ground: Ground, call: hostile.Call, value: object, key: object
) -> None:
    connection = ground.database.connect(call.role)
    answer = hostile.say(ground, call, value, connection, str(key))
    connection.close()
    assert answer in hostile.IN_WORDS
    assert hostile.failing(ground) == []
