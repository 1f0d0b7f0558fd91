"""Whose word counts on how to reach Temporal: the settings, the running local stack, Temporal's own profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.errors import Unavailable
from cutter.settings import Settings
from cutter.stack.addresses import TEMPORAL
from temporal import client

LOCAL, OTHER = "127.0.0.1:7001", "cloud.example:7233"


@pytest.fixture(autouse=True)
def profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A person whose Temporal profile is of a server with TLS and an API key."""
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(tmp_path / "none.toml"))
    for name, value in {
        "TEMPORAL_ADDRESS": OTHER,
        "TEMPORAL_NAMESPACE": "theirs",
        "TEMPORAL_API_KEY": "key",
        "TEMPORAL_TLS": "true",
        "TEMPORAL_TLS_SERVER_NAME": "cloud.example",
    }.items():
        monkeypatch.setenv(name, value)


def test_the_local_stack_is_reached_plainly_whatever_the_profile_says(tmp_path: Path) -> None:
    (tmp_path / TEMPORAL).write_text(LOCAL, encoding="ascii")
    assert client.profile(Settings(state_dir=tmp_path)) == {"target_host": LOCAL, "namespace": "default"}


def test_a_server_that_exists_is_reached_as_the_profile_says(tmp_path: Path) -> None:
    (tmp_path / TEMPORAL).write_text(LOCAL, encoding="ascii")
    connection = client.profile(Settings(state_dir=tmp_path, temporal_address=OTHER))
    assert (connection["target_host"], connection["namespace"], connection["api_key"]) == (OTHER, "theirs", "key")
    assert connection["tls"].domain == "cloud.example"


def test_without_a_local_stack_the_profile_s_own_address_counts(tmp_path: Path) -> None:
    assert client.profile(Settings(state_dir=tmp_path))["target_host"] == OTHER


def test_without_any_address_it_says_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEMPORAL_ADDRESS")
    with pytest.raises(Unavailable, match="cutter up"):
        client.profile(Settings(state_dir=tmp_path))


def test_a_file_of_the_profile_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_TLS_CLIENT_CERT_PATH", str(tmp_path / "missing.crt"))
    monkeypatch.setenv("TEMPORAL_TLS_CLIENT_KEY_PATH", str(tmp_path / "missing.key"))
    with pytest.raises(Unavailable, match=r"missing\.(crt|key).*TEMPORAL_"):
        client.profile(Settings(state_dir=tmp_path, temporal_address=OTHER))
