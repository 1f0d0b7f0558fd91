"""IO: a stage of a law's second version, for tests and campaigns that clone it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cutter.catalogue import Sovereign
from cutter.types import Json
from tests.integration.living_law.texts import FIRST, SECOND
from tests.support.database import TestCluster
from tests.support.runs import Keys, Stage, deployment, drive, offer


@contextmanager
def revision_stage(
    server: TestCluster, keys: Keys, *, until: str, sovereign: Sovereign | None = None
) -> Iterator[Stage]:
    """The revision of an enacted law with `until` sealed and, with `sovereign`, that request approved."""
    with server.database(prefix="living") as database:
        with deployment(database, keys) as made:
            first = drive(made, FIRST)
            made.register(SECOND, document_id=first.document_id)
            driven = drive(made, document_id=first.document_id, until=until)
            offers: tuple[Json, ...] = ()
            if sovereign is not None:
                _, verdict = made.approve(driven.run_id, sovereign)
                assert verdict.accepted, verdict
                offers = (offer(made, verdict),)
        database.close()
        yield Stage(
            server=server, template=database.name, run_id=driven.run_id, document_id=first.document_id, units=6,
            offers=offers,
        )  # fmt: skip
