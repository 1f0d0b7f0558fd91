"""`cutter policy`: which file is in force, what is wrong with one, and which rule decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cutter.policy import current
from cutter.policy.rules import Broken, Policy
from cutter.settings import load
from starter import cli
from starter.console.terminal import ExitCode
from starter.local import doctor_checks as checks
from starter.local.doctor_checks import Verdict

RULES = """\
schema: cutter-policy/1
rules:
  - name: no-night
    connector: database
    window: 22:00-06:00
    verdict: deny
  - name: two-people
    operation: [create_units, record_cut, record_verification]
    document: ICX-LAW-*
    verdict: needs_approval(high)
  - name: the-rest
    verdict: allow
  - name: forgotten
    connector: kb
    verdict: deny
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CUTTER_STATE_DIR", str(tmp_path / "state"))
    made = tmp_path / "mine.yaml"
    made.write_text(RULES)
    return made


def in_force(file: Path) -> Path:
    return file.parent / "state" / "policy.yaml"


def said(capsys: pytest.CaptureFixture[str], *line: str, code: int = ExitCode.DONE) -> Any:
    assert cli.run(["policy", *line, "--json"]) == code
    out = capsys.readouterr().out
    return json.loads(out) if out else None


def test_a_policy_is_put_in_force_once_and_replaced_only_on_purpose(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "install")["good"]
    assert in_force(file).read_bytes() == current.shipped()
    assert said(capsys, "install")["good"]
    assert cli.run(["policy", "install", str(file)]) == ExitCode.STOPPED
    assert "--replace" in capsys.readouterr().err
    assert in_force(file).read_bytes() == current.shipped()
    assert said(capsys, "install", str(file), "--replace")["rules"][0] == {
        "line": 3,
        "rule": "no-night",
        "verdict": "deny",
    }
    assert in_force(file).read_text() == RULES


def test_a_broken_policy_is_never_put_in_force(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(RULES.replace("(high)", "(huge)").replace("22:00", "22h"))
    assert cli.run(["policy", "install", str(file)]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert "line 5: rule no-night" in told
    assert "line 10: rule two-people: there is no such tier" in told
    assert not in_force(file).exists()


def test_a_check_says_what_is_wrong_and_which_rule_never_decides(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = said(capsys, "check", str(file))
    assert found["never_decides"] == [{"rule": "forgotten", "line": 13, "by": "the-rest"}]
    file.write_text(RULES.replace("(high)", "(huge)"))
    problems = said(capsys, "check", str(file), code=ExitCode.FAILED)["problems"]
    assert [(one["line"], one["rule"]) for one in problems] == [(10, "two-people")]


def test_without_a_policy_the_check_and_every_decision_say_how_to_install_one(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not in_force(file).exists()
    found = said(capsys, "check", "--current", code=ExitCode.FAILED)
    assert "`cutter policy install`" in found["problems"][0]["text"]
    decided = said(capsys, "explain", "--gate", "IG_mark", "--document", "ICX-LAW-1")["decisions"]
    assert [(one["verdict"], one["rule"]) for one in decided] == [("deny", None)]
    assert "`cutter policy install`" in decided[0]["why"]


@pytest.mark.parametrize("options", [(), ("x.yaml", "--current")])
def test_a_check_takes_one_file(file: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]) -> None:
    assert cli.run(["policy", "check", *options]) == ExitCode.USAGE
    assert file.name not in capsys.readouterr().out


def test_an_explanation_names_the_deciding_rule_its_line_and_those_above_it(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("explain", "--gate", "SG_cut_authz", "--document", "ICX-LAW-1", "--file", str(file))
    by_day = said(capsys, *line, "--at", "2026-03-01T12:00:00Z")["decisions"]
    assert [
        (one["gate"], one["operation"], one["verdict"], one["tier"], one["rule"], one["line"]) for one in by_day
    ] == [
        ("SG_cut_authz", "put", "allow", None, "the-rest", 11),
        ("IG_cut_leg_a_execute", "create_units", "needs_approval", "high", "two-people", 7),
        ("IG_leg_b_record", "record_cut", "needs_approval", "high", "two-people", 7),
        ("IG_write_verify", "record_verification", "needs_approval", "high", "two-people", 7),
    ]
    assert by_day[1]["passed"] == [{"rule": "no-night", "line": 3, "why": "it is 12:00 UTC, not within 22:00-06:00"}]
    at_night = said(capsys, *line, "--at", "2026-03-01T23:00:00Z")["decisions"]
    assert [one["verdict"] for one in at_night] == ["allow", "deny", "deny", "deny"]
    assert "failed_policy" in at_night[1]["then"]


@pytest.mark.parametrize(
    ("option", "value"), [("--gate", "IG_nothing"), ("--mode", "rehearsal"), ("--at", "noon"), ("--document", "a b")]
)
def test_an_explanation_refuses_what_does_not_exist(
    file: Path, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    given = {"--gate": "IG_mark", "--document": "ICX-LAW-1", "--file": str(file), option: value}
    assert cli.run(["policy", "explain", *(word for pair in given.items() for word in pair)]) == ExitCode.USAGE
    assert value in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_broken_and_not_absent(tmp_path: Path) -> None:
    found = current.read(tmp_path)
    assert isinstance(found, Broken)
    assert "cannot be read" in str(found.problems[0])


def test_the_doctor_tells_a_policy_that_denies_everything_from_none(file: Path) -> None:
    settings = load()
    assert checks.policy(settings).verdict is Verdict.OFF
    current.install(settings.policy, current.shipped())
    assert checks.policy(settings).verdict is Verdict.OK
    settings.policy.write_text(file.read_text().replace("(high)", "(huge)"))
    told = checks.policy(settings)
    assert (told.verdict, told.remedy) == (Verdict.BAD, "cutter policy check --current")
    assert "line 10: rule two-people" in told.found


def test_the_file_is_read_anew_every_time(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    current.install(path, current.shipped())
    assert isinstance(current.read(path), Policy)
    path.write_text("no: policy\n")
    assert isinstance(current.read(path), Broken)
