"""A server that accepts no writes, or no more connections, is named with its remedy, and never as a bug."""

from __future__ import annotations

from contextlib import ExitStack, closing

import psycopg
import pytest

from cutter.backup import rows as of_backups
from cutter.catalogue import Role
from cutter.errors import Unavailable
from cutter.preflight.database import first_line, remedy_of
from cutter.settings import Settings
from cutter.stack.processes import until
from cutter.storage import migrate, roles
from cutter.storage.pools import FEWER, READ_ONLY, WRITABLE, session
from tests.support.database import OWNER, TEMPLATE, TestCluster, own_cluster


def settings_of(cluster: TestCluster) -> Settings:
    return Settings(
        state_dir=cluster.secrets.parent, database_url=f"postgresql://127.0.0.1:{cluster.cluster.port}/{TEMPLATE}"
    )


def read_only(cluster: TestCluster) -> bool:
    with closing(psycopg.connect(cluster.url(OWNER, TEMPLATE))) as fresh:
        return fresh.execute("show default_transaction_read_only").fetchone() == ("on",)


def test_a_server_that_is_read_only_is_named_by_each_command_that_writes() -> None:
    with own_cluster() as cluster:
        with closing(psycopg.connect(cluster.cluster.superuser_dsn(), autocommit=True)) as superuser:
            superuser.execute("alter system set default_transaction_read_only = on")
            superuser.execute("select pg_reload_conf()")
        assert until(lambda: read_only(cluster), seconds=30)
        settings = settings_of(cluster)
        for refused in (
            lambda: migrate.migrate(settings),
            lambda: migrate.check(settings),
            lambda: roles.bootstrap(cluster.cluster.superuser_dsn(), cluster.secrets),
        ):
            with pytest.raises(Unavailable) as caught:
                refused()
            assert READ_ONLY in first_line(caught.value)
            assert remedy_of(caught.value) == WRITABLE
        with closing(psycopg.connect(cluster.url(OWNER, TEMPLATE))) as owner:
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as unwritten:
                owner.execute("create schema s")
            assert READ_ONLY in str(of_backups.away(unwritten.value))


def test_a_server_without_a_free_connection_is_not_started_again() -> None:
    with own_cluster() as cluster, ExitStack() as held:
        settings = settings_of(cluster)

        def take_all() -> None:
            while True:
                held.enter_context(session(settings, Role.OPERATOR))

        with pytest.raises(Unavailable) as caught:
            take_all()
        assert "too many connections for role" in first_line(caught.value)
        assert (remedy_of(caught.value), "cutter up" in str(caught.value)) == (FEWER, False)
