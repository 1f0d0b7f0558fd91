"""IO: the pinned snapshot of a run and what its profile makes of it; marking is pure, so its result is kept by key."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

from cutter import marking
from cutter.domain.digests import canonical_json, sha256_hex
from cutter.errors import NotFound
from cutter.storage.gate_transaction import Attempt, Open, Read, Row
from cutter.storage.pools import Connection
from cutter.storage.queries import query

SNAPSHOT = "snapshot_of_version"

KEPT = 8
"""Markings kept in a process: the documents of a few lanes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """The bytes of a source version with the profile and options it was registered with."""

    data: bytes
    profile_body: str
    options: dict[str, Any]
    forbidden_ids: tuple[str, ...]
    source_document_ref: str


_kept: OrderedDict[tuple[str, str, str, str], marking.Marking | marking.MarkRefusal] = OrderedDict()
_lock = Lock()


def read_pinned(connection: Connection, source_version_id: str) -> Pinned:
    """The snapshot of a version, as stored."""
    row = connection.execute(query(SNAPSHOT), {"source_version_id": source_version_id}).fetchone()
    return pinned_of(row, source_version_id)


def pinned_read(attempt: Attempt) -> Read:
    """The same as a read that is sent with a gate's opening; `pinned_in` takes its answer."""
    return SNAPSHOT, {"source_version_id": attempt.pins.get("source_version_id")}


def pinned_in(opened: Open) -> Pinned:
    """The snapshot that `pinned_read` asked for."""
    return pinned_of(opened.row(SNAPSHOT), opened.attempt.pins["source_version_id"])


def pinned_of(row: Row | None, source_version_id: str) -> Pinned:
    """The snapshot in a row that was read elsewhere; NotFound when there was none."""
    if row is None:
        raise NotFound(f"source version {source_version_id} is not there")
    return Pinned(
        data=bytes(row[0]),
        profile_body=str(row[1]),
        options=dict(row[2]),
        forbidden_ids=tuple(row[3]),
        source_document_ref=str(row[4]),
    )


def options_of(pinned: Pinned, max_candidates: int) -> marking.Options:
    """The registered options; the deployment's limit bounds the document's own."""
    wanted = dict(pinned.options)
    wanted["max_candidates"] = min(int(wanted.get("max_candidates", max_candidates)), max_candidates)
    return marking.Options(**wanted, forbidden_ids=pinned.forbidden_ids)


def preview_of(pinned: Pinned, max_candidates: int) -> str:
    """The command with which a person marks the same text in the same way, with at most the units of the workers."""
    profile = marking.parse_profile(pinned.profile_body.encode())
    shipped = profile.id in marking.PROFILES and marking.load_profile(profile.id).sha256 == profile.sha256
    options = dict(pinned.options)
    if "max_candidates" in options:
        options["max_candidates"] = options_of(pinned, max_candidates).max_candidates
    return marking.preview(profile.id if shipped else f"{profile.id}.yaml", options, pinned.forbidden_ids)


def mark_pinned(
    pinned: Pinned, docprefix: str, max_candidates: int, *, fresh: bool = False
) -> marking.Marking | marking.MarkRefusal:
    """Mark the snapshot; `fresh` does the work again, for a rebuild that must be independent."""
    options = options_of(pinned, max_candidates)
    key = (
        sha256_hex(pinned.data),
        sha256_hex(pinned.profile_body),
        docprefix,
        canonical_json(pinned.options) + str(options),
    )
    with _lock:
        if not fresh and key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    profile = marking.parse_profile(pinned.profile_body.encode())
    result = marking.mark(pinned.data, profile=profile, docprefix=docprefix, options=options)
    with _lock:
        _kept[key] = result
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return result
