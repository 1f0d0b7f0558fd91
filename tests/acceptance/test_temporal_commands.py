"""Each `temporal` command that a page or the product prints: the program knows it, and a test types it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter.stack.workers import stop_workers
from tests.support.laws import law
from tests.support.processes import ROOT, Stack, pinned_workers, stack, temporal_program, wait
from tests.support.runbook import enacted, sections, types

COMMAND = re.compile(
    r"\btemporal ((?:workflow|activity|batch|operator|schedule|task-queue|worker)(?: [a-z][a-z-]+)+)([^`]*)"
)
"""The words of a command, and the rest of its line or span."""

FLAG = re.compile(r"(?<= )-{1,2}[a-z][a-z-]*")

HERE = "acceptance/test_temporal_commands.py"
TYPED = {
    "operator namespace create": HERE,
    "operator search-attribute create": HERE,
    "operator search-attribute remove": HERE,
    "schedule delete": HERE,
    "worker deployment describe": HERE,
    "worker deployment set-current-version": HERE,
    "worker list": HERE,
    "workflow describe": HERE,
    "workflow execute": HERE,
    "workflow list": HERE,
    "workflow show": HERE,
    "workflow signal": "acceptance/test_by_hand.py",
    "workflow terminate": "acceptance/cli/test_foreign_workflows.py",
    "workflow update execute": "acceptance/test_batch_by_hand.py",
    "workflow update-options": HERE,
}
"""Each printed command with the test that types it on a server."""

GROUP = "operator search-attribute"
"""A page names these commands together."""

DOCUMENT, WAITS, FAILED = "TYPED-1", "TYPED-2", "TYPED-3"


def printed() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Each file with the words and the flags of each command that it prints."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    modules = [
        path for folder in ("cutter", "starter", "temporal", "workflows") for path in (ROOT / folder).rglob("*.py")
    ]
    for path in sorted(pages + modules):
        # A command goes on after a line break in a span, after a backslash, or in the next literal of a program.
        text = re.sub(r"\\+\"?\n|\"\n\s*f?['\"]|(?<=[a-z])\n(?=-)", " ", path.read_text(encoding="utf-8"))
        for line in re.sub(r"(?<=set-current-version)\n\s*", " ", text).splitlines():
            for words, rest in COMMAND.findall(line):
                yield path.name, words, tuple(FLAG.findall(rest.partition("\\n")[0]))


PRINTED = sorted(set(printed()))


@pytest.mark.promise
def test_each_printed_command_is_typed_by_a_test() -> None:
    assert {words for _, words, _ in PRINTED} - {GROUP} == set(TYPED)


@pytest.mark.parametrize(("file", "words", "flags"), PRINTED)
@pytest.mark.promise
def test_the_program_knows_each_printed_command_and_its_flags(file: str, words: str, flags: tuple[str, ...]) -> None:
    done = subprocess.run([temporal_program(), *words.split(), *(f"{flag}=1" for flag in flags), "--help"],
                          capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
    assert f"\n  temporal {words} [" in done.stdout + done.stderr, file
    assert "unknown" not in done.stderr, file


@pytest.fixture(scope="module")
def made() -> Iterator[Stack]:
    """A stack of pinned builds: a law is enacted, a second waits for a signature, and a third has failed."""
    with stack("ct") as made:
        made.up()
        stop_workers(made.state)
        pinned_workers(made, "one")
        made.approver()
        enacted(made, DOCUMENT)
        made.add(WAITS, law(4))
        made.json("run", WAITS, "--wait", code=3)
        made.add(FAILED, "This text has no units.\n")
        made.cutter("run", FAILED, "--wait")
        yield made


def test_the_commands_about_workflows(made: Stack, tmp_path: Path) -> None:
    (block,) = (each for each in sections("guides/operations.md")["Failed runs in the Web UI"] if "temporal" in each)
    address = (made.state / "temporal.address").read_text(encoding="ascii").strip()
    assert f"document/{FAILED}" in types(made, block, TEMPORAL_ADDRESS=address)
    described = made.temporal("workflow", "describe", "-w", f"document/{WAITS}").stdout
    assert "awaiting_cut_authorization" in described
    assert "Pending Activities: 0" in described
    freed = ("workflow", "update-options", "-w", f"document/{WAITS}", "--versioning-override-behavior", "auto_upgrade")
    made.temporal(*freed)
    assert "AutoUpgrade" in made.temporal("workflow", "describe", "-w", f"document/{WAITS}").stdout
    history = tmp_path / "history.json"
    history.write_text(
        made.temporal("workflow", "show", "--workflow-id", f"document/{DOCUMENT}", "--output", "json").stdout
    )
    (bundle,) = (made.state / "runs").rglob("*.tar")
    checked = subprocess.run(
        [sys.executable, ROOT / "scripts/verify/verify_evidence.py", bundle, "--history", history],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert re.search(r"^OK +history:", checked.stdout, re.M), checked.stdout
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_revocation_by_hand_reaches_a_worker(made: Stack) -> None:
    """The worker judges the document that the input names, and there is none."""
    order = json.dumps({"run_id": made.json("status", WAITS)["run_id"], "kb_id": "knowledge/dev/none.md"})
    refused = made.temporal("workflow", "execute", "--type", "RevokeApproval", "--task-queue", "cutter-cutter",
                            "--workflow-id", "revoke/none", "--input", order)  # fmt: skip
    assert '"accepted":false' in refused.stdout
    assert "kb_not_found" in refused.stdout


def test_the_commands_about_workers_and_their_builds(made: Stack) -> None:
    queues = ("cutter-batch", "cutter-cutter", "cutter-exec", "cutter-verify")

    def listed() -> bool:
        return all(queue in made.temporal("worker", "list").stdout for queue in queues)

    wait(listed, seconds=90, what="each worker has told the server of itself, which it does once a minute")
    described = made.temporal("worker", "deployment", "describe", "--name", "cutter").stdout
    build = re.search(r"CurrentVersionBuildID +(\S+)", described)
    assert build is not None
    made.temporal("worker", "deployment", "set-current-version", "--deployment-name", "cutter", "--build-id", build[1],
                  "--yes")  # fmt: skip


def test_the_commands_of_an_administrator(made: Stack) -> None:
    laws = ("--namespace", "laws")
    made.temporal("operator", "namespace", "create", *laws, "--retention", "720h")
    attribute = ("operator", "search-attribute")
    create = (*attribute, "create", *laws, "--name", "CutterState", "--type", "Keyword")
    wait(lambda: made.temporal(*create, code=None).returncode == 0, seconds=60, what="the namespace is everywhere")
    wait(lambda: "CutterState" in made.temporal(*attribute, "list", *laws).stdout, seconds=60, what="the attribute")
    made.temporal(*attribute, "remove", *laws, "--name", "CutterState", "--yes")
    assert made.cutter("reconcile", "--every", "10").returncode == 0
    made.temporal("schedule", "delete", "--schedule-id", "cutter-reconcile")
