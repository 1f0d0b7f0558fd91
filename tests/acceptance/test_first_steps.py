"""The first commands on a machine: each one that is printed is typed where it was printed, and leads on."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import pytest

from cutter.gpg import Gpg
from starter.commands import demo
from tests.support.laws import law
from tests.support.printed import first_next
from tests.support.processes import EXEC, Stack, stack


def test_from_nothing_to_a_run_by_the_printed_commands_alone(tmp_path: Path) -> None:
    """`status` names the next step in each state; a policy with the starter alone is a fault that doctor finds."""
    file, me = tmp_path / "law.md", getpass.getuser()
    file.write_text(law(3), encoding="utf-8")
    people = Gpg(tmp_path / "people")
    with stack("cf") as made:
        assert next_of(made, "status") == "cutter up"
        made.up()
        diagnosis = made.cutter("doctor", "--json")
        approvers = {check["name"]: check for check in json.loads(diagnosis.stdout)["checks"]}["approvers"]
        assert (diagnosis.returncode, approvers["verdict"]) == (5, "bad")
        assert next_of(made, "status") == "cutter approvers init --approver NAME=KEY.asc"
        assert approvers["remedy"] == "cutter approvers init --approver NAME=KEY.asc"
        for name in (me, "an"):
            (tmp_path / f"{name}.asc").write_bytes(people.export_key(people.generate_key(name)))
        answer = made.cutter("approvers", "init", "--approver", f"{me}={tmp_path / f'{me}.asc'}")
        assert (answer.returncode, f"{me} may not approve runs that {me} starts" in answer.stderr) == (0, True)
        looked = {check["name"]: check for check in json.loads(made.cutter("doctor", "--json").stdout)["checks"]}
        assert (looked["approvers"]["verdict"], f"only {me} may sign" in looked["approvers"]["found"]) == ("bad", True)
        assert next_of(made, "status") == "cutter source add FILE --document-id DOCUMENT --profile PROFILE"
        add = ("source", "add", str(file), "--document-id", "ICX-FIRST-1", "--profile", "generic-markdown")
        assert made.cutter(*add).returncode == 0
        assert next_of(made, "status") == "cutter run ICX-FIRST-1"
        assert made.json("run", "ICX-FIRST-1", "--wait", code=3)["state"] == "awaiting_cut_authorization"


def next_of(made: Stack, *command: str) -> str:
    """The command that the answer, as text and as JSON, sends a person to."""
    text, data = made.cutter(*command), made.cutter(*command, "--json")
    assert first_next(text.stdout, text.stderr) == first_next(data.stdout, data.stderr)
    return first_next(data.stdout, data.stderr)


def test_workers_with_other_settings_are_named_and_the_printed_commands_change_them(standing: Stack) -> None:
    larger = {"CUTTER_MAX_CANDIDATES": "1200"}
    answer = standing.cutter("up", env=larger)
    assert "CUTTER_MAX_CANDIDATES is 1000 there and 1200 here: type `cutter down`, then `cutter up`" in answer.stderr
    file = standing.state / "many.md"
    file.write_text(law(3), encoding="utf-8")
    add = ("source", "add", str(file), "--document-id", "MANY-1", "--profile", "generic-markdown")
    refused = standing.cutter(*add, "--max-candidates", "1100", env=larger)
    assert (refused.returncode, "the workers allow 1000" in refused.stderr) == (2, True)
    standing.down()
    assert "other settings" not in standing.cutter("up", env=larger).stderr
    assert standing.cutter(*add, "--max-candidates", "1100", env=larger).returncode == 0
    standing.down()


def test_an_approved_run_without_an_exec_worker_is_shown_as_such_and_up_moves_it(standing: Stack) -> None:
    standing.add("LEFT-1", law(3))
    run_id = standing.json("run", "LEFT-1", "--wait", code=3)["run_id"]
    standing.kill(EXEC)
    # As if an hour had passed since, because a worker counts as silent only after a minute.
    standing.rows("update cutter_governance.worker_heartbeat set seen_at = seen_at - interval '1 hour' "
                  "where role = 'exec' and state <> 'shutdown' returning worker_id")  # fmt: skip
    assert not exec_beats(standing)
    sign = ("approve", run_id, "--approver", demo.APPROVER, "--gpg-home", str(standing.state / "demo/gpg"), "--yes")
    assert standing.json(*sign)["status"] == "accepted"
    again = standing.json(*sign, code=4)
    assert (again["code"], again["next"]) == ("approved_already", "cutter up")
    resumed = standing.json("orchestrate", "resume", "--run-id", run_id)
    assert (resumed["answer"]["code"], resumed["next"]) == ("no_worker", "cutter up")
    status = standing.json("status", run_id)
    assert (status["needs"], status["next"]) == ("an exec worker: approved, but none is running", "cutter up")
    assert [row["command"] for row in standing.json("inbox")["waiting"] if row["run_id"] == run_id] == ["cutter up"]
    standing.up()
    moved = standing.json("orchestrate", "resume", "--run-id", run_id, "--wait", code=3)
    assert moved["state"] == "awaiting_lifecycle_authorization"


def exec_beats(made: Stack) -> bool:
    return bool(
        made.value(
            "select exists (select from cutter_governance.worker_heartbeat where role = 'exec' and state <> 'shutdown' "
            "and seen_at >= clock_timestamp() - 3 * beat_seconds * interval '1 second')"
        )
    )


@pytest.mark.parametrize("options", [("--wait",), ("--watch",)], ids=str)
def test_a_rehearsal_is_waited_for_to_its_end(standing: Stack, options: tuple[str, ...]) -> None:
    document = f"REHEARSED-{options[0].strip('-').upper()}"
    standing.add(document, law(5))
    done = standing.cutter("run", document, "--mode", "dryrun", *options)
    assert (done.returncode, "rehearsed" in done.stdout) == (0, True)
    shown = standing.cutter("status", document).stdout
    assert "rehearsed, rolled back: 5 units" in shown
    assert "✗" not in shown


def test_a_resume_with_an_approval_is_waited_for_to_the_next_outcome(standing: Stack) -> None:
    """Seeds 000 §3, 000 §7."""
    standing.add("RESUMED-1", law(3))
    run_id = standing.json("run", "RESUMED-1", "--wait", code=3)["run_id"]
    resume = ("orchestrate", "resume", "--run-id", run_id, "--wait", "--approval-kb-id")
    first = standing.json(*resume, standing.approve(run_id), code=3)
    assert first["state"] == "awaiting_lifecycle_authorization"
    last = standing.json(*resume, standing.approve(run_id))
    assert last["state"] == "closeout_reported"
    refused = standing.cutter("run", "RESUMED-1", "--json")
    refusal = json.loads(refused.stdout)
    assert (refused.returncode, refusal["code"], refusal["next"]) == (4, "already_enacted", f"cutter report {run_id}")
    assert standing.json("status", "RESUMED-1")["run_id"] == run_id
    assert standing.cutter("backup", "verify", "RESUMED-1").returncode == 0
    assert "RESUMED-1" in standing.cutter("backup", "list").stdout
