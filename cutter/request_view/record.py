"""Pure: the JSON form of a request's view, and the digest that every form of the view names."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from cutter.approvals.request import RequestDocument
from cutter.domain.digests import canonical_digest
from cutter.domain.timestamps import render_instant
from cutter.marking.revision import RevisionPlan
from cutter.request_view.view import LeftOut, RequestView, ShownUnit
from cutter.types import Json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA: Final = "cutter-request-view/1"


def view_record(view: RequestView) -> Json:
    """The whole view without the source text. `snapshot_sha256` represents the source text."""
    # Each unit that the text changes in the law in force, with its words as pairs of kind and text.
    changes = [
        {**flat(change), "words": [[piece.kind, piece.text] for piece in change.words]} for change in view.difference
    ]
    return {
        "schema": SCHEMA,
        **({"title": view.title, "difference": changes} if view.revision else {}),
        "docprefix": view.docprefix,
        "source_version_id": view.source_version_id,
        "profile_id": view.profile_id,
        "digests": asdict(view.digests),
        "findings": [flat(finding) for finding in view.findings],
        "accepted": [asdict(item) for item in view.accepted],
        "units": [_piece(unit) for unit in view.units],
        "left_out": [_piece(piece) for piece in view.left_out],
        "sealed": [asdict(gate) for gate in view.sealed],
        # A first cut without a date has the record that it always had.
        **({"effective_from": view.effective_from} if view.effective_from else {}),
        **({"reason": view.reason} if view.reason else {}),
        **({"removed_pages": view.removed_pages} if view.removed_pages else {}),
        **({"revision": _revision(view.revision)} if view.revision else {}),
    }


def view_digest(view: RequestView) -> str:
    return canonical_digest(view_record(view))


def request_record(document: RequestDocument, view: RequestView) -> Json:
    """The JSON form of a request: the question, the whole view, and the source text."""
    return {
        "view_digest": view_digest(view),
        "view": view_record(view),
        "request": {**asdict(document.request), "challenge": document.request.challenge},
        "mode": document.mode,
        "expires_utc": render_instant(document.expires_utc),
        "effect_policy": document.effect_policy,
        "request_kb_id": document.kb_id,
        "changes": asdict(document.changes),
        "newer_version": view.newer,
        "source": {"sha256": view.digests.snapshot_sha256, "text": view.data.decode("utf-8")},
    }


def _revision(plan: RevisionPlan) -> Json:
    return {
        "operation_kind": plan.base.operation_kind,
        "base_source_version_id": plan.base.source_version_id,
        "base_receipt_hash": plan.base.receipt_hash,
        "counts": plan.counts,
        "rows": [
            {
                "address": row.address,
                "operation": row.operation,
                "continues": row.continues,
                "body_sha256": row.new and row.new.body_sha256,
                "ended": row.old and {name: value for name, value in flat(row.old).items() if name != "body"},
            }
            for row in plan.rows
        ],
    }


def _piece(piece: ShownUnit | LeftOut) -> Json:
    stored = {"stored": piece.stored and flat(piece.stored)} if isinstance(piece, ShownUnit) else {}
    return {**flat(piece), **stored, "bytes": piece.size}


def flat(value: DataclassInstance) -> Json:
    """The fields of a record that holds only plain values. `asdict` copies each of them, and a law has many."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
