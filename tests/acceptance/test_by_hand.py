"""The journey of the seeds: one law, both approvals made by following the request document's own words."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from starter.demo import APPROVER
from tests.support.laws import law
from tests.support.processes import Stack, temporal_program, wait

DOCUMENT = "BY-HAND-1"


class Instructions:
    """The section "To approve by hand" of a request document, taken at its word."""

    def __init__(self, text: str) -> None:
        section = text.split("## To approve by hand\n", 1)[1].split("\n## ", 1)[0]
        self.text = text
        self.name = re.search(r"the text below as `([^`]+)`", section).group(1)  # type: ignore[union-attr]
        self.template = re.search(r"```yaml\n(.*?)```", section, re.S).group(1)  # type: ignore[union-attr]
        self.fill, self.sign, self.tell = re.findall(r"```sh\n(.*?)```", section, re.S)
        self.places = re.findall(r"^ {3}- `([^`]+)`$", section, re.M)

    def follow(self, stack: Stack, folder: Path) -> str:
        """Steps 1 to 5 in a shell with nothing but gpg and temporal of ours; what the last one printed."""
        (folder / "request.md").write_text(self.text, encoding="utf-8")
        (folder / self.name).write_text(self.template, encoding="utf-8")
        self.shell(stack, folder, self.fill.replace("your-name", APPROVER))
        self.shell(stack, folder, self.sign)
        for place in self.places:
            shutil.copy(folder / place.rpartition("/")[2], stack.state / "kb" / place)
        signal, resume = self.tell.replace("\\\n", " ").strip().splitlines()
        assert resume.startswith("cutter orchestrate resume --run-id ")
        return self.shell(stack, folder, signal)

    def shell(self, stack: Stack, folder: Path, script: str) -> str:
        address = (stack.state / "temporal.address").read_text(encoding="ascii").strip()
        programs = os.pathsep.join(("/usr/bin", "/bin", str(Path(shutil.which("gpg") or "gpg").parent),
                                    str(Path(shutil.which("temporal") or temporal_program()).parent)))  # fmt: skip
        done = subprocess.run(
            ["sh", "-eu", "-c", script], cwd=folder, check=False, capture_output=True, text=True, timeout=60,
            env={"PATH": programs, "HOME": str(folder), "GNUPGHOME": str(stack.state / "demo" / "gpg"),
                 "TEMPORAL_ADDRESS": address},
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout


def test_the_request_documents_own_words_lead_to_closeout(standing: Stack, tmp_path: Path) -> None:
    standing.add(DOCUMENT, law(12))
    seen = standing.json("run", DOCUMENT, "--wait", code=3)
    run_id = seen["run_id"]
    for gate in ("SG_cut_authz", "SG_lifecycle_authz"):
        assert seen["state"].startswith("awaiting_")
        folder = tmp_path / gate
        folder.mkdir()
        request = (standing.state / "kb" / seen["request"]).read_text(encoding="utf-8")
        assert gate in request
        Instructions(request).follow(standing, folder)
        state = "awaiting_lifecycle_authorization" if gate == "SG_cut_authz" else "closeout_reported"
        wait(lambda state=state: standing.waits_in(run_id) == state, seconds=60, what=state)
        code = 3 if gate == "SG_cut_authz" else 0
        seen = standing.json("orchestrate", "resume", "--run-id", run_id, "--wait", code=code)
    assert seen["state"] == "closeout_reported"
    assert standing.value(
        "select count(*) from public.information_unit where canonical_address like %s and lifecycle_status = 'enacted'",
        (f"{DOCUMENT}/%",),
    ) == 12  # fmt: skip
    assert standing.cutter("orchestrate", "resume", "--run-id", run_id).returncode == 0, "again is fine"
