"""IO: a serial loop without an engine: one document after the other, and a plain wait for each approval.

python -m benchmarks.peer_loop STATE; it reads a run, and then its two approvals, from the standard input.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.peer_steps import PLAN, Steps


def document(steps: Steps, run_id: str) -> None:
    """One run through all gates. If this process dies, nobody continues it."""
    for name, approval in PLAN:
        kb_id = ""
        if approval:
            steps.request(approval, run_id)
            kb_id = sys.stdin.readline().strip()
            steps.verdict(approval, run_id, kb_id)
        steps.gate(name, run_id, kb_id)


def main() -> None:
    """Serve until the standard input ends."""
    steps = Steps(Path(sys.argv[1]))
    print("ready", flush=True)
    while run_id := sys.stdin.readline().strip():
        document(steps, run_id)


if __name__ == "__main__":
    main()
