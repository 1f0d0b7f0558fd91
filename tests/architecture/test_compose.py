"""The compose file for a server that stays: what it must have, and that it agrees with the local stack."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from cutter.catalogue import WorkerRole
from cutter.settings import Settings
from cutter.stack import temporal
from cutter.stack.temporal import DYNAMIC_CONFIG
from cutter.stack.workers import HOMES, database_roles
from temporal.names import SEARCH_ATTRIBUTES

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.temporal.yml"
TEXT = FILE.read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]

STEPS = {"temporal-schema": "temporal", "temporal-namespace": "temporal-ui"}
"""The services that end after their step, each with a service that starts after it and goes on running."""

DATA = {"engine-database": "engine-data", "law-database": "law-data"}
PUBLISHED = {"temporal": "7233", "temporal-ui": "8080", "law-database": "5432"}

WORKERS = {"worker-cutter": "cutter", "worker-exec": "exec", "worker-verify": "verify"}
HEALTH_PORT = 9480

TLS_FILE = ROOT / "docker-compose.tls.yml"
TLS: dict[str, Any] = yaml.safe_load(TLS_FILE.read_text(encoding="utf-8"))

OF_THE_SERVER = {
    *("DB", "DB_PORT", "POSTGRES_SEEDS", "POSTGRES_USER", "POSTGRES_PWD", "DYNAMIC_CONFIG_FILE_PATH"),
    *("NUM_HISTORY_SHARDS", "TEMPORAL_TLS_SERVER_CA_CERT", "TEMPORAL_TLS_SERVER_CERT", "TEMPORAL_TLS_SERVER_KEY"),
    *("TEMPORAL_TLS_INTERNODE_SERVER_NAME", "TEMPORAL_TLS_FRONTEND_CERT", "TEMPORAL_TLS_FRONTEND_KEY"),
    *("TEMPORAL_TLS_FRONTEND_SERVER_NAME", "TEMPORAL_TLS_REQUIRE_CLIENT_AUTH", "TEMPORAL_TLS_CLIENT1_CA_CERT"),
    "TEMPORAL_TLS_CLIENT2_CA_CERT",
}
"""The variables that the configuration template in server 1.32.0 reads."""

OF_A_CLIENT = {"TEMPORAL_TLS_SERVER_CA_CERT_PATH", "TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_KEY_PATH"}
"""The variables that the profile of Temporal's SDK and CLI reads."""


every_service = pytest.mark.parametrize("name", sorted(SERVICES))
every_server = pytest.mark.parametrize("name", sorted(SERVICES.keys() - STEPS))


def test_it_brings_temporal_its_database_the_ui_the_law_database_and_the_workers() -> None:
    assert set(SERVICES) == {"engine-database", "temporal", "temporal-ui", "law-database", *STEPS, *WORKERS}


def test_a_number_of_shards_was_chosen() -> None:
    assert int(SERVICES["temporal"]["environment"]["NUM_HISTORY_SHARDS"]) > 4


def test_our_search_attributes_leave_room_for_those_of_other_programs() -> None:
    """A namespace with SQL visibility has room for ten keywords, and for three of each other type."""
    kinds = Counter(key.indexed_value_type.name for key in SEARCH_ATTRIBUTES)
    assert kinds.pop("KEYWORD") <= 8
    assert set(kinds.values()) == {1}


@pytest.mark.parametrize(("name", "role"), WORKERS.items())
def test_a_worker_has_its_own_passwords_and_key_and_a_probe_that_waits_until_it_serves(name: str, role: str) -> None:
    service, worker = SERVICES[name], WorkerRole(role)
    assert service["command"][-2:] == ["--role", role]
    given = {secret["target"].removesuffix(".password") for secret in service["secrets"]}
    assert given == set(database_roles(worker))
    keys = {mount.removesuffix(":ro").rpartition(":")[2] for mount in service["volumes"] if "/keys/" in mount}
    assert keys - {"/var/lib/cutter/keys/backup.fingerprint"} == {f"/var/lib/cutter/keys/{HOMES[worker]}"}
    port = int(service["environment"]["CUTTER_HEALTH_PORT"]) + tuple(WorkerRole).index(worker)
    assert port == HEALTH_PORT
    assert f"127.0.0.1:{HEALTH_PORT}/readyz" in service["healthcheck"]["test"][-1]
    assert service["profiles"] == ["workers"]


def test_each_setting_of_a_worker_exists() -> None:
    named = set()
    for services in (SERVICES, TLS["services"]):
        named |= {key for name in WORKERS for key in services[name]["environment"]}
    ours = {name for name in named if name.startswith("CUTTER_")}
    assert {name.removeprefix("CUTTER_").lower() for name in ours} <= set(Settings.model_fields)
    assert named - ours == OF_A_CLIENT


def test_the_variables_of_the_server_are_those_that_it_reads() -> None:
    given = {**SERVICES["temporal"]["environment"], **TLS["services"]["temporal"]["environment"]}
    assert set(given) == OF_THE_SERVER


def test_the_tls_file_changes_services_that_exist_and_keeps_the_settings_of_the_database() -> None:
    assert set(TLS["services"]) == {"temporal", "temporal-namespace", "temporal-ui", "law-database", *WORKERS}
    assert set(TLS["services"]["temporal-namespace"]["environment"]) == OF_A_CLIENT
    encrypted = TLS["services"]["law-database"]
    assert encrypted["command"][: len(SERVICES["law-database"]["command"])] == SERVICES["law-database"]["command"]
    assert "ssl=on" in encrypted["command"]
    hba = TLS["configs"]["hba"]["content"].split("\n")
    assert [line for line in hba if line.startswith("host")] == ["hostssl all all all scram-sha-256"]
    for name in WORKERS:
        assert "sslmode=verify-full" in TLS["services"][name]["environment"]["CUTTER_DATABASE_URL"]


@every_service
def test_every_image_is_pinned_to_a_full_version(name: str) -> None:
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?", _tag(name)), name


def _tag(name: str) -> str:
    return str(SERVICES[name]["image"]).rpartition(":")[2]


def test_the_server_is_the_one_that_was_proven_and_the_law_database_is_the_embedded_ones_major() -> None:
    path = temporal.installed()
    assert path is not None
    assert temporal.program(path) == temporal._Program(
        path=path, version=f"Server {_tag('temporal')}, UI {_tag('temporal-ui')}"
    )
    assert {_tag(name) for name in STEPS} == {_tag("temporal")}
    assert SERVICES["law-database"]["image"].startswith("postgres:18.")


@every_server
def test_every_server_has_a_health_check_and_comes_back_after_a_reboot(name: str) -> None:
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


def test_a_service_waits_until_what_it_needs_is_healthy_or_done() -> None:
    healthy = {"condition": "service_healthy"}
    done = {"condition": "service_completed_successfully"}
    needs = {
        "temporal-schema": {"engine-database": healthy}, "temporal": {"temporal-schema": done},
        "temporal-namespace": {"temporal": healthy}, "temporal-ui": {"temporal-namespace": done},
        **{worker: {"temporal-namespace": done, "law-database": healthy} for worker in WORKERS},
    }  # fmt: skip
    for name, needed in needs.items():
        assert SERVICES[name]["depends_on"] == needed


def test_a_step_that_fails_is_tried_again_and_a_running_service_waits_for_it() -> None:
    """`docker compose up --wait` fails if a service ends that no running service waits for."""
    for step, after in STEPS.items():
        assert SERVICES[step]["restart"] == "on-failure"
        assert SERVICES[after]["depends_on"][step] == {"condition": "service_completed_successfully"}


def test_no_password_stands_in_the_file_and_a_missing_one_stops_it() -> None:
    given = [
        value
        for service in SERVICES.values()
        for key, value in service["environment"].items()
        if re.search("PASSWORD|PWD", key)
    ]
    assert len(given) == 4
    assert all(re.fullmatch(r"\$\{[A-Z_]+:\?.+\}", value) for value in given)


def test_the_dynamic_configuration_equals_the_local_servers() -> None:
    written = yaml.safe_load(COMPOSE["configs"]["dynamic-config"]["content"])
    local = {key: yaml.safe_load(value) for key, _, value in (pair.partition("=") for pair in DYNAMIC_CONFIG)}
    assert {key: constraint[0]["value"] for key, constraint in written.items()} == local
    assert (
        SERVICES["temporal"]["configs"][0]["target"] == SERVICES["temporal"]["environment"]["DYNAMIC_CONFIG_FILE_PATH"]
    )


def test_the_guide_says_what_each_dynamic_setting_is_for() -> None:
    guide = (ROOT / "docs" / "guides" / "deploy.md").read_text(encoding="utf-8")
    table = [line for line in guide.splitlines() if re.match(r"\| `(matching|system|history|frontend)\.", line)]
    named = re.findall(r"`([a-z]+\.[A-Za-z.]+)`", "".join(table))
    assert sorted(named) == sorted(pair.partition("=")[0] for pair in DYNAMIC_CONFIG)


def test_the_head_of_the_file_names_the_settings_that_point_there() -> None:
    law = SERVICES["law-database"]["ports"][0].rpartition(":")[0]
    server = SERVICES["temporal"]["ports"][0].rpartition(":")[0]
    assert f"CUTTER_DATABASE_URL=postgresql://{law}/cutter" in TEXT
    assert f"CUTTER_TEMPORAL_ADDRESS={server}" in TEXT


README = ROOT / "README.md"


def test_the_readme_names_the_file() -> None:
    assert FILE.name in README.read_text(encoding="utf-8")
