"""The backup key is changed: new backups are for the new one, and the old one still opens the old backups."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cutter.backup import encryption
from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.restore import read_record, restore_check
from cutter.catalogue import Role, WorkerRole
from cutter.gpg import Gpg
from cutter.preflight import files
from cutter.preflight.checks import Verdict
from cutter.stack import workers
from cutter.storage.pools import SCRATCH, open_pool
from starter.commands import keys
from starter.commands.keys import KeyRole
from tests.integration.backup import rig as parts
from tests.support import runs
from tests.support.database import Database, short_folder


@pytest.fixture
def made(database: Database, keys: runs.Keys) -> Iterator[runs.Deployment]:
    """A deployment with its own copy of the keys."""
    with short_folder() as folder:
        shutil.copytree(keys.folder / "keys", folder / "keys", ignore=shutil.ignore_patterns("S.*"))
        shutil.copytree(keys.folder / "approvers", folder / "approvers")
        try:
            with runs.deployment(database, replace(keys, folder=folder)) as deployment:
                yield deployment
        finally:
            for name in workers.HOMES.values():
                Gpg(folder / "keys" / name).stop_agent()


def backed_up(made: runs.Deployment) -> str:
    driven = runs.drive(made, runs.law(3), until="IG_backup")
    return f"{driven.run_id}/pre_write.gpg"


def change_key(made: runs.Deployment) -> str:
    folder = made.settings.keys.parent
    keys.make_key(KeyRole.BACKUP, folder / "new", expire="0")
    keys.install_key(KeyRole.BACKUP, folder / "new", folder / "keys", folder / "secrets")
    return (folder / "keys" / "backup.fingerprint").read_text().strip()


def checked(made: runs.Deployment, artifact: str) -> RestoreReport | BackupRefusal:
    settings = made.settings
    with closing(open_pool(settings, Role.BACKUP, database=SCRATCH, size=1)) as scratch:
        return restore_check(
            record=read_record(settings.artifacts, artifact), artifacts_url=settings.artifacts, scratch=scratch,
            gpg_home=settings.key_home("backup"), deadline=Deadline(60),
        )  # fmt: skip


def test_new_backups_are_for_the_new_key_and_the_old_ones_restore(made: runs.Deployment) -> None:
    old = backed_up(made)
    key = change_key(made)
    assert files.key(made.settings, WorkerRole.CUTTER).verdict is Verdict.OK
    new = backed_up(made)
    first, second = (read_record(made.settings.artifacts, name).recipient for name in (old, new))
    assert first != second == key
    for name in (old, new):
        assert isinstance(checked(made, name), RestoreReport)


def test_without_the_old_key_an_old_backup_cannot_be_opened(made: runs.Deployment) -> None:
    old = backed_up(made)
    change_key(made)
    home = Gpg(made.settings.key_home("backup"))
    (file,) = _private_files_of(home, read_record(made.settings.artifacts, old).recipient)
    file.unlink()
    home.stop_agent()
    refused = checked(made, old)
    assert isinstance(refused, BackupRefusal)
    assert refused.code is RefusalCode.WRONG_KEY


def test_an_expired_key_still_counts_as_a_backup_key_and_one_that_signs_never_does() -> None:
    with parts.new_home(lives="1d") as expired, parts.new_home(usage="sign") as signs:
        assert encryption.backup_keys(Gpg(expired.path)) == {expired.fingerprint}
        assert encryption.backup_keys(Gpg(signs.path)) == set()


def _private_files_of(home: Gpg, fingerprint: str) -> list[Path]:
    """The private file of the key that decrypts. gpg names it by its keygrip."""
    assert home.home
    listed = home._run(home._command("--with-colons", "--with-keygrip", "--list-keys", fingerprint)).stdout.decode()
    grips = [line.split(":")[9] for line in listed.splitlines() if line.startswith("grp:")]
    return [home.home / "private-keys-v1.d" / f"{grips[-1]}.key"]
