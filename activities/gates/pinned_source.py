"""IO: reads the pinned snapshot of a run and marks it. Marking is pure, so results are cached by key."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from cutter import marking
from cutter.domain.digests import canonical_json, sha256_hex
from cutter.errors import NotFound
from cutter.storage.gate_transaction import Attempt, Open, Read
from cutter.storage.pools import Connection
from cutter.storage.records import records
from cutter.storage.snapshots import Snapshot

KEPT = 8
"""Number of markings that a process caches: the documents of a few lanes."""


SNAPSHOT = records("snapshot_of_version", Snapshot)


_kept: OrderedDict[tuple[str, str, str, str], marking.Marking | marking.MarkRefusal] = OrderedDict()
_lock = Lock()


def read_pinned(connection: Connection, source_version_id: str) -> Snapshot:
    """The snapshot of a version, as stored."""
    return require_pinned(SNAPSHOT.first(connection, {"source_version_id": source_version_id}), source_version_id)


def pinned_read(attempt: Attempt) -> Read:
    """The same snapshot as a read that is sent together with a gate's opening. `pinned_in` takes the answer."""
    return SNAPSHOT, {"source_version_id": attempt.pins.get("source_version_id")}


def pinned_in(opened: Open) -> Snapshot:
    """The snapshot that `pinned_read` asked for."""
    return require_pinned(opened.row(SNAPSHOT), opened.attempt.pins["source_version_id"])


def require_pinned(found: Snapshot | None, source_version_id: str) -> Snapshot:
    """The snapshot that was read, or NotFound."""
    if found is None:
        raise NotFound(f"source version {source_version_id} is not there")
    return found


def options_of(pinned: Snapshot, max_candidates: int) -> marking.Options:
    """The registered options. The deployment's limit of units caps the document's own limit."""
    wanted = dict(pinned.options)
    wanted["max_candidates"] = min(int(wanted.get("max_candidates", max_candidates)), max_candidates)
    return marking.Options(**wanted, forbidden_ids=tuple(pinned.forbidden_ids))


def preview_of(pinned: Snapshot, max_candidates: int) -> str:
    """The command that marks the same text in the same way. It asks for at most as many units as the workers allow."""
    profile = marking.parse_profile(pinned.profile_body.encode())
    shipped = profile.id in marking.PROFILES and marking.load_profile(profile.id).sha256 == profile.sha256
    options = dict(pinned.options)
    if "max_candidates" in options:
        options["max_candidates"] = options_of(pinned, max_candidates).max_candidates
    return marking.preview(profile.id if shipped else f"{profile.id}.yaml", options, pinned.forbidden_ids)


def mark_pinned(
    pinned: Snapshot, docprefix: str, max_candidates: int, *, fresh: bool = False
) -> marking.Marking | marking.MarkRefusal:
    """Mark the snapshot. With `fresh` the cache is not used, because an independent rebuild must mark again."""
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
    result = marking.mark_registered(pinned.data, profile=profile, docprefix=docprefix, options=options)
    with _lock:
        _kept[key] = result
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return result
