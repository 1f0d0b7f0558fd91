"""The superuser's part: roles without powers, two databases, and who may enter which."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from cutter.catalogue import Role
from cutter.errors import Unavailable
from cutter.stack import postgres
from cutter.storage.pools import CONNECTIONS_MIN
from cutter.storage.roles import CONNECT, DATABASES, bootstrap, password_file
from tests.integration.stack.conftest import FAST


@pytest.fixture(scope="module")
def cluster() -> Iterator[postgres.Cluster]:
    with tempfile.TemporaryDirectory(prefix="cut") as folder:
        made = postgres.ensure_cluster(Path(folder), settings=FAST)
        postgres.bootstrap(made, secrets(made))
        yield made
        postgres.stop_cluster(Path(folder))


def secrets(cluster: postgres.Cluster) -> Path:
    return cluster.data_dir.parents[1] / "secrets"


def enter(cluster: postgres.Cluster, role: str, database: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        cluster.url(database), user=role, password=password_file(secrets(cluster), role, make=False), autocommit=True
    )


def asked(cluster: postgres.Cluster, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(cluster.superuser_dsn(), autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


def test_no_role_has_any_power_beyond_logging_in(cluster: postgres.Cluster) -> None:
    powers = "rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls"
    roles = asked(cluster, f"SELECT rolname, rolcanlogin, ARRAY[{powers}] FROM pg_roles WHERE oid >= 16384 ORDER BY 1")
    assert roles == [(role, True, [False] * 6) for role in sorted(Role)]
    assert asked(cluster, "SELECT count(*) FROM pg_auth_members WHERE oid >= 16384") == [(0,)]


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("database", [*DATABASES, "postgres", "template1"])
def test_a_role_enters_its_databases_only(cluster: postgres.Cluster, role: str, database: str) -> None:
    if role in CONNECT.get(database, ()):
        enter(cluster, role, database).close()
        return
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        enter(cluster, role, database)


def test_the_roles_together_leave_connections_for_the_superuser(cluster: postgres.Cluster) -> None:
    limits = {str(role): int(str(most)) for role, most in asked(
        cluster, "SELECT rolname, rolconnlimit FROM pg_roles WHERE oid >= 16384")}  # fmt: skip
    assert set(limits) == set(Role)
    assert all(most >= CONNECTIONS_MIN for most in limits.values())
    ((there,),) = asked(cluster, "SELECT current_setting('max_connections')::int")
    assert sum(limits.values()) < int(str(there)) - 3
    held = [enter(cluster, "directus", "cutter") for _ in range(limits["directus"])]
    with pytest.raises(psycopg.OperationalError, match="too many connections for role"):
        enter(cluster, "directus", "cutter")
    for connection in held:
        connection.close()


MAKING = ("CREATE SCHEMA made", "CREATE TABLE public.made (n int)", "CREATE TEMP TABLE made (n int)")


@pytest.mark.parametrize(("database", "owner"), DATABASES.items())
def test_only_the_owner_makes_schemas_and_tables(cluster: postgres.Cluster, database: str, owner: str) -> None:
    for role in CONNECT[database]:
        with enter(cluster, role, database) as connection:
            for statement in MAKING:
                if role == owner:
                    connection.execute(statement.encode())
                else:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(statement.encode())
    with enter(cluster, owner, database) as connection:
        connection.execute("DROP SCHEMA made")
        connection.execute("DROP TABLE public.made")


def test_the_databases_sort_by_code_point_on_every_machine(cluster: postgres.Cluster) -> None:
    rows = asked(
        cluster,
        "SELECT datname, pg_encoding_to_char(encoding), datlocprovider::text, datlocale FROM pg_database"
        " WHERE datname LIKE 'cutter%' ORDER BY 1",
    )
    assert rows == [(database, "UTF8", "b", "C.UTF-8") for database in DATABASES]


def test_passwords_are_random_closed_and_stored_as_scram(cluster: postgres.Cluster) -> None:
    passwords = {role: password_file(secrets(cluster), role, make=False) for role in Role}
    assert len(set(passwords.values())) == len(Role)
    for role in Role:
        assert stat.S_IMODE((secrets(cluster) / f"{role}.password").stat().st_mode) == 0o600
    for (stored,) in asked(cluster, "SELECT rolpassword FROM pg_authid WHERE rolname LIKE 'cutter%'"):
        assert str(stored).startswith("SCRAM-SHA-256$")


def test_again_keeps_the_passwords_and_repairs_what_was_changed(cluster: postgres.Cluster) -> None:
    before = password_file(secrets(cluster), "cutter_read", make=False)
    for statement in (
        "ALTER ROLE cutter_read SUPERUSER PASSWORD 'other'",
        "GRANT ALL ON DATABASE cutter_scratch TO PUBLIC",
    ):
        with psycopg.connect(cluster.superuser_dsn(), autocommit=True) as connection:
            connection.execute(statement.encode())
    postgres.bootstrap(cluster, secrets(cluster))
    assert password_file(secrets(cluster), "cutter_read", make=False) == before
    enter(cluster, "cutter_read", "cutter").close()
    assert asked(cluster, "SELECT rolsuper FROM pg_roles WHERE rolname = 'cutter_read'") == [(False,)]
    assert asked(cluster, "SELECT has_database_privilege('directus', 'cutter_scratch', 'CONNECT')") == [(False,)]


def test_who_is_no_superuser_is_told(cluster: postgres.Cluster) -> None:
    password = password_file(secrets(cluster), Role.OWNER, make=False)
    dsn = f"postgresql://{Role.OWNER}:{password}@127.0.0.1:{cluster.port}/cutter"
    with pytest.raises(Unavailable, match="cutter_owner is not a superuser"):
        bootstrap(dsn, secrets(cluster))


def test_a_server_that_is_away_is_an_error_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot reach") as caught:
        bootstrap("postgresql://postgres:hunter2@127.0.0.1:1/postgres", tmp_path)
    assert "hunter2" not in str(caught.value)
