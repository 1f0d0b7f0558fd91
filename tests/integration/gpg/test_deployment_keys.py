"""`cutter keys`: keys as files, and the homes that workers sign and back up with."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cutter.catalogue import WorkerRole
from cutter.gpg import Gpg
from cutter.stack import workers
from starter import cli
from starter.console.terminal import ExitCode
from tests.support.database import short_folder

KEYS = ("executor", "verifier", "backup")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all keys, made by the command."""
    folder = tmp_path_factory.mktemp("files") / "keys"
    for role in (*KEYS, "notification"):
        assert cli.run(["keys", "make", "--role", role, str(folder), "--expire", "2y"]) == ExitCode.DONE
    return folder


@pytest.fixture
def homes(monkeypatch: pytest.MonkeyPatch) -> Any:
    with short_folder() as folder:
        monkeypatch.setenv("CUTTER_KEYS_DIR", str(folder / "keys"))
        yield folder / "keys"
        for name in KEYS:
            Gpg(folder / "keys" / name).stop_agent()


def said(capsys: pytest.CaptureFixture[str], *line: str, code: int = ExitCode.DONE) -> Any:
    capsys.readouterr()
    assert cli.run(["keys", *line, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_only_the_owner_can_read_the_files(files: Path) -> None:
    made = {file.name for file in files.iterdir()}
    assert made == {
        *(f"{name}.{kind}" for name in KEYS for kind in ("key", "asc")), "backup.fingerprint", "webhook.secret",
    }  # fmt: skip
    assert {stat.S_IMODE(file.stat().st_mode) for file in (files, *files.iterdir())} == {0o700, 0o600}
    assert len((files / "webhook.secret").read_text().strip()) >= 43


def test_no_key_is_ever_replaced(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {file.name: file.read_bytes() for file in files.iterdir()}
    for role in (*KEYS, "notification"):
        assert said(capsys, "make", "--role", role, str(files), code=ExitCode.STOPPED)["code"] == "key_exists"
    assert {file.name: file.read_bytes() for file in files.iterdir()} == before


def test_an_imported_key_signs_and_the_verifier_knows_the_executor(
    files: Path, homes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prints = {}
    for role in ("executor", "verifier"):
        prints[role] = said(capsys, "import", "--role", role, str(files))["fingerprint"]
        assert said(capsys, "import", "--role", role, str(files))["fingerprint"] == prints[role]
    signature = Gpg(homes / "executor").sign_detached(b"rows", prints["executor"])
    known = Gpg(homes / "verifier")
    assert [record.fingerprint for record in known.verify_detached(b"rows", signature).records] == [prints["executor"]]
    assert known.primary_fingerprints(secret=True) == (prints["verifier"],)
    assert workers.shared(homes) == []


def test_the_worker_s_own_passwords_are_handed_over_closed(
    files: Path, homes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A secret's files are open to a group on Kubernetes, and with newer versions of systemd."""
    handed, secrets = tmp_path / "handed", tmp_path / "secrets"
    handed.mkdir()
    (handed / "executor.key").write_bytes((files / "executor.key").read_bytes())
    for name in ("cutter_exec.password", "cutter_owner.password"):
        (handed / name).write_text(name)
        (handed / name).chmod(0o440)
    monkeypatch.setenv("CUTTER_SECRETS_DIR", str(secrets))
    for _ in range(2):
        said(capsys, "import", "--role", "executor", str(handed))
    (copy,) = secrets.iterdir()
    assert (copy.name, copy.read_text()) == ("cutter_exec.password", "cutter_exec.password")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (secrets, copy)} == {0o700, 0o600}
    assert homes.is_dir()


def test_the_backup_key_decrypts_and_is_pinned(files: Path, homes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pinned = said(capsys, "import", "--role", "backup", str(files))["fingerprint"]
    assert (homes / "backup.fingerprint").read_text().strip() == pinned
    listing = Gpg(homes / "backup").key_listing()
    assert [line.split(":")[11] for line in listing.splitlines() if line.startswith("sub:")] == ["e"]
    assert workers.foreign(homes, WorkerRole.CUTTER) == []


PINENTRY = """#!/bin/sh
echo "OK ready"
while read -r command rest; do
  case $command in
    GETPIN) [ -z "$SECRET" ] || echo "D $SECRET"; echo OK ;;
    BYE) echo OK; exit ;;
    *) echo OK ;;
  esac
done
"""
"""A program that types for a person. It follows the protocol of pinentry."""


@pytest.fixture
def person() -> Iterator[Path]:
    """The GnuPG home of a person whose agent asks the program above."""
    with short_folder() as folder:
        home = folder / "gnupg"
        home.mkdir(mode=0o700)
        (home / "gpg-agent.conf").write_text(f"pinentry-program {folder / 'pinentry'}\n")
        yield home
        Gpg(home).stop_agent()


def types(person: Path, passphrase: str) -> None:
    file = person.parent / "pinentry"
    file.write_text(PINENTRY.replace("$SECRET", passphrase))
    file.chmod(0o700)


def test_an_approver_s_key_has_a_passphrase_and_an_end_and_stays_in_their_home(
    person: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    types(person, "long-and-secret")
    line = ("--role", "approver", "--name", "An <an@example.org>", "--gpg-home", str(person), str(tmp_path / "out"))
    made = said(capfd, "make", *line)
    (file,) = (tmp_path / "out").iterdir()
    assert (made["public"], b"PUBLIC KEY" in file.read_bytes()) == (str(file), True)
    key = Gpg(person)
    assert key.primary_fingerprints(secret=True) == (made["fingerprint"],)
    (public,) = (row.split(":") for row in key.key_listing().splitlines() if row.startswith("pub:"))
    assert round((int(public[6]) - int(public[5])) / 86400) in (730, 731)


def test_a_key_without_a_passphrase_makes_no_approver(
    person: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    types(person, "")
    line = ("--role", "approver", "--name", "An <an@example.org>", "--gpg-home", str(person), str(tmp_path / "out"))
    assert said(capfd, "make", *line, code=ExitCode.STOPPED)["code"] == "no_passphrase"
    assert list((tmp_path / "out").iterdir()) == []


def test_a_home_never_gets_a_second_private_key(
    files: Path, homes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "import", "--role", "executor", str(files))
    said(capsys, "make", "--role", "executor", str(tmp_path / "others"))
    before = Gpg(homes / "executor").primary_fingerprints(secret=True)
    refused = said(capsys, "import", "--role", "executor", str(tmp_path / "others"), code=ExitCode.STOPPED)
    assert refused["code"] == "key_exists"
    assert Gpg(homes / "executor").primary_fingerprints(secret=True) == before


def test_another_backup_key_is_pinned_and_the_earlier_one_stays(
    files: Path, homes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = said(capsys, "import", "--role", "backup", str(files))["fingerprint"]
    second = said(capsys, "make", "--role", "backup", str(tmp_path / "new"))["fingerprint"]
    assert said(capsys, "import", "--role", "backup", str(tmp_path / "new"))["fingerprint"] == second
    assert (homes / "backup.fingerprint").read_text().strip() == second
    assert set(Gpg(homes / "backup").primary_fingerprints(secret=True)) == {first, second}


def test_a_file_with_two_backup_keys_gives_both_and_the_pin_names_one(
    files: Path, homes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """systemd and Kubernetes make the home from the file at each start."""
    new, both = tmp_path / "new", tmp_path / "both"
    second = said(capsys, "make", "--role", "backup", str(new))["fingerprint"]
    both.mkdir()
    (both / "backup.key").write_bytes((files / "backup.key").read_bytes() + (new / "backup.key").read_bytes())
    (both / "backup.fingerprint").write_bytes((new / "backup.fingerprint").read_bytes())
    assert said(capsys, "import", "--role", "backup", str(both))["fingerprint"] == second
    assert len(Gpg(homes / "backup").primary_fingerprints(secret=True)) == 2


def test_a_pin_of_a_key_that_is_not_there_is_refused(
    files: Path, homes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "backup.key").write_bytes((files / "backup.key").read_bytes())
    (wrong / "backup.fingerprint").write_text("F" * 40)
    assert said(capsys, "import", "--role", "backup", str(wrong), code=ExitCode.STOPPED)["code"] == "wrong_pin"
    assert not (homes / "backup").exists() or not Gpg(homes / "backup").primary_fingerprints(secret=True)


@pytest.mark.parametrize(
    ("line", "code", "word"),
    [
        (("make", "--role", "executor", "NEW", "--expire", "soon"), ExitCode.USAGE, "such as 2y"),
        (("import", "--role", "executor", "NEW"), ExitCode.FAILED, "executor.key"),
        (("import", "--role", "notification", "NEW"), ExitCode.USAGE, "CUTTER_SECRETS_DIR"),
        (("import", "--role", "approver", "NEW"), ExitCode.USAGE, "approver's own home"),
        (("make", "--role", "approver", "NEW"), ExitCode.USAGE, "--name 'An"),
        (("make", "--role", "backup", "NEW", "--name", "An"), ExitCode.USAGE, "--name is for"),
    ],
)
def test_a_mistake_is_named(
    line: tuple[str, ...], code: int, word: str, homes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(tmp_path / "new") if argument == "NEW" else argument for argument in line]
    assert word in said(capsys, *given, code=code)["message"]
    assert not homes.exists()


def test_a_public_key_is_not_taken_for_the_private_one(
    files: Path, homes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not (homes / "executor").exists()
    (tmp_path / "executor.key").write_bytes((files / "executor.asc").read_bytes())
    assert "not an OpenPGP private key" in said(
        capsys, "import", "--role", "executor", str(tmp_path), code=ExitCode.USAGE
    )["message"]  # fmt: skip
