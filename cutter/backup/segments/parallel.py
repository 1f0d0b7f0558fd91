"""IO: restores the segments of a base, several at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed

from cutter.backup.segments.header import Document
from cutter.backup.segments.loader import Artifact
from cutter.backup.segments.tree import Entry

Told = Callable[[str, int], None]
"""A function that hears of each restored segment: its artifact, and the number of all segments."""

Parts = Mapping[Artifact, Mapping[str, Entry]]
"""By artifact: the documents that must come from it."""


def each_part(
    parts: Parts, restored: Callable[[Artifact, Mapping[str, Entry]], Mapping[str, Document]], jobs: int, progress: Told
) -> dict[str, Document]:
    """Restore every part with `restored`, so many at once, and return the documents of all of them.

    If one raises, it begins no other part, waits for those that run, and raises the same.
    """
    documents: dict[str, Document] = {}
    stopped = threading.Event()

    def unless_stopped(artifact: Artifact) -> Mapping[str, Document]:
        return {} if stopped.is_set() else restored(artifact, parts[artifact])

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        running = {pool.submit(unless_stopped, artifact): artifact for artifact in parts}
        try:
            for done in as_completed(running):
                documents |= done.result()
                progress(running[done].artifact_id, len(parts))
        except BaseException:
            stopped.set()
            raise
    return documents
