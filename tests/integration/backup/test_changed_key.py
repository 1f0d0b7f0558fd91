"""Another backup key: new backups are for it, and the earlier ones restore as long as their key is in the home."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from activities.gates.shared_backup import shared_backup
from cutter.backup import keyring
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode
from cutter.catalogue import WorkerRole
from cutter.domain.run_record import RunRecord
from cutter.gpg import Gpg
from cutter.preflight import files
from cutter.preflight.checks import Verdict
from cutter.stack import key_homes
from cutter.storage.gate_transaction import Attempt
from starter.local import deployment_keys
from starter.local.deployment_keys import KeyRole
from tests.integration.backup import rig as parts
from tests.integration.backup.segment_rig import Laws, content, laws
from tests.support import runs
from tests.support.database import TestCluster, short_folder

BATCH = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"


@pytest.fixture
def changed(cluster: TestCluster, keys: runs.Keys) -> Iterator[Laws]:
    """Three laws, and then another pinned key. The deployment has its own copy of the keys."""
    with short_folder() as folder:
        shutil.copytree(keys.folder / "keys", folder / "keys", ignore=shutil.ignore_patterns("S.*"))
        own = replace(keys, folder=folder)
        shutil.copytree(keys.folder / "approvers", folder / "approvers")
        try:
            with laws(cluster, own) as world:
                deployment_keys.make(KeyRole.BACKUP, folder / "new", expire="0")
                deployment_keys.install(KeyRole.BACKUP, folder / "new", folder / "keys", folder / "secrets")
                yield world
        finally:
            for name in key_homes.HOMES.values():
                Gpg(folder / "keys" / name).stop_agent()


def test_new_backups_are_for_the_new_key_and_the_old_ones_restore(changed: Laws) -> None:
    old = changed.record(0)
    assert old.recipient != changed.fingerprint
    assert files.key(changed.made.settings, WorkerRole.CUTTER).verdict is Verdict.OK
    runs.drive(changed.made, runs.law(4), quick=False)
    new = changed.take("backups/new.gpg")
    assert isinstance(new, BackupRecord)
    assert new.recipient == changed.fingerprint
    with changed.restored(new) as (outcome, into):
        assert not isinstance(outcome, BackupRefusal)
        assert content(into) == content(changed.database)
    assert not changed.scrub(documents=100).problems


def test_without_the_old_key_an_old_backup_cannot_be_opened(changed: Laws) -> None:
    old, home = changed.record(0), Gpg(changed.made.settings.key_home("backup"))
    (file,) = _private_files_of(home, old.recipient)
    file.unlink()
    home.stop_agent()
    refused = changed.check(old)
    assert isinstance(refused, BackupRefusal)
    assert refused.code is RefusalCode.WRONG_KEY


def test_an_expired_key_still_counts_as_a_backup_key_and_one_that_signs_never_does() -> None:
    with parts.new_home(lives="1d") as expired, parts.new_home(usage="sign") as signs:
        assert keyring.backup_keys(Gpg(expired.path)) == {expired.fingerprint}
        assert keyring.backup_keys(Gpg(signs.path)) == set()


def test_a_wave_does_not_share_a_backup_for_another_key(changed: Laws) -> None:
    changed.database.run("alter table cutter_governance.run disable trigger all")
    changed.database.run("update cutter_governance.run set batch_id = %s", (BATCH,))
    deps = changed.made.deps[WorkerRole.CUTTER]
    run = RunRecord.of(changed.made.run_row(changed.driven[1].run_id))
    attempt = cast("Attempt", _Attempt(run_id=run.run_id, run=run))
    old = changed.record(0)
    shared = shared_backup(deps, attempt, old.recipient)
    assert shared is not None
    assert shared.record == changed.record(2)
    assert shared_backup(deps, attempt, changed.fingerprint) is None


class _Attempt:
    """The fields of an attempt that a shared backup depends on."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def _private_files_of(home: Gpg, fingerprint: str) -> list[Path]:
    """The private file of the key that decrypts. gpg names it by its keygrip."""
    assert home.home
    listed = home._run(home._command("--with-colons", "--with-keygrip", "--list-keys", fingerprint)).stdout.decode()
    grips = [line.split(":")[9] for line in listed.splitlines() if line.startswith("grp:")]
    return [home.home / "private-keys-v1.d" / f"{grips[-1]}.key"]
