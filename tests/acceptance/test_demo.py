"""`cutter demo` as a person types it, in a state folder of its own beside a stack that is up."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from cutter.catalogue import GATES
from cutter.stack import supervisor
from cutter.stack.addresses import DEMO
from starter.commands.demo import LAWS
from tests.support.processes import Stack, stack

LONG = "/".join(["Gesetze und Verträge 法律"] * 7)


def test_a_demo_tells_its_whole_story_and_leaves_nothing_running_but_what_was_up_before(standing: Stack) -> None:
    before = {name: record.process for name, record in supervisor.read(standing.state).items()}
    with stack("cd", LONG) as alone:
        assert len(os.fsencode(alone.state)) > 200
        done = alone.cutter("demo")
        assert done.returncode == 0, done.stderr[-2000:]
        assert not [name for name, record in supervisor.read(alone.state / DEMO).items() if record.alive]
        leaves_the_state_folder_to_its_owner(alone)
        ends_with_a_batch(done.stdout)
        ends_with_an_amended_law(done.stdout, done.stderr)
        can_be_left_up_found_and_taken_down(alone)
    assert {name: record.process for name, record in supervisor.read(standing.state).items() if record.alive} == before
    ends_at_closeout(done.stdout)
    shows_gates_and_approvals(done.stdout)
    names_the_pages_to_look_at(done.stdout)
    checks_its_evidence_offline(done.stdout)


def leaves_the_state_folder_to_its_owner(alone: Stack) -> None:
    """Whoever types `cutter up` and `cutter approvers init` afterwards has a policy and documents of their own."""
    assert {path.name for path in alone.state.iterdir()} == {DEMO}


def can_be_left_up_found_and_taken_down(alone: Stack) -> None:
    with_one_that_is_refused = alone.state / "laws"
    with_one_that_is_refused.mkdir()
    for law in LAWS.glob("*.md"):
        shutil.copy(law, with_one_that_is_refused)
    (with_one_that_is_refused / "README.md").write_text("no law")
    (with_one_that_is_refused / "empty-act.md").write_text("Nothing here has a heading.\n")
    kept = alone.cutter("demo", "--keep", "--laws", str(with_one_that_is_refused))
    shows_what_was_refused(kept.stdout)
    assert "amended law" not in kept.stdout  # the folder has no amended text
    assert f"export CUTTER_STATE_DIR={alone.state / DEMO}" in kept.stderr
    away = alone.cutter("status")
    assert (away.returncode, away.stdout) == (5, "")
    assert f"looked in {alone.state}, while the demo's stack is up in {alone.state / DEMO}" in away.stderr
    assert len(alone.json("status", env={"CUTTER_STATE_DIR": str(alone.state / DEMO)})["runs"]) == 9
    assert "the demo's postgres" in alone.cutter("down").stdout
    assert not [name for name, record in supervisor.read(alone.state / DEMO).items() if record.alive]


def ends_with_a_batch(text: str) -> None:
    assert re.search(r"^batch state: batch_closeout · enacted 3 · settled 3$", text, re.M)
    assert len(re.findall(r"^ICX-DEMO-\S+ +\S+\.md +enacted", text, re.M)) == 3
    report = Path(re.search(r"^report: (/.*/report\.html)$", text, re.M)[1])  # type: ignore[index]
    page = report.read_text(encoding="utf-8")
    assert "<html" in page
    assert page.count("enacted") >= 3


def ends_with_an_amended_law(text: str, stderr: str) -> None:
    assert re.search(
        r"registered ICX-DEMO-\S+: amended/\S+, as `cutter source add --effective \d{4}-\d\d-\d\d` does", stderr
    )
    # The approver reads the changed words before each of both signatures.
    at_gates = [
        part.partition("the request as a page:")[0] for part in stderr.split("this changes in the law in force")
    ]
    assert [part.rpartition("\n")[2] for part in at_gates[1:]] == ["SG_cut_authz: ", "SG_lifecycle_authz: "]
    for part in at_gates[1:]:
        assert [
            line.split(":")[0] for line in part.splitlines() if re.match(r"(revised|created|repealed|moved):", line)
        ] == [
            "revised",
            "revised",
            "repealed",
            "created",
        ]
        assert "at least [-five-]{+six+} days a week" in part
        assert "24 units kept, without a change" in part
    shown = text.partition("\namended law ICX-DEMO-")[2]
    assert "version 1 to 2: 24 kept, 2 revised, 1 created, 1 repealed" in shown
    assert "at least [-five-]{+six+} days a week" in shown
    days = re.findall(r"^\$ cutter law show ICX-DEMO-\S+ \S+ --at (\S+)\n(?:.+\n\n)?.*\n", shown, re.M)
    assert len(set(days)) == 2
    assert shown.index("for at most three months") < shown.index("for at most six weeks")


def shows_what_was_refused(text: str) -> None:
    assert re.search(r"^ICX-DEMO-\S+ +empty-act\.md +failed +quarantine_queue", text, re.M)
    failed = re.search(r"^(ICX-DEMO-\S+) failed_mark: (.+)\n  cutter ", text, re.M)
    assert failed is not None
    assert failed[2] != "None"
    assert "batch state: batch_failed_partial · enacted 3 · failed 1" in text
    report = re.search(r"^report: (/.*/archive/.*/report\.html)$", text, re.M)
    assert report is not None
    assert Path(report[1]).is_file()


def checks_its_evidence_offline(text: str) -> None:
    assert re.search(r"^evidence: /.*\.evidence\.tar$", text, re.M)
    assert re.search(r"^  sha256 [0-9a-f]{64}, as the closeout's report says; checked offline:$", text, re.M)
    assert "  OK: archive, sha256, audit chain, head, receipts, approvals, authorship, predecessor\n" in text
    assert "  NOT CHECKED: policy, workers, history, the law\n" in text


def ends_at_closeout(text: str) -> None:
    assert "state: closeout_reported" in text
    match = re.search(r"(\d+) enacted of (\d+)", text)
    assert match is not None
    assert match[1] == match[2]
    assert int(match[1]) >= 12


def shows_gates_and_approvals(text: str) -> None:
    for gate in GATES:
        assert re.search(rf"^{gate.name} +\d+ ms +\d+ +[0-9a-f]{{16}}", text, re.M), gate.name
    for name in ("SG_cut_authz", "SG_lifecycle_authz"):
        assert re.search(rf"^{name} +demo-sovereign +[0-9A-F]{{40}} +[0-9a-f]{{16}}", text, re.M), name


def names_the_pages_to_look_at(text: str) -> None:
    assert re.search(r"Web UI: http://127\.\d+\.\d+\.\d+:\d+/\S*document%2FICX-DEMO-", text)
    assert re.search(r"closeout: \S*11-final-orchestrator-report-", text)
    assert "run folder: /" in text
