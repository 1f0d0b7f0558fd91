"""The list of checks: each has hosts and a reason, each host gets only its own, and each failure says what mends it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cutter import limits, versions
from cutter.preflight import checks, database
from cutter.preflight.checks import Host, Verdict, made

NOW = datetime(2026, 11, 24, tzinfo=UTC)


def names(*hosts: Host) -> set[str]:
    return {check.name for check in checks.CHECKS if check.hosts & {*hosts}}


def test_each_check_has_one_name_hosts_and_a_reason() -> None:
    assert len({check.name for check in checks.CHECKS}) == len(checks.CHECKS)
    assert all(check.hosts and check.why for check in checks.CHECKS)


def test_a_host_needs_only_the_checks_of_its_own_tasks() -> None:
    assert names(Host.VERIFY) & {"approver policy", "search attributes", "migrations"} == set()
    assert names(Host.OPERATOR) & {"key", "effect policy", "artifact store"} == set()
    assert {"search attributes", "restore points", "approver policy", "key"} <= names(Host.CUTTER)
    assert names(Host.CUTTER, Host.VERIFY) == names(Host.CUTTER) | names(Host.VERIFY)


def test_a_probe_that_raises_is_a_failed_check_and_the_next_ones_are_made() -> None:
    probes = (
        (checks.KEY, lambda: {}["nothing"]), (checks.GPG, lambda: [checks.ok(checks.GPG, "there")]),
        (checks.SERVING, lambda: [checks.ok(checks.SERVING, "of another host")]),
    )  # fmt: skip
    failed, passed = made(probes, frozenset({Host.EXEC}))
    assert (failed.name, failed.failed) == ("key", True)
    assert failed.remedy.startswith("report this bug of cutter, at test_checks.py:")
    assert (passed.name, passed.verdict) == ("gpg", Verdict.OK)
    assert made(probes, frozenset({Host.EXEC}), {checks.KEY}) == [passed]


def test_a_remedy_that_is_a_command_is_quoted_in_a_sentence() -> None:
    failed = checks.bad(checks.MIGRATIONS, "version 3", "cutter migrate")
    assert checks.sentence(failed) == "migrations: version 3; type `cutter migrate`"
    other = checks.bad(checks.KEY, "open", "chmod 600 x")
    assert checks.sentence(other) == "key: open; chmod 600 x"
    assert checks.failures([failed, checks.ok(checks.KEY, "x"), checks.warned(checks.KEY, "x", "y")]) == (failed,)


@pytest.mark.parametrize("seconds", [-1, 1])
def test_a_clock_that_differs_by_more_than_the_limit_fails(seconds: int) -> None:
    least = limits.CLOCK_SKEW_SECONDS
    assert database.clock(NOW, NOW + timedelta(seconds=seconds * least)).verdict is Verdict.OK
    failed = database.clock(NOW, NOW + timedelta(seconds=seconds * (least + 1)))
    assert failed.failed
    assert "NTP" in failed.remedy


def test_the_supported_versions_refuse_older_servers_and_name_newer_ones() -> None:
    assert versions.too_old("PostgreSQL", (16, 9), versions.POSTGRES_MIN) == (
        "PostgreSQL 16.9 is too old: 17 or newer is needed"
    )
    assert versions.too_old("PostgreSQL", (17, 0), versions.POSTGRES_MIN) is None
    assert versions.too_old("Temporal", (1, 28, 2), versions.TEMPORAL_MIN) is not None
    assert not versions.is_untested((18, 4), versions.POSTGRES_TESTED)
    assert versions.is_untested((19, 0), versions.POSTGRES_TESTED)
    assert versions.is_untested((1, 33, 0), versions.TEMPORAL_TESTED)
