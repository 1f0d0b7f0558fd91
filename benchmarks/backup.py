"""IO: wall time of a pre-write backup and of its restore check, for 0 and for 2,000 units.

Run: python -m benchmarks.backup [--repeat 5]

Method: one embedded cluster with the real schema, a fresh key, a local store; each number of units is measured
`--repeat` times after one run that is not counted, median and maximum are printed. The cluster has fsync off, the store
has it on; nothing else should run on the machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from cutter.backup.record import BackupRecord, RestoreReport
from tests.integration.backup import rig as parts

UNITS = (0, 2_000)


def seconds(work: Callable[[], object], repeat: int) -> list[float]:
    work()
    taken = []
    for _ in range(repeat):
        started = time.monotonic()
        work()
        taken.append(time.monotonic() - started)
    return taken


def measure(rig: parts.Rig, repeat: int) -> tuple[int, int, list[float], list[float]]:
    """(rows, bytes, seconds of take, seconds of restore_check)."""
    record = rig.taken_record()
    assert isinstance(record, BackupRecord)

    def check() -> None:
        assert isinstance(rig.check(record), RestoreReport)

    return sum(record.row_counts.values()), record.size_bytes, seconds(rig.take, repeat), seconds(check, repeat)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    print(f"{'units':>6} {'rows':>6} {'bytes':>9}  {'take s':>16}  {'check s':>16}   (median / maximum of {repeat})")
    with parts.server() as server, parts.new_home() as home:
        for units in UNITS:
            with parts.rig(server, home, units=units) as rig:
                rows, size, take, check = measure(rig, repeat)
                shown = [f"{statistics.median(times):7.3f} / {max(times):6.3f}" for times in (take, check)]
                print(f"{units:>6} {rows:>6} {size:>9}  {shown[0]:>16}  {shown[1]:>16}")


if __name__ == "__main__":
    main()
