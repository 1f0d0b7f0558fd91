"""The guide of a deployment: its checks, versions and settings are those of the code, and its keys work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cutter import versions
from cutter.catalogue import WorkerRole
from cutter.preflight import checks, files
from cutter.preflight.checks import Verdict
from cutter.settings import Settings
from cutter.stack.workers import HOMES, database_roles
from tests.support.database import short_folder

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "deploy.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)


def test_the_guide_has_a_row_for_each_check() -> None:
    rows = re.findall(r"^\| ([a-z0-9 ]+) \| [a-z, ]+ \| (.+) \|$", GUIDE, re.MULTILINE)
    of_hosts = [check for check in checks.CHECKS if check.hosts != checks.ONLY_LOCAL]
    assert [row for row in rows if row[0] in {check.name for check in of_hosts}] == [
        (check.name, check.why) for check in of_hosts
    ]


def test_the_guide_names_the_supported_versions() -> None:
    for name, oldest, newest in (
        ("PostgreSQL", versions.POSTGRES_MIN, versions.POSTGRES_TESTED),
        ("Temporal", versions.TEMPORAL_MIN, versions.TEMPORAL_TESTED),
    ):
        assert f"| {name} | {versions.text(oldest)} or newer | {versions.text(newest)} |" in GUIDE


@pytest.mark.parametrize("worker", WorkerRole)
def test_the_row_of_a_worker_has_its_passwords_and_its_key(worker: WorkerRole) -> None:
    row = next(line for line in GUIDE.splitlines() if line.startswith(f"| {worker.value} worker |"))
    assert set(re.findall(r"`(cutter_[a-z]+)`", row)) == set(database_roles(worker))
    assert f"`{HOMES[worker]}`" in row


def test_each_setting_of_the_guide_exists() -> None:
    named = set(re.findall(r"\bCUTTER_([A-Z_]+)", GUIDE))
    assert {name.lower() for name in named} <= set(Settings.model_fields)


def test_the_commands_for_keys_make_keys_that_pass() -> None:
    make = next(block for block in BLOCKS if "cutter keys make" in block)
    install = next(block for block in BLOCKS if "cutter keys import" in block)
    with short_folder() as folder:
        settings = Settings(state_dir=folder, keys_dir=folder / "keys", secrets_dir=folder / "secrets")
        environment = os.environ | {
            "CUTTER_STATE_DIR": str(folder), "CUTTER_KEYS_DIR": str(settings.keys),
            "CUTTER_SECRETS_DIR": str(settings.secrets), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }  # fmt: skip
        kill = 'for home in keys/*/; do gpgconf --homedir "$home" --kill gpg-agent; done'
        try:
            for block in (make, *(install.replace("executor", home) for home in HOMES.values())):
                _type(block, folder, environment)
            assert {files.key(settings, role).verdict for role in WorkerRole} == {Verdict.OK}
        finally:
            _type(kill, folder, environment)


def _type(block: str, folder: Path, environment: Mapping[str, str]) -> None:
    subprocess.run(
        ["bash", "-e", "-c", block], cwd=folder, env=environment, check=True, capture_output=True, timeout=120
    )


def test_each_host_gets_the_files_that_its_import_needs() -> None:
    secret_files = {
        "cutter worker gets": ("backup.key", "backup.fingerprint"), "the exec worker": ("executor.key",),
        "the verify worker": ("verifier.key", "executor.asc"),
    }  # fmt: skip
    text = " ".join(GUIDE.split())
    for who, names in secret_files.items():
        assert f"{who} {' and '.join(f'`{name}`' for name in names)}" in text


def test_the_commands_for_certificates_make_certificates_that_verify(tmp_path: Path) -> None:
    assert shutil.which("openssl")
    block = next(block for block in BLOCKS if "openssl" in block)
    subprocess.run(["bash", "-e", "-c", block], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    for name in ("temporal", "law-database", "client"):
        process = subprocess.run(
            ["openssl", "verify", "-CAfile", "ca.crt", "-verify_hostname", name, f"{name}.crt"],
            cwd=tmp_path / "certs", check=True, capture_output=True, text=True,
        )  # fmt: skip
        assert "OK" in process.stdout
