"""gpg leaves an agent behind for each key folder; ours are ended, others are left alone."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from cutter.stack.processes import agents, alive, stop_agents, until


def started(home: Path) -> None:
    home.mkdir(mode=0o700, parents=True)
    subprocess.run(["gpgconf", "--homedir", str(home), "--launch", "gpg-agent"], check=True, capture_output=True)


def test_only_the_agents_below_the_state_folder_are_ended() -> None:
    with tempfile.TemporaryDirectory(prefix="cut") as folder:
        ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
        for state in (ours, theirs):
            started(state / "keys" / "executor")
        assert until(lambda: len(agents(ours)) == len(agents(theirs)) == 1, seconds=10)
        ((_, agent),) = agents(ours)
        assert stop_agents(ours) == ["executor"]
        assert not alive(agent)
        assert len(agents(theirs)) == 1
        assert stop_agents(theirs) == ["executor"]
        assert stop_agents(ours) == []
