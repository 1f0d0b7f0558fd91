"""The preflight on a real PostgreSQL: each role, the schema and TLS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cutter.preflight import checks, database, files
from cutter.preflight.checks import Check, Host, Verdict
from cutter.settings import Settings
from tests.support import tls
from tests.support.database import Database, TestCluster
from tests.support.policies import never_installed, put_unread

EVERY = frozenset({Host.CUTTER, Host.EXEC, Host.VERIFY, Host.OPERATOR})


def looked(settings: Settings, *hosts: Host) -> dict[str, Check]:
    return {check.name: check for check in database.probe(settings, frozenset(hosts))}


def test_a_good_database_passes_for_each_host(settings: Settings) -> None:
    for hosts in (*({host} for host in EVERY), EVERY):
        all_checks = looked(settings, *hosts)
        assert {check.verdict for check in all_checks.values()} == {Verdict.OK}
        needed = {check.name for check in checks.CHECKS if check.hosts & {*hosts}}
        assert set(all_checks) == needed & {
            "passwords", "database", "database version", "database tls", "migrations", "clock", "effect policy"
        }  # fmt: skip


def test_a_schema_without_a_migration_fails_with_the_command(settings: Settings, database: Database) -> None:
    with database.connect("postgres", autocommit=True) as owner:
        owner.execute("alter table cutter_governance.schema_baseline disable trigger all")
        owner.execute("update cutter_governance.schema_baseline set schema_version = 3")
    check = looked(settings, Host.CUTTER)["migrations"]
    assert (check.verdict, check.remedy) == (Verdict.BAD, "cutter migrate")
    assert check.found.startswith("the schema has version 3, and ")
    assert "migrations" not in looked(settings, Host.EXEC)


def test_a_database_without_any_schema_fails_with_the_command(cluster: TestCluster, state: Path) -> None:
    with cluster.database(template="template0") as empty:
        all_checks = looked(empty.settings(state), Host.OPERATOR)
    assert (all_checks["migrations"].verdict, all_checks["migrations"].remedy) == (Verdict.BAD, "cutter migrate")


def test_an_effect_policy_that_is_missing_or_wrong_fails_with_the_command(
    settings: Settings, database: Database
) -> None:
    put_unread(settings, "nonsense")
    assert looked(settings, Host.EXEC)["effect policy"].remedy == "cutter policy explain"
    never_installed(database)
    missing = looked(settings, Host.EXEC)["effect policy"]
    assert (missing.verdict, missing.remedy) == (Verdict.BAD, "cutter policy install")


def test_a_database_without_any_schema_has_no_effect_policy(cluster: TestCluster, state: Path) -> None:
    with cluster.database(template="template0") as empty:
        all_checks = looked(empty.settings(state), Host.CUTTER)
    assert [check.name for check in all_checks.values() if check.failed] == ["migrations"]


def test_a_wrong_password_and_a_closed_port_name_what_to_correct(settings: Settings, tmp_path: Path) -> None:
    wrong = settings.model_copy(update={"secrets_dir": tmp_path})
    (tmp_path / "cutter_exec.password").write_text("wrong")
    (tmp_path / "cutter_exec.password").chmod(0o600)
    refused = looked(wrong, Host.EXEC)["database"]
    assert refused.failed
    assert "password files" in refused.remedy
    closed = looked(settings.model_copy(update={"database_url": "postgresql://127.0.0.1:1/cutter"}), Host.EXEC)
    assert "CUTTER_DATABASE_URL" in closed["database"].remedy
    assert closed["clock"].verdict is Verdict.OFF


def test_an_epoch_that_only_another_host_has_fails(settings: Settings, database: Database) -> None:
    assert files.approvers(settings, frozenset({Host.EXEC})).verdict is Verdict.OFF
    with database.connect("postgres", autocommit=True) as owner:
        owner.execute(
            "insert into cutter_governance.policy_epoch (number, sha256, body, deployment_id, thresholds, tiers,"
            " lifecycle_group) select 1, encode(sha256('x'), 'hex'), 'x', gen_random_uuid(), '{}', '{}', 'sovereigns'"
        )
    failed = files.approvers(settings, frozenset({Host.EXEC}))
    assert failed.failed
    assert "CUTTER_APPROVERS_DIR" in failed.remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class Encrypted:
    """Settings whose address demands TLS, and the root certificate."""

    settings: Settings
    root: Path


@pytest.fixture
def encrypted(settings: Settings, cluster: TestCluster, tmp_path: Path) -> Iterator[Encrypted]:
    own = tls.certificate(tmp_path)
    with tls.front(("127.0.0.1", cluster.cluster.port), own, postgres=True) as port:
        name = (settings.database_url or "").rpartition("/")[2]
        address = f"postgresql://localhost:{port}/{name}?sslmode=verify-full&sslrootcert={own.root}"
        yield Encrypted(settings=settings.model_copy(update={"database_url": address}), root=own.root)


def test_an_address_with_tls_passes_and_the_certificate_is_verified(encrypted: Encrypted, tmp_path: Path) -> None:
    assert {check.verdict for check in looked(encrypted.settings, Host.CUTTER).values()} == {Verdict.OK}
    (tmp_path / "other").mkdir()
    other = tls.certificate(tmp_path / "other", "elsewhere")
    address = (encrypted.settings.database_url or "").replace(str(encrypted.root), str(other.root))
    failed = looked(encrypted.settings.model_copy(update={"database_url": address}), Host.CUTTER)["database"]
    assert failed.failed
    assert "sslrootcert" in failed.remedy
