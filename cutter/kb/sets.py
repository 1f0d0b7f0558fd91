"""IO: the approvals of one signing session, which are in one folder of the knowledge base, and their common digest."""

from __future__ import annotations

from cutter import limits
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.errors import InvalidInput
from cutter.kb.ids import signature_of
from cutter.kb.store import Store


def set_names(store: Store, folder: str) -> list[str]:
    """The KB ids of the statements of a set. A document of the folder counts if it has a signature."""
    names = store.list(f"{folder.rstrip('/')}/")
    if len(names) > limits.SET_FILES_MAX:
        raise InvalidInput(f"{folder} has {len(names)} files, and may have {limits.SET_FILES_MAX}")
    signed = set(names)
    return [name for name in names if name.endswith(".md") and signature_of(name) in signed]


def listing_sha256(store: Store, names: list[str]) -> str:
    """The digest of a set, over the canonical JSON of {KB id: sha256 of the statement}."""
    return canonical_digest({name: sha256_hex(store.get(name)) for name in names})
