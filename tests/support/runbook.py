"""IO: types the commands of a page in the documentation on a stack, as a person does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from cutter.stack.postgres_programs import pg_bin
from tests.support.laws import law
from tests.support.processes import ROOT, Stack, wait


def sections(page: str) -> dict[str, list[str]]:
    """The blocks of commands of a page, by the heading of their section."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return {part.split("\n", 1)[0]: re.findall(r"```sh\n(.*?)```", part, re.S) for part in text.split("\n## ")[1:]}


def types(made: Stack, script: str, **variables: str) -> str:
    """What a block prints. Its folder `.cutter` is the stack's state folder, and PostgreSQL's programs are there."""
    typed, program = made.state / "typed", made.state / "bin" / "cutter"
    if not typed.exists():
        typed.mkdir()
        program.parent.mkdir()
        (typed / ".cutter").symlink_to(made.state)
        program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m starter "$@"\n')
        program.chmod(0o755)
    # As after `export PATH="$PWD/.venv/bin:$PATH"`, which the guides begin with.
    path = f"{program.parent}:{pg_bin('psql').parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-eu", "-c", script], cwd=typed, capture_output=True, text=True, check=False, timeout=240,
        env=made.shell({"PATH": path, **variables}),
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


def awaits_enactment(made: Stack, document: str) -> str:
    """Cut a law until its run waits for the second signature. The run's id."""
    made.add(document, law(4))
    run_id = str(made.json("run", document, "--wait", code=3)["run_id"])
    signed(made, document, run_id)
    wait(lambda: made.waits_in(run_id) == "awaiting_lifecycle_authorization", seconds=120, what="the second request")
    return run_id


def enacted(made: Stack, document: str) -> str:
    """Cut a law to its end. The run's id."""
    run_id = awaits_enactment(made, document)
    ends(made, document, run_id)
    return run_id


def ends(made: Stack, document: str, run_id: str) -> None:
    """Sign the second request, and wait for the end."""
    signed(made, document, run_id)
    wait(lambda: made.waits_in(run_id) == "closeout_reported", seconds=120, what="the end of the run")


def signed(made: Stack, document: str, run_id: str) -> None:
    """Sign the open request, and send it."""
    wait(lambda: made.waits_in(run_id).startswith("awaiting_"), seconds=120, what="a request")
    made.signal(document, made.approve(run_id))
