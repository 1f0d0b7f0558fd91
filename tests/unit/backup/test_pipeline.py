"""The programs of a backup: how they are run."""

from __future__ import annotations

import os

from cutter import limits
from cutter.backup.pipeline import Deadline, Pipeline, Stage


def test_each_program_of_a_backup_stands_back_for_the_rest_of_the_machine() -> None:
    # It asks only when it has been fed, so that it is well begun by then.
    asks = Stage(name="asks", command=("sh", "-c", "read line; nice"), environment={"PATH": os.environ["PATH"]})
    with Pipeline((asks,), deadline=Deadline(30), fed=True) as pipeline:
        output = b"".join(pipeline.chunks([b"now\n"]))
    assert int(output) == min(19, os.nice(0) + limits.BACKUP_NICENESS)
