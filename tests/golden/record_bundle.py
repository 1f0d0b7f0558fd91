"""Records the kept evidence bundles, evidence/*.tar.gz: `python -m tests.golden.record_bundle`.

It drives runs of small laws to their end on a cluster of its own. Record them again only when the form of a statement
or of a bundle changes: the tests that read them say whether a bundle of earlier code still verifies. `laws` records
only the bundles of laws that changed.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from starter.commands.evidence import exported
from tests.cases.law_bundles import bundles_of_laws
from tests.support.database import own_cluster
from tests.support.runs import deployment, drive, keyring, law

FOLDER = Path(__file__).parent / "evidence"


def kept(name: str = "bundle") -> bytes:
    """A kept bundle."""
    return gzip.decompress((FOLDER / f"{name}.tar.gz").read_bytes())


def main(*only: str) -> None:
    """Drive the runs, export their bundles, write the files."""
    with (
        own_cluster() as server,
        keyring("alice") as keys,
        server.database(prefix="kept") as database,
        deployment(database, keys) as made,
    ):
        bundles = bundles_of_laws(made)
        if "laws" not in only:
            made_now, sealed, _ = exported(made.settings, drive(made, law(3)).run_id)
            assert sealed, "the closeout sealed no bundle"
            bundles["bundle"] = made_now.data
    for name, data in bundles.items():
        (FOLDER / f"{name}.tar.gz").write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
