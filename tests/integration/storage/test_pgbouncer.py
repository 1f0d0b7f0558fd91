"""PgBouncer in front of the database: each mode is refused, with one sentence that says what to change."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from cutter.catalogue import Role
from cutter.errors import Unavailable
from cutter.preflight import database as preflight
from cutter.preflight.checks import DATABASE, Host
from cutter.settings import Settings
from cutter.storage.pools import DIRECT, POOLED, check_direct
from tests.support import pgbouncer
from tests.support.database import Database, TestCluster
from tests.support.processes import ROOT

IGNORED = "ignore_startup_parameters = options"
"""With this line, PgBouncer drops what it would refuse otherwise."""

pytestmark = pytest.mark.skipif(
    pgbouncer.PROGRAM is None, reason="pgbouncer is missing (Debian: apt-get install pgbouncer)"
)


@pytest.fixture(
    params=[
        ("transaction", ""),
        ("transaction", IGNORED),
        ("session", ""),
        ("session", IGNORED),
        ("statement", IGNORED),
    ],
    ids=lambda given: " ".join(given),
)
def pooled(
    request: pytest.FixtureRequest, cluster: TestCluster, database: Database, settings: Settings
) -> Iterator[Settings]:
    """Settings whose address is that of a pooler in one of its modes."""
    mode, more = request.param
    with pgbouncer.front(cluster, mode=mode, more=more) as port:
        yield settings.model_copy(update={"database_url": f"postgresql://127.0.0.1:{port}/{database.name}"})


def test_a_pooler_is_refused_with_what_to_change(pooled: Settings) -> None:
    with pytest.raises(Unavailable) as refused:
        check_direct(pooled, Role.EXEC)
    assert str(refused.value) == f"{POOLED}: {DIRECT}"
    for host in (Host.EXEC, Host.OPERATOR):
        checks = {entry.name: entry for entry in preflight.probe(pooled, frozenset({host}))}
        check = checks[DATABASE.name]
        assert (check.failed, check.found, check.remedy) == (True, POOLED, DIRECT)


def test_a_worker_ends_with_the_same_sentence(pooled: Settings) -> None:
    environment = {
        "PATH": os.environ["PATH"], "CUTTER_STATE_DIR": str(pooled.state_dir),
        "CUTTER_SECRETS_DIR": str(pooled.secrets), "CUTTER_DATABASE_URL": str(pooled.database_url),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "worker.py", "--role", "exec"], cwd=ROOT, env=environment, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (Unavailable.exit_code, f"worker exec: {POOLED}: {DIRECT}\n")


def test_without_a_pooler_the_same_address_passes(settings: Settings) -> None:
    check_direct(settings, Role.EXEC)
    assert not [check for check in preflight.probe(settings, frozenset({Host.OPERATOR})) if check.failed]
