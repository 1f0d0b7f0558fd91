"""Units and versions of laws for tests."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from cutter.domain.digests import sha256_hex
from cutter.law.law_text import LawText, LawVersion, OutlineUnit, Signer, Unit, UnitTree


def unit(name: str, body: str | None = None, *, order: int = 1, parent: str | None = None, **changed: Any) -> Unit:
    """A unit of the law `ICX-LAW-1`."""
    text = f"## {name}\n\nThe text of {name}.\n" if body is None else body
    values: dict[str, Any] = {
        "address": f"ICX-LAW-1/{name}", "title": name, "unit_kind": "law_unit", "section_type": "article",
        "parent": f"ICX-LAW-1/{parent}" if parent else None, "order": order, "version": 1, "body": text,
        "content_sha256": sha256_hex(text), "effective_from": date(2026, 1, 1), "effective_until": None, **changed,
    }  # fmt: skip
    return Unit(**values)


def version(**changed: Any) -> LawVersion:
    values: dict[str, Any] = {
        "document": "ICX-LAW-1", "version": 1, "title": "An Act to test", "operation": "first_cut",
        "run_id": "ictr-20260101T000000Z-0198f6f0-0000-7000-8000-000000000001", "change_set": "c1",
        "enacted_at": datetime(2026, 1, 1, 12, tzinfo=UTC), "effective_from": date(2026, 1, 1),
        "effective_until": None, "source_sha256": "a" * 64, "region_sha256": "b" * 64, "writer_digest": "c" * 64,
        "units": 3, "status": "in_force", **changed,
    }  # fmt: skip
    return LawVersion(**values)


SIGNED = datetime(2026, 1, 1, 11, tzinfo=UTC)
SIGNERS = (
    Signer(role="approver of the cut", name="alice", fingerprint="A" * 40, signed_at=SIGNED, statement_sha256="1" * 64),
    Signer(role="executor", name="DOT-991", fingerprint="E" * 40, signed_at=SIGNED, statement_sha256="2" * 64),
)


def law_text(*units: Unit, **changed: Any) -> LawText:
    return LawText(version=version(units=len(units), **changed), units=units, signers=SIGNERS)


def outline(*places: tuple[str, str | None], title: str | None = None) -> UnitTree[OutlineUnit]:
    """The outline of a law with a unit for each (address, parent)."""
    units = tuple(
        OutlineUnit(
            address=address, title=title or address, unit_kind="law_unit", section_type="article", parent=parent,
            order=order, version=2, size=100, content_sha256="d" * 64, effective_from=date(2026, 1, 1),
            effective_until=None,
        )
        for order, (address, parent) in enumerate(places, 1)
    )  # fmt: skip
    return UnitTree(version=version(document="L", version=2), units=units)
