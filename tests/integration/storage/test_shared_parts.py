"""The shared fixtures themselves: every role connects as itself, clones are apart, settings reach the database."""

from __future__ import annotations

import psycopg
import pytest

from cutter.catalogue import Role
from cutter.settings import Settings
from cutter.storage.pools import connect, open_pool
from tests.support.database import OWNER, ROLES, Database, TestCluster


@pytest.mark.parametrize("role", [OWNER, *ROLES])
def test_each_role_connects_as_itself(database: Database, role: str) -> None:
    row = database.connect(role).execute("select session_user::text, current_user::text, current_database()").fetchone()
    assert row == (role, role, database.name)


def test_a_clone_is_apart_from_every_other(cluster: TestCluster, database: Database) -> None:
    database.run("create table public.only_here ()", role=OWNER)
    with cluster.database() as other:
        assert other.value("select to_regclass('public.only_here')::text") is None


def test_pools_work_with_the_settings(settings: Settings, database: Database) -> None:
    with open_pool(settings, Role.READ) as pool, pool.connection() as connection:
        row = connection.execute("select current_database()").fetchone()
        connection.rollback()
    assert row == (database.name,)


def test_the_scratch_database_is_the_backup_roles_own(settings: Settings, scratch: str) -> None:
    with psycopg.connect(scratch) as connection:
        row = connection.execute(
            "select pg_get_userbyid(datdba) from pg_database where datname = current_database()"
        ).fetchone()
        connection.execute("create temporary table mine ()")
    assert row == ("cutter_backup",)
    with connect(settings, Role.BACKUP) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("create table public.mine ()")
