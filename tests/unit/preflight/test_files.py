"""The checks of files: keys and passwords that others can read, missing files, and stores that cannot be written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from cutter import limits
from cutter.catalogue import WorkerRole
from cutter.errors import Refused, Unavailable
from cutter.gpg import Gpg
from cutter.preflight import checks, database, files
from cutter.preflight.checks import WORKERS, Host, Verdict
from cutter.settings import Settings, password
from cutter.stack import supervisor, workers
from cutter.stack.processes import agents, identify, send
from starter.commands.keys import ensure_throwaway_keys, refuse_elsewhere
from starter.commands.up import start
from temporal.preflight import hosts_of


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A state folder with the three throw-away keys."""
    settings = Settings(state_dir=tmp_path_factory.mktemp("k"))
    ensure_throwaway_keys(settings)
    yield settings
    for name in ("executor", "verifier", "backup"):
        Gpg(settings.keys / name).stop_agent()


@pytest.mark.parametrize("role", WorkerRole)
def test_the_key_of_each_worker_passes(keyed: Settings, role: WorkerRole) -> None:
    assert files.key(keyed, role).verdict is Verdict.OK


def test_a_key_that_other_accounts_can_read_fails_with_its_path(keyed: Settings) -> None:
    file = next(files.private_files(keyed.keys / "executor"))
    file.chmod(0o640)
    try:
        failed = files.key(keyed, WorkerRole.EXEC)
    finally:
        file.chmod(0o600)
    assert failed.failed
    assert str(file) in failed.found
    assert "chmod" in failed.remedy


def test_an_agent_that_hangs_is_named_with_the_command_that_ends_it(
    keyed: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert files.key(keyed, WorkerRole.VERIFY).verdict is Verdict.OK
    ((_, agent),) = agents(keyed.keys / "verifier")
    send(agent, signal.SIGSTOP)
    with monkeypatch.context() as quick:
        quick.setattr(limits, "GPG_SECONDS", 1)
        failed = files.key(keyed, WorkerRole.VERIFY)
    assert (failed.failed, "verifier did not answer within 1 seconds" in failed.found) == (True, True)
    assert f"`kill -KILL {agent.pid}`" in failed.remedy
    assert "apt-get" not in failed.remedy
    subprocess.run(["kill", "-KILL", str(agent.pid)], check=True)
    assert files.key(keyed, WorkerRole.VERIFY).verdict is Verdict.OK


def test_a_missing_key_and_a_wrong_pin_fail(keyed: Settings, tmp_path: Path) -> None:
    assert "no executor key" in files.key(Settings(state_dir=tmp_path), WorkerRole.EXEC).found
    pin = keyed.keys / "backup.fingerprint"
    right = pin.read_text()
    pin.write_text("F" * 40)
    try:
        check = files.key(keyed, WorkerRole.CUTTER)
        assert (check.verdict, "F" * 40 in check.found) == (Verdict.BAD, True)
    finally:
        pin.write_text(right)


def test_earlier_backup_keys_pass_and_the_pin_names_the_one_in_use(tmp_path: Path) -> None:
    home = Gpg(tmp_path / "keys" / "backup")
    made = [home.generate_key("backup") for _ in range(2)]
    for fingerprint in made:
        home.add_encryption_key(fingerprint)
    settings = Settings(state_dir=tmp_path)
    try:
        for fingerprint in made:
            (tmp_path / "keys" / "backup.fingerprint").write_text(fingerprint)
            check = files.key(settings, WorkerRole.CUTTER)
            assert (check.verdict, check.found) == (
                Verdict.OK,
                f"backup {fingerprint}, and 1 other key for other backups",
            )
    finally:
        home.stop_agent()


def test_a_backup_home_with_a_key_that_only_signs_fails(tmp_path: Path) -> None:
    home = Gpg(tmp_path / "keys" / "backup")
    own = home.generate_key("backup")
    home.add_encryption_key(own)
    foreign = home.generate_key("executor")
    (tmp_path / "keys" / "backup.fingerprint").write_text(own)
    try:
        failed = files.key(Settings(state_dir=tmp_path), WorkerRole.CUTTER)
    finally:
        home.stop_agent()
    assert failed.failed
    assert f"the private key {foreign}, which is no backup key" in failed.found
    assert f"--delete-secret-keys {foreign}" in failed.remedy


def test_a_worker_that_signs_has_one_private_key(tmp_path: Path) -> None:
    home = Gpg(tmp_path / "keys" / "executor")
    for _ in range(2):
        home.generate_key("executor")
    failed = files.key(Settings(state_dir=tmp_path), WorkerRole.EXEC)
    home.stop_agent()
    assert "holds 2 private keys" in failed.found


def test_a_verifier_without_the_executor_s_public_key_fails(tmp_path: Path) -> None:
    home = Gpg(tmp_path / "keys" / "verifier")
    home.generate_key("verifier")
    failed = files.key(Settings(state_dir=tmp_path), WorkerRole.VERIFY)
    home.stop_agent()
    assert "lacks the executor's public key" in failed.found


def test_a_password_is_there_and_only_our_account_may_read_it(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    missing = database.passwords(settings, ["cutter_exec"])
    assert missing.failed
    assert "cutter_exec.password" in missing.found
    file = tmp_path / "secrets" / "cutter_exec.password"
    file.parent.mkdir()
    file.write_text("x")
    file.chmod(0o644)
    assert database.passwords(settings, ["cutter_exec"]).remedy == f"chmod 600 {file}"
    file.chmod(0o600)
    assert database.passwords(settings, ["cutter_exec"]).verdict is Verdict.OK


@pytest.mark.parametrize("url", ["file", "memory://preflight"])
def test_a_store_is_written_read_back_and_left_without_the_object(tmp_path: Path, url: str) -> None:
    place = (tmp_path / "kb").as_uri() if url == "file" else url
    settings = Settings(state_dir=tmp_path, kb_url=place, artifacts_url=place)
    for store in (checks.KNOWLEDGE_BASE, checks.ARTIFACT_STORE):
        assert files.stored(settings, store, "exec").verdict is Verdict.OK
        assert files.stored(settings, store, "exec").verdict is Verdict.OK
    if url == "file":
        assert list((tmp_path / "kb").iterdir()) == []


def test_a_folder_of_one_host_is_told_when_the_database_is_elsewhere(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, database_url="postgresql://db.example:5432/cutter")
    check = files.stored(settings, checks.ARTIFACT_STORE, "cutter")
    assert check.verdict is Verdict.OPTIONAL
    assert "CUTTER_ARTIFACTS_URL" in check.remedy
    nearby = settings.model_copy(update={"database_url": "postgresql://127.0.0.1:5432/cutter"})
    assert files.stored(nearby, checks.ARTIFACT_STORE, "cutter").verdict is Verdict.OK


def test_a_store_that_cannot_be_written_fails_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "kb").write_text("a file is in the way")
    settings = Settings(state_dir=tmp_path, kb_url=(tmp_path / "kb" / "deep").as_uri())
    failed = files.stored(settings, checks.KNOWLEDGE_BASE, "exec")
    assert failed.failed
    assert "CUTTER_KB_URL" in failed.remedy


def test_a_store_that_answers_with_other_bytes_fails(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, kb_url=(tmp_path / "kb").as_uri())
    store = files.Store(settings.kb)
    store.objects.create(".mine", b"other bytes")
    with pytest.raises(OSError, match="other bytes"):
        files.written_and_read(store, ".mine")


def test_a_store_that_forbids_to_remove_is_only_read_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = files.Store((tmp_path / "kb").as_uri())

    def forbidden(_: str) -> None:
        raise PermissionError("the bucket keeps every object")

    monkeypatch.setattr(store.objects, "remove", forbidden)
    for _ in range(2):
        files.written_and_read(store, ".mine")
    assert [file.name for file in (tmp_path / "kb").iterdir()] == [".mine"]


def test_the_passwords_of_a_machine_say_what_it_is_for(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, database_url="postgresql://db.example/cutter")
    assert hosts_of(settings) == {Host.LOCAL, Host.OPERATOR}
    assert hosts_of(settings.model_copy(update={"database_url": None})) == {Host.LOCAL}
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "cutter_operator.password").touch(mode=0o600)
    assert hosts_of(settings) == {Host.OPERATOR}
    (tmp_path / "secrets" / "cutter_exec.password").touch(mode=0o600)
    assert hosts_of(settings) == {Host.OPERATOR, Host.EXEC}
    assert Host.LOCAL in hosts_of(settings.model_copy(update={"database_url": None}))
    ours = identify(os.getpid())
    assert ours is not None
    supervisor.remember(settings.state, supervisor.Service(name="worker-exec", process=ours))
    assert Host.LOCAL in hosts_of(settings)


def test_a_worker_that_is_alone_has_no_other_key(keyed: Settings) -> None:
    """The same folder passes for several workers, because `cutter up` hands each of them its own key."""
    (failed,) = files.keys(keyed, frozenset({Host.CUTTER}))
    assert failed.failed
    assert failed.found == f"{keyed.keys} holds executor, verifier, the key of another worker"
    assert "CUTTER_KEYS_DIR" in failed.remedy
    assert "`cutter keys import --role backup FOLDER`" in failed.remedy
    assert {file.verdict for file in files.keys(keyed, WORKERS)} == {Verdict.OK}


def test_a_missing_key_names_its_import(tmp_path: Path) -> None:
    (failed,) = files.keys(Settings(state_dir=tmp_path), frozenset({Host.VERIFY}))
    assert "`cutter keys import --role verifier FOLDER`" in failed.remedy


@pytest.mark.parametrize("store", [checks.KNOWLEDGE_BASE, checks.ARTIFACT_STORE])
def test_a_store_without_its_library_names_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: checks.Description
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    settings = Settings(state_dir=tmp_path, kb_url="s3://kb/x", artifacts_url="s3://backups/x")
    assert files.stored(settings, store, "exec").remedy == files.ADD_S3


@pytest.mark.parametrize(
    ("address", "elsewhere"),
    [
        (None, False), ("postgresql://127.0.0.1:5432/cutter", False), ("postgresql:///cutter?host=/run/pg", False),
        ("postgresql://db.example:5432/cutter", True), ("postgresql://db-1.example,db-2.example/cutter", True),
    ],
)  # fmt: skip
def test_throw_away_keys_are_made_only_for_a_database_on_this_machine(
    tmp_path: Path, address: str | None, elsewhere: bool
) -> None:
    settings = Settings(state_dir=tmp_path, database_url=address)
    with pytest.raises(Refused, match=r"python worker\.py --role exec") if elsewhere else nullcontext():
        refuse_elsewhere(settings)


def test_up_refuses_before_it_makes_anything(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state", database_url="postgresql://db.example:5432/cutter")
    with pytest.raises(Refused) as refused:
        start(settings, print)
    assert refused.value.code == "throw_away_keys"
    assert not settings.state.exists()


def test_up_refuses_pinned_builds_before_it_makes_anything(tmp_path: Path) -> None:
    nothing_listens = "postgresql://127.0.0.1:1/cutter"
    settings = Settings(state_dir=tmp_path / "state", database_url=nothing_listens, versioning="pinned")
    with pytest.raises(Refused, match=r"docs/runbooks/upgrade\.md") as refused:
        start(settings, print)
    assert refused.value.code == "pinned_builds"
    assert not (tmp_path / "state").exists()


def test_only_a_missing_key_keeps_workers_from_a_database_elsewhere(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, database_url="postgresql://db.example:5432/cutter")
    for name in workers.HOMES.values():
        settings.key_home(name).mkdir(parents=True)
    refuse_elsewhere(settings)
    settings.key_home("verifier").rmdir()
    with pytest.raises(Refused, match="no verifier key"):
        refuse_elsewhere(settings)


def test_a_missing_password_names_the_way_to_it(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    with pytest.raises(Unavailable, match="type `cutter up`"):
        password(settings, "cutter_read")
    with pytest.raises(Unavailable, match="copy the file from the host where the roles were made"):
        password(settings.model_copy(update={"database_url": "postgresql://db.example/cutter"}), "cutter_read")
