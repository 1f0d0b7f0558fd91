"""IO: reads the pinned snapshot of a run, marks it and plans its rows. Marking and planning are pure, so results are
cached by key.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

from cutter import marking
from cutter.domain.digests import canonical_json, sha256_hex
from cutter.errors import NotFound
from cutter.marking.revision import Base, RevisionPlan, plan_revision
from cutter.storage.gate_transaction import Attempt, OpenGate, Read
from cutter.storage.records import records
from cutter.storage.run_evidence import Snapshot

T = TypeVar("T")

KEPT = 8
"""Number of markings, and of plans, that a process caches: the documents of a few lanes."""


SNAPSHOT = records("snapshot_of_version", Snapshot)


Key = tuple[str, str, str, str]


class _Kept(Generic[T]):
    """The newest values by key. Threads of one worker share them."""

    def __init__(self) -> None:
        self._values: OrderedDict[tuple[str, ...], T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, ...]) -> T | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: tuple[str, ...], value: T) -> T:
        with self._lock:
            self._values[key] = value
            while len(self._values) > KEPT:
                self._values.popitem(last=False)
        return value


_markings: _Kept[marking.Marking | marking.MarkRefusal] = _Kept()
_plans: _Kept[marking.CutPlan] = _Kept()
_revisions: _Kept[RevisionPlan] = _Kept()


def pinned_read(attempt: Attempt) -> Read:
    """The snapshot of the pinned version, as a read that is sent with others. `pinned_in` takes a gate's answer."""
    return SNAPSHOT, {"source_version_id": attempt.pins.get("source_version_id")}


def pinned_in(opened: OpenGate) -> Snapshot:
    return require_pinned(opened.row(SNAPSHOT), opened.attempt.pins["source_version_id"])


def require_pinned(snapshot: Snapshot | None, source_version_id: str) -> Snapshot:
    if snapshot is None:
        raise NotFound(f"source version {source_version_id} is not there")
    return snapshot


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
    return marking.preview(profile.id if shipped else "PROFILE.yaml", options, pinned.forbidden_ids)


def mark_pinned(
    pinned: Snapshot, docprefix: str, max_candidates: int, *, fresh: bool = False
) -> marking.Marking | marking.MarkRefusal:
    """Mark the snapshot. With `fresh` the cache is not used, because an independent rebuild must mark again."""
    key = _key(pinned, docprefix, max_candidates)
    known = None if fresh else _markings.get(key)
    if known is not None:
        return known
    profile = marking.parse_profile(pinned.profile_body.encode())
    options = options_of(pinned, max_candidates)
    return _markings.put(
        key, marking.mark_registered(pinned.data, profile=profile, docprefix=docprefix, options=options)
    )


def plan_pinned(
    pinned: Snapshot, marked: marking.Marking, docprefix: str, source_version_id: str, max_candidates: int
) -> marking.CutPlan:
    """The plan of the snapshot's marking. It is a pure function of what the key of the cache covers."""
    key = (*_key(pinned, docprefix, max_candidates), source_version_id)
    return _plans.get(key) or _plans.put(
        key, marking.build_plan(pinned.data, marked, docprefix=docprefix, source_version_id=source_version_id)
    )


def revision_pinned(plan: marking.CutPlan, law: Base | None) -> RevisionPlan | None:
    """The plan against the law in force, None for a first cut. A cached one is used only if it is of these rows."""
    if law is None:
        return None
    key = (plan.source_version_id, law.source_version_id, law.receipt_hash)
    known = _revisions.get(key)
    if known is not None and known.cut == plan and known.base == law:
        return known
    return _revisions.put(key, plan_revision(plan, law))


def _key(pinned: Snapshot, docprefix: str, max_candidates: int) -> Key:
    """Everything on which a marking depends."""
    return (
        sha256_hex(pinned.data), sha256_hex(pinned.profile_body), docprefix,
        canonical_json(pinned.options) + str(options_of(pinned, max_candidates)),
    )  # fmt: skip
