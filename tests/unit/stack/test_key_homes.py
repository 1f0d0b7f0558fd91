"""Each worker is handed its own GnuPG home; none can sign as another one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cutter.catalogue import WorkerRole
from cutter.errors import Refused, Unavailable
from cutter.settings import Settings
from cutter.stack import workers
from starter.commands.doctor import Verdict, keys
from worker import run


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Three homes, as gpg lays them out: a file a private key, named by the key."""
    for name in workers.HOMES.values():
        private = tmp_path / "keys" / name / "private-keys-v1.d"
        private.mkdir(parents=True)
        (private / f"{name}.key").write_bytes(name.encode())
    (tmp_path / "keys" / workers.PIN).write_text("F" * 40)
    return tmp_path


def handed(state: Path, worker: WorkerRole) -> Path:
    folder = workers.handed_keys(Settings(state_dir=state), worker)
    workers.hand_over(state / "keys", folder, worker)
    return folder


@pytest.mark.parametrize("worker", WorkerRole)
def test_a_worker_finds_its_own_private_key_and_no_other(state: Path, worker: WorkerRole) -> None:
    folder = handed(state, worker)
    assert [path.name for path in folder.glob("*/private-keys-v1.d/*.key")] == [f"{workers.HOMES[worker]}.key"]
    assert workers.foreign(folder, worker) == []
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_lay_there_before_goes_and_the_home_itself_stays(state: Path) -> None:
    folder = handed(state, WorkerRole.VERIFY)
    (folder / "executor").symlink_to(state / "keys" / "executor")
    handed(state, WorkerRole.VERIFY)
    assert [path.name for path in folder.iterdir()] == ["verifier"]
    assert (state / "keys" / "executor" / "private-keys-v1.d" / "executor.key").exists()


def test_one_private_key_in_two_homes_is_handed_to_nobody(state: Path) -> None:
    executor, verifier = (state / "keys" / name / "private-keys-v1.d" for name in ("executor", "verifier"))
    (verifier / "executor.key").write_bytes((executor / "executor.key").read_bytes())
    with pytest.raises(Refused) as refused:
        handed(state, WorkerRole.VERIFY)
    assert refused.value.code == "private_key_shared"
    assert keys(Settings(state_dir=state)).verdict is Verdict.BAD


def test_a_missing_home_is_said_before_the_worker_starts(state: Path) -> None:
    with pytest.raises(Unavailable, match="no executor key"):
        workers.hand_over(state / "nowhere", state / "given", WorkerRole.EXEC)


def test_a_worker_that_could_sign_as_another_does_not_start(state: Path) -> None:
    with pytest.raises(Refused, match="backup, executor") as refused:
        asyncio.run(run(Settings(state_dir=state), WorkerRole.VERIFY))
    assert refused.value.code == "foreign_key"


def test_doctor_sees_a_worker_that_was_given_more_than_its_own(state: Path) -> None:
    assert keys(Settings(state_dir=state)).verdict is Verdict.OK
    folder = handed(state, WorkerRole.CUTTER)
    assert keys(Settings(state_dir=state)).verdict is Verdict.OK
    (folder / "executor").symlink_to(state / "keys" / "executor")
    looked = keys(Settings(state_dir=state))
    assert (looked.verdict, looked.found) == (Verdict.BAD, "the cutter worker was given executor too")


def test_the_home_behind_the_link_is_what_gpg_is_given(state: Path) -> None:
    folder = handed(state, WorkerRole.EXEC)
    given = Settings(state_dir=state, keys_dir=folder)
    assert given.key_home("executor") == (state / "keys" / "executor").resolve()
