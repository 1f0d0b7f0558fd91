"""The import contracts that a seed's rule rests on hold, also where only the tests are run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_nothing_but_the_handler_of_commands_calls_an_adapter() -> None:
    """Seed 002 "Execution Command Boundary"."""
    checker = Path(sys.executable).with_name("lint-imports")
    process = subprocess.run(
        [checker, "--contract", "commands", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout
    assert "Contracts: 1 kept, 0 broken." in process.stdout
