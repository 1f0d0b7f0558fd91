"""`cutter policy`: which policy is in force, what is wrong with one, and which rule decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from cutter.catalogue import Role
from cutter.errors import Refused
from cutter.policy.rules import EffectPolicy
from cutter.policy.rules_file import parse_rules, shipped
from cutter.preflight import database as preflight
from cutter.preflight.checks import Check, Verdict
from cutter.settings import Settings
from cutter.storage import policies
from cutter.storage.pools import session
from cutter.storage.records import answer
from starter import cli
from starter.console.terminal import ExitCode
from tests.support.database import Database
from tests.support.policies import never_installed, policy_of, put_in_force, put_unread

INSTALL = "select cutter_governance.fn_effect_policy_install(%s, %s)"
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
def file(tmp_path: Path, settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy of one's own, next to a deployment in which none was ever in force."""
    never_installed(database)
    for name in ("state_dir", "database_url", "secrets_dir"):
        monkeypatch.setenv(f"CUTTER_{name.upper()}", str(getattr(settings, name)))
    made = tmp_path / "mine.yaml"
    made.write_text(RULES)
    return made


def said(capsys: pytest.CaptureFixture[str], *line: str, code: int = ExitCode.DONE) -> Any:
    assert cli.run(["policy", *line, "--json"]) == code
    out = capsys.readouterr().out
    return json.loads(out) if out else None


def test_a_policy_is_put_in_force_once_and_replaced_only_on_purpose(
    file: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "install")["good"]
    assert policy_of(settings).text == shipped().decode()
    assert said(capsys, "install")["good"]
    assert cli.run(["policy", "install", str(file)]) == ExitCode.STOPPED
    assert "--replace" in capsys.readouterr().err
    assert policy_of(settings).text == shipped().decode()
    assert said(capsys, "install", str(file), "--replace")["rules"][0] == {
        "line": 3,
        "rule": "no-night",
        "verdict": "deny",
    }
    assert policy_of(settings).text == RULES


def test_a_broken_policy_is_never_put_in_force(
    file: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(RULES.replace("(high)", "(huge)").replace("22:00", "22h"))
    assert cli.run(["policy", "install", str(file)]) == ExitCode.USAGE
    stderr = capsys.readouterr().err
    assert "line 5: rule no-night" in stderr
    assert "line 10: rule two-people: there is no such tier" in stderr
    assert policy_of(settings) == policies.NONE


def test_a_check_says_what_is_wrong_and_which_rule_never_decides(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = said(capsys, "explain", str(file))
    assert report["never_decides"] == [{"rule": "forgotten", "line": 13, "by": "the-rest"}]
    file.write_text(RULES.replace("(high)", "(huge)"))
    problems = said(capsys, "explain", str(file), code=ExitCode.FAILED)["problems"]
    assert [(problem["line"], problem["rule"]) for problem in problems] == [(10, "two-people")]


@pytest.mark.usefixtures("file")
def test_without_a_policy_the_check_and_every_decision_say_how_to_install_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = said(capsys, "explain", code=ExitCode.FAILED)
    assert "`cutter policy install`" in report["problems"][0]["text"]
    decided = said(capsys, "explain", "--gate", "IG_mark", "--document", "ICX-LAW-1")["decisions"]
    assert [(decision["verdict"], decision["rule"]) for decision in decided] == [("deny", None)]
    assert "`cutter policy install`" in decided[0]["why"]


@pytest.mark.parametrize("option", [("--gate", "IG_mark"), ("--document", "ICX-LAW-1")])
def test_a_gate_and_a_document_go_together(capsys: pytest.CaptureFixture[str], option: tuple[str, ...]) -> None:
    assert cli.run(["policy", "explain", *option]) == ExitCode.USAGE
    assert "--gate and --document go together" in capsys.readouterr().err


def test_an_explanation_names_the_deciding_rule_its_line_and_those_above_it(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("explain", str(file), "--gate", "SG_cut_authz", "--document", "ICX-LAW-1")
    by_day = said(capsys, *line, "--at", "2026-03-01T12:00:00Z")["decisions"]
    assert [
        (row["gate"], row["operation"], row["verdict"], row["tier"], row["rule"], row["line"]) for row in by_day
    ] == [
        ("SG_cut_authz", "put", "allow", None, "the-rest", 11),
        ("IG_cut_leg_a_execute", "create_units", "needs_approval", "high", "two-people", 7),
        ("IG_leg_b_record", "record_cut", "needs_approval", "high", "two-people", 7),
        ("IG_write_verify", "record_verification", "needs_approval", "high", "two-people", 7),
    ]
    assert by_day[1]["passed"] == [{"rule": "no-night", "line": 3, "why": "it is 12:00 UTC, not within 22:00-06:00"}]
    at_night = said(capsys, *line, "--at", "2026-03-01T23:00:00Z")["decisions"]
    assert [decision["verdict"] for decision in at_night] == ["allow", "deny", "deny", "deny"]
    assert "failed_policy" in at_night[1]["then"]


@pytest.mark.parametrize(
    ("option", "value"), [("--gate", "IG_nothing"), ("--mode", "rehearsal"), ("--at", "noon"), ("--document", "a b")]
)
def test_an_explanation_refuses_what_does_not_exist(
    file: Path, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    given = {"--gate": "IG_mark", "--document": "ICX-LAW-1", option: value}
    assert (
        cli.run(["policy", "explain", str(file), *(word for pair in given.items() for word in pair)]) == ExitCode.USAGE
    )
    assert value in capsys.readouterr().err


@pytest.mark.usefixtures("file")
def test_the_preflight_tells_a_policy_that_denies_everything_from_none(settings: Settings) -> None:
    def looked() -> Check:
        with session(settings, Role.OPERATOR) as connection:
            return preflight.policy(connection)

    assert looked().remedy == "cutter policy install"
    put_in_force(settings)
    assert looked().verdict is Verdict.OK
    put_unread(settings, RULES.replace("(high)", "(huge)"))
    check = looked()
    assert (check.verdict, check.remedy) == (Verdict.BAD, "cutter policy explain")
    assert "line 10: rule two-people" in check.found


def test_nobody_replaces_a_policy_that_they_did_not_see(settings: Settings) -> None:
    """Two people install a policy at once: the second one saw the shipped policy, which is no longer in force."""
    sha256 = policy_of(settings).sha256
    put_in_force(settings, RULES.encode())
    with pytest.raises(Refused) as refused, session(settings, Role.OPERATOR) as connection:
        answer(connection, INSTALL, (RULES + "# mine\n", sha256))
    assert refused.value.code == "policy_changed"
    assert policy_of(settings).text == RULES


@pytest.mark.parametrize("role", ["cutter_read", "cutter_exec", "cutter_verify", "cutter_backup"])
def test_the_password_of_a_worker_puts_no_policy_in_force(database: Database, role: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        database.run("select cutter_governance.fn_effect_policy_install('x', null)", role=role)
    body = database.value("select cutter_governance.fn_effect_policy()", role=role)
    assert isinstance(parse_rules(body.encode()), EffectPolicy)


@pytest.mark.parametrize(
    "statement",
    [
        "update cutter_governance.effect_policy set installed_by = 'x'",
        "delete from cutter_governance.effect_policy",
        "truncate cutter_governance.effect_policy",
    ],
)
def test_nobody_changes_which_policies_were_in_force(database: Database, statement: LiteralString) -> None:
    with pytest.raises(psycopg.Error) as refused:
        database.run(statement)
    assert refused.value.sqlstate == "CU005"
