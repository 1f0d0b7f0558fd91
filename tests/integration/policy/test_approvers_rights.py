"""`cutter approvers`: which database role each command needs, on a host without the owner's password."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cutter.catalogue import Role
from cutter.preflight import files
from cutter.preflight.checks import Host, Verdict
from starter import cli
from starter.commands import approvers
from starter.console.terminal import ExitCode
from tests.support.runs import Deployment

OPERATOR = frozenset({Host.OPERATOR})


@pytest.fixture
def secrets(deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The passwords of an operator's host, which has none of the owner. The folder of approvers is a copy."""
    given = deployment.settings
    made, folder = tmp_path / "secrets", tmp_path / "approvers"
    made.mkdir(mode=0o700)
    share(deployment, made, Role.OPERATOR)
    shutil.copytree(given.approvers, folder)
    monkeypatch.setenv("CUTTER_STATE_DIR", str(given.state))
    monkeypatch.setenv("CUTTER_DATABASE_URL", str(given.database_url))
    monkeypatch.setenv("CUTTER_SECRETS_DIR", str(made))
    monkeypatch.setenv("CUTTER_APPROVERS_DIR", str(folder))
    return made


def share(deployment: Deployment, secrets: Path, role: str) -> None:
    name = f"{role}.password"
    shutil.copy(deployment.settings.secrets / name, secrets / name)


def said(capsys: pytest.CaptureFixture[str], *line: str, code: int = ExitCode.DONE) -> Any:
    """The answer of a command, or the sentence of its failure."""
    exit_code = cli.run(["approvers", *line, "--json"])
    output = capsys.readouterr()
    assert exit_code == code, output.err
    return json.loads(output.out) if code == ExitCode.DONE else output.err


def proposed(deployment: Deployment, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Epoch 2, which the command proposes for alice alone."""
    keys = deployment.keys
    name, fingerprint = keys.approvers[0]
    file = tmp_path / f"{name}.asc"
    file.write_bytes(keys.people.export_key(fingerprint))
    return said(capsys, "propose", "--approver", f"{name}={file}")


def signed(deployment: Deployment, capsys: pytest.CaptureFixture[str], number: int = 0) -> Any:
    name, fingerprint = deployment.keys.approvers[number]
    home = str(deployment.keys.people.home)
    return said(capsys, "sign", "2", "--approver", name, "--key", fingerprint, "--gpg-home", home, "--yes")


@pytest.mark.usefixtures("secrets")
def test_the_operators_rights_are_enough_to_propose_and_sign(
    deployment: Deployment, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert proposed(deployment, capsys, tmp_path)["epoch"] == 2
    answer = signed(deployment, capsys)
    assert (answer["approver"], answer["missing"], answer["next"]) == ("alice", None, "cutter approvers install 2")


def test_only_the_owner_installs_what_the_approvers_signed(
    secrets: Path, deployment: Deployment, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    proposed(deployment, capsys, tmp_path)
    signed(deployment, capsys)
    sentence = said(capsys, "install", "2", code=ExitCode.UNAVAILABLE)
    assert f"{Role.OWNER}.password" in sentence
    assert deployment.database.value("select max(number) from cutter_governance.policy_epoch") == 1

    share(deployment, secrets, Role.OWNER)
    (secrets / f"{Role.OPERATOR}.password").unlink()
    assert said(capsys, "install", "2")["epoch"] == 2
    assert approvers.in_force(deployment.settings) == deployment.database.value(
        "select sha256 from cutter_governance.policy_epoch where number = 2"
    )


@pytest.mark.parametrize("what", ["gone", "another's"])
def test_the_preflight_finds_a_key_file_that_is_not_the_one_of_the_epoch(
    deployment: Deployment, tmp_path: Path, what: str
) -> None:
    folder = tmp_path / "approvers"
    shutil.copytree(deployment.settings.approvers, folder)
    settings = deployment.settings.model_copy(update={"approvers_dir": folder})
    assert files.approvers(deployment.settings, OPERATOR).verdict is Verdict.OK
    first, second = sorted(folder.rglob("*.asc"))[:2]
    first.unlink()
    if what != "gone":
        shutil.copy(second, first)
    check = files.approvers(settings, OPERATOR)
    assert (check.verdict, "is missing or changed" in check.found) == (Verdict.BAD, True)
    assert "copy the folder of approvers from the host" in check.remedy
