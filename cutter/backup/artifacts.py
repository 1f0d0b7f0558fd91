"""IO: the store of backups. It is the store of artifacts, and only our own account can read new objects."""

from __future__ import annotations

from collections.abc import Iterator

from cutter.errors import InvalidInput, Unavailable
from cutter.kb.ids import artifact_id_rule
from cutter.kb.store import NOT_REGULAR, Store

RECORD_SUFFIX = ".json"


def open_store(url: str) -> Store:
    """The store of artifacts at an fsspec URL. Their names are relative paths such as `<run_id>/pre_write.gpg`."""
    try:
        return Store(url, id_rule=artifact_id_rule, what="backup", private=True)
    except Unavailable as problem:
        if isinstance(problem.__cause__, (OSError, ImportError)):
            raise
        raise InvalidInput(
            "CUTTER_ARTIFACTS_URL: a URL that fsspec knows, such as file:///var/lib/cutter/artifacts"
        ) from None


def chunks(store: Store, artifact_id: str) -> Iterator[bytes]:
    """An artifact's bytes in parts. Raises NotFound, and Unavailable if it is unreadable or not a regular file."""
    try:
        yield from store.chunks(artifact_id)
    except InvalidInput as problem:
        if problem.code != NOT_REGULAR:
            raise
        # An operator can put the artifact back, so the run waits and does not fail.
        raise Unavailable(f"artifact {artifact_id} cannot be read: {problem}", what="backup") from None
