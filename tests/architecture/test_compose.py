"""The compose file for a server that stays: what it must have, and that it agrees with the local stack."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from cutter.stack.temporal_server import DYNAMIC_CONFIG

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.temporal.yml"
TEXT = FILE.read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]

DATA = {"engine-database": "engine-data", "law-database": "law-data"}
PUBLISHED = {"temporal": "7233", "temporal-ui": "8080", "law-database": "5432"}

every_service = pytest.mark.parametrize("name", sorted(SERVICES))


def test_it_brings_temporal_its_database_the_ui_and_the_law_database() -> None:
    assert set(SERVICES) == {"engine-database", "temporal", "temporal-ui", "law-database"}


@every_service
def test_every_image_is_pinned_to_a_full_version(name: str) -> None:
    tag = SERVICES[name]["image"].rpartition(":")[2]
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?", tag), tag


def test_the_server_is_the_one_that_was_proven_and_the_law_database_is_the_embedded_ones_major() -> None:
    assert SERVICES["temporal"]["image"].endswith(":1.29.1")
    assert SERVICES["temporal-ui"]["image"].endswith(":2.42.1")
    assert SERVICES["law-database"]["image"].startswith("postgres:18.")


@every_service
def test_every_service_has_a_health_check_and_comes_back_after_a_reboot(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert {"interval", "timeout", "retries"} <= set(check)
    assert SERVICES[name]["restart"] == "unless-stopped"


@every_service
def test_every_published_port_is_on_loopback(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port), port


def test_only_what_people_and_workers_need_is_published() -> None:
    published = {
        name: service["ports"][0].rpartition(":")[2] for name, service in SERVICES.items() if "ports" in service
    }
    assert published == PUBLISHED


def test_both_databases_keep_their_data_in_named_volumes() -> None:
    for name, volume in DATA.items():
        (mount,) = SERVICES[name]["volumes"]
        assert mount.partition(":")[0] == volume
        assert volume in COMPOSE["volumes"]


def test_a_service_waits_until_what_it_needs_is_healthy() -> None:
    for name, needed in {"temporal": "engine-database", "temporal-ui": "temporal"}.items():
        assert SERVICES[name]["depends_on"] == {needed: {"condition": "service_healthy"}}


def test_no_password_stands_in_the_file_and_a_missing_one_stops_it() -> None:
    given = [
        value
        for service in SERVICES.values()
        for key, value in service["environment"].items()
        if re.search("PASSWORD|PWD", key)
    ]
    assert len(given) == 3
    assert all(re.fullmatch(r"\$\{[A-Z_]+:\?.+\}", value) for value in given)


def test_the_dynamic_configuration_equals_the_local_servers() -> None:
    written = yaml.safe_load(COMPOSE["configs"]["dynamic-config"]["content"])
    local = {key: yaml.safe_load(value) for key, _, value in (pair.partition("=") for pair in DYNAMIC_CONFIG)}
    assert {key: constraint[0]["value"] for key, constraint in written.items()} == local
    assert (
        SERVICES["temporal"]["configs"][0]["target"] == SERVICES["temporal"]["environment"]["DYNAMIC_CONFIG_FILE_PATH"]
    )


def test_the_head_of_the_file_names_the_settings_that_point_there() -> None:
    law = SERVICES["law-database"]["ports"][0].rpartition(":")[0]
    server = SERVICES["temporal"]["ports"][0].rpartition(":")[0]
    assert f"CUTTER_DATABASE_URL=postgresql://{law}/cutter" in TEXT
    assert f"CUTTER_TEMPORAL_ADDRESS={server}" in TEXT


README = ROOT / "README.md"


def test_the_readme_names_the_file() -> None:
    assert FILE.name in README.read_text(encoding="utf-8")
