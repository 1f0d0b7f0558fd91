"""`cutter backup verify` and `restore`: what a person types, sees and gets as exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cutter.backup.record import BackupRecord
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import Rig


def cutter(rig: Rig, *arguments: str, home: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    port = rig.server.cluster.port
    settings = {
        "CUTTER_STATE_DIR": str(rig.folder / "state"),
        "CUTTER_DATABASE_URL": f"postgresql://127.0.0.1:{port}/{rig.database}",
        "CUTTER_SECRETS_DIR": str(rig.server.secrets),
        "CUTTER_ARTIFACTS_URL": rig.store.as_uri(),
        "PATH": os.environ["PATH"],
        "COLUMNS": "200",
    }
    where = ("--gpg-home", str(home or rig.home.path)) if "--help" not in arguments else ()
    return subprocess.run(
        [sys.executable, "-c", "from starter.cli import main; main()", "backup", *arguments, *where],
        env=settings | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def record(rig: Rig) -> BackupRecord:
    # The command's scratch is the product's own, which the server's bootstrap has made.
    return rig.taken_record()


def test_verify_proves_a_backup(rig: Rig, record: BackupRecord) -> None:
    done = cutter(rig, "verify", record.artifact_id, "--sha256", record.sha256, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["content_fingerprint"] == record.content_fingerprint


def test_verify_shows_a_person_what_it_found(rig: Rig, record: BackupRecord) -> None:
    done = cutter(rig, "verify", record.artifact_id)
    assert done.returncode == 0, done.stderr
    assert "restores to exactly its snapshot" in done.stdout
    assert "public.unit_version" in done.stdout


def test_verify_takes_a_copied_file_with_its_record(rig: Rig, record: BackupRecord, tmp_path: Path) -> None:
    for suffix in ("", ".json"):
        (tmp_path / f"copy.gpg{suffix}").write_bytes((rig.store / (record.artifact_id + suffix)).read_bytes())
    assert cutter(rig, "verify", str(tmp_path / "copy.gpg")).returncode == 0


def test_verify_refuses_another_digest_than_the_receipts(rig: Rig, record: BackupRecord) -> None:
    done = cutter(rig, "verify", record.artifact_id, "--sha256", "0" * 64)
    assert done.returncode == 4
    assert record.sha256 in done.stderr


def test_verify_refuses_a_damaged_backup(rig: Rig, record: BackupRecord) -> None:
    path = rig.artifact(record)
    path.write_bytes(path.read_bytes()[:-1])
    done = cutter(rig, "verify", record.artifact_id)
    assert done.returncode == 4
    assert "not the one that was recorded" in done.stderr


def test_verify_refuses_a_record_of_another_artifact(rig: Rig, record: BackupRecord) -> None:
    (rig.store / "run" / "other.gpg.json").write_bytes((rig.store / (record.artifact_id + ".json")).read_bytes())
    assert cutter(rig, "verify", "run/other.gpg").returncode == 4


def test_verify_says_that_the_key_is_elsewhere(rig: Rig, record: BackupRecord, other_home: parts.Home) -> None:
    done = cutter(rig, "verify", record.artifact_id, home=other_home.path)
    assert done.returncode == 4
    assert "private key" in done.stderr


def test_verify_of_an_unknown_artifact_fails(rig: Rig) -> None:
    assert cutter(rig, "verify", "run/absent.gpg").returncode == 1


def test_restore_prints_rows_that_a_person_can_read(rig: Rig, record: BackupRecord) -> None:
    done = cutter(rig, "restore", record.artifact_id)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == sum(record.row_counts.values())
    assert {row["table"] for row in rows} <= set(record.row_counts)
    assert parts.CANARY in done.stdout
