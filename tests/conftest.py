"""Shared fixtures: the session's cluster, a database and settings a test."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter.catalogue import Sovereign
from cutter.settings import Settings
from tests.support import database as support
from tests.support import hypothesis_profile as _profile  # noqa: F401
from tests.support import promises, runs
from tests.support.database import Database, TestCluster
from tests.support.pace import patient

TEST_SECONDS = 300
"""The limit of one test on a free machine. The suite as a whole has none."""

os.environ.setdefault("PYTEST_TIMEOUT", str(patient(TEST_SECONDS)))

_OWNS_CLUSTER = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_OWNS_CLUSTER] = support.claim()


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.stash.get(_OWNS_CLUSTER, False):
        support.release()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    promises.mark(items)


def pytest_collection_finish() -> None:
    """Let no garbage collection visit the tests themselves.

    Otherwise a full collection can take longer than the SDK allows for a workflow task.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def cluster() -> TestCluster:
    """The one cluster of this test session, shared by all workers."""
    return support.session_cluster()


@pytest.fixture
def database(cluster: TestCluster) -> Iterator[Database]:
    """A migrated database of one's own; `connect(role)` for each role."""
    with cluster.database() as made:
        yield made


@pytest.fixture
def scratch(cluster: TestCluster) -> str:
    """The database that proves restores, owned by cutter_backup; all tests share it."""
    return cluster.url("cutter_backup", support.SCRATCH)


@pytest.fixture
def state() -> Iterator[Path]:
    """A state folder with a short path."""
    with support.short_folder() as folder:
        yield folder


@pytest.fixture
def settings(database: Database, state: Path) -> Settings:
    """Settings of a deployment on this test's database, usable by the pools."""
    return database.settings(state)


@pytest.fixture(scope="session")
def keys() -> Iterator[runs.Keys]:
    """Real keys of the workers and of two approvers, alice and bob, made once a session."""
    with runs.keyring() as made:
        yield made


@pytest.fixture
def deployment(database: Database, keys: runs.Keys) -> Iterator[runs.Deployment]:
    """A deployment on this test's database, whose runs `runs.drive` brings anywhere."""
    with runs.deployment(database, keys) as made:
        yield made


@pytest.fixture(scope="session")
def cut_stage(cluster: TestCluster, keys: runs.Keys) -> Iterator[runs.Stage]:
    """A run before leg A: gates 1 to 5 sealed, SG_1 approved and not consumed."""
    with runs.stage(cluster, keys, until="IG_grant_probe", sovereign=Sovereign.CUT) as made:
        yield made


@pytest.fixture(scope="session")
def enact_stage(cluster: TestCluster, keys: runs.Keys) -> Iterator[runs.Stage]:
    """A run before its enactment: gates 1 to 9 sealed, SG_2 approved and not consumed."""
    with runs.stage(cluster, keys, until="IG_write_verify", sovereign=Sovereign.LIFECYCLE) as made:
        yield made


@pytest.fixture(scope="session")
def enacted_stage(cluster: TestCluster, keys: runs.Keys) -> Iterator[runs.Stage]:
    """A run that is over: its law is enacted."""
    with runs.stage(cluster, keys, until="IG_closeout") as made:
        yield made
