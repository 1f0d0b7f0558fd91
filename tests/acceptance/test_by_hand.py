"""The journey of the seeds: one law, its approvals and orders made by following the documents' own words."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import LiteralString

import psycopg

from starter.commands.demo import APPROVER
from tests.support.laws import law
from tests.support.processes import Stack, temporal_program, wait

DOCUMENT = "BY-HAND-1"


class Instructions:
    """The section of a document that says what to do by hand, taken at its word."""

    def __init__(self, text: str, heading: str = "To approve by hand") -> None:
        section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
        self.text = text
        self.name = re.search(r"the text below as `([^`]+)`", section).group(1)  # type: ignore[union-attr]
        self.template = re.search(r"```yaml\n(.*?)```", section, re.S).group(1)  # type: ignore[union-attr]
        self.fill, self.sign, self.tell = re.findall(r"```sh\n(.*?)```", section, re.S)
        self.places = re.findall(r"^ {3}- `([^`]+)`$", section, re.M)

    def follow(self, stack: Stack, folder: Path) -> str:
        """Steps 1 to 5 in a shell with nothing but gpg and temporal of ours; what the last one printed."""
        self.signed(stack, folder)
        for place in self.places:
            shutil.copy(folder / place.rpartition("/")[2], stack.state / "kb" / place)
        signal, resume = self.tell.replace("\\\n", " ").strip().splitlines()
        assert resume.startswith("cutter orchestrate resume --run-id ")
        return self.shell(stack, folder, signal)

    def signed(self, stack: Stack, folder: Path) -> tuple[Path, Path]:
        """Steps 1 to 3: the statement and its signature."""
        (folder / "request.md").write_text(self.text, encoding="utf-8")
        (folder / self.name).write_text(self.template, encoding="utf-8")
        self.shell(stack, folder, self.fill.replace("your-name", APPROVER))
        assert "FILL_IN" not in (folder / self.name).read_text(encoding="utf-8")
        self.shell(stack, folder, self.sign)
        return folder / self.name, folder / f"{self.name}.asc"

    def shell(self, stack: Stack, folder: Path, script: str) -> str:
        address = (stack.state / "temporal.address").read_text(encoding="ascii").strip()
        # The server's own program is the command too, under a name of its own.
        (folder / "bin").mkdir(exist_ok=True)
        if not (folder / "bin" / "temporal").exists():
            (folder / "bin" / "temporal").symlink_to(temporal_program())
        programs = os.pathsep.join(
            ("/usr/bin", "/bin", str(Path(shutil.which("gpg") or "gpg").parent), str(folder / "bin"))
        )
        done = subprocess.run(
            ["sh", "-eu", "-c", script], cwd=folder, check=False, capture_output=True, text=True, timeout=60,
            env={"PATH": programs, "HOME": str(folder), "GNUPGHOME": str(stack.state / "demo" / "gpg"),
                 "TEMPORAL_ADDRESS": address},
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout


def test_the_request_documents_own_words_lead_to_closeout(standing: Stack, tmp_path: Path) -> None:
    """Seed 000 §3."""
    standing.add(DOCUMENT, law(12))
    status = standing.json("run", DOCUMENT, "--wait", code=3)
    run_id = status["run_id"]
    for gate in ("SG_cut_authz", "SG_lifecycle_authz"):
        assert status["state"].startswith("awaiting_")
        folder = tmp_path / gate
        folder.mkdir()
        request = (standing.state / "kb" / status["request"]).read_text(encoding="utf-8")
        assert gate in request
        Instructions(request).follow(standing, folder)
        state = "awaiting_lifecycle_authorization" if gate == "SG_cut_authz" else "closeout_reported"
        wait(lambda state=state: standing.waits_in(run_id) == state, seconds=60, what=state)
        code = 3 if gate == "SG_cut_authz" else 0
        status = standing.json("orchestrate", "resume", "--run-id", run_id, "--wait", code=code)
    assert status["state"] == "closeout_reported"
    assert standing.value(
        "select count(*) from public.information_unit where canonical_address like %s and lifecycle_status = 'enacted'",
        (f"{DOCUMENT}/%",),
    ) == 12  # fmt: skip
    assert standing.cutter("orchestrate", "resume", "--run-id", run_id).returncode == 0, "again is fine"


def stop_report(stack: Stack, run_id: str, state: str) -> str:
    """The newest stop-route report of a run that stands in that state."""
    wait(lambda: stack.waits_in(run_id) == state, seconds=60, what=state)
    # The run stands there a moment before its report is written, and an earlier stop has one too.
    newest = """
    select kb_id from cutter_governance.outbox
    where run_id = %s and kind = 'stop_route' and strpos(body, %s) > 0 order by id desc
    """
    file = wait_for_file(stack, lambda: stack.value(newest, (run_id, f"state: {state}  ")))
    text = file.read_text(encoding="utf-8")
    assert f"state: {state}  " in text
    return text


def wait_for_file(stack: Stack, named: Callable[[], str | None]) -> Path:
    wait(lambda: (kb_id := named()) is not None and (stack.state / "kb" / kb_id).is_file(), seconds=60, what="report")
    return stack.state / "kb" / str(named())


def alter(stack: Stack, statement: LiteralString) -> None:
    with psycopg.connect(stack.superuser(), autocommit=True) as connection:
        connection.execute(statement)


def follow(stack: Stack, report: str, folder: Path) -> None:
    folder.mkdir()
    Instructions(report, "To continue by hand").follow(stack, folder)


def test_a_stop_reports_own_words_resume_a_stopped_run_and_acknowledge_a_drift(standing: Stack, tmp_path: Path) -> None:
    document = "BY-HAND-2"
    standing.add(document, law(5))
    run_id = standing.json("run", document, "--wait", code=3)["run_id"]
    standing.temporal("workflow", "signal", "--workflow-id", f"document/{document}", "--name", "stop")
    report = stop_report(standing, run_id, "stopped_stop")
    assert f"cutter approve {document} --decision resume --reason TEXT" in report
    follow(standing, report, tmp_path / "resume")
    wait(lambda: standing.waits_in(run_id) == "awaiting_cut_authorization", seconds=60, what="it goes on")
    alter(standing, "alter function public.fn_content_hash(text) set work_mem = '8MB'")
    try:
        standing.signal(document, standing.approve(run_id))
        report = stop_report(standing, run_id, "stopped_drift_functions")
        assert f"cutter approve {document} --decision acknowledge_drift --reason TEXT" in report
        assert "work_mem=8MB" in report
        follow(standing, report, tmp_path / "drift")
        wait(lambda: standing.waits_in(run_id) == "awaiting_lifecycle_authorization", seconds=60, what="it goes on")
    finally:
        alter(standing, "alter function public.fn_content_hash(text) reset work_mem")
