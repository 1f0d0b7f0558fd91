"""Records the kept evidence bundle, evidence/bundle.tar.gz: `python -m tests.golden.record_bundle`.

It drives a run of a small law to its end on a cluster of its own. Record it again only when the form of a statement or
of a bundle changes: the tests that read it say whether a bundle of earlier code still verifies.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from starter.commands.evidence import exported
from tests.support.database import own_cluster
from tests.support.runs import deployment, drive, keyring, law

KEPT = Path(__file__).parent / "evidence" / "bundle.tar.gz"


def main() -> None:
    """Drive a run, export its sealed bundle, write the file."""
    with (
        own_cluster() as server,
        keyring("alice") as keys,
        server.database(prefix="kept") as database,
        deployment(database, keys) as made,
    ):
        found, sealed, _ = exported(made.settings, drive(made, law(3)).run_id)
    assert sealed, "the closeout sealed no bundle"
    KEPT.write_bytes(gzip.compress(found.data, mtime=0))


if __name__ == "__main__":
    main()
