"""Pure: views of requests for tests: a law with a finding of each severity, before leg A and after it; hostile ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from cutter.approvals.request import Changes, RequestDocument, UnitLine
from cutter.catalogue import Sovereign
from cutter.marking import Marking, Options, load_profile, mark
from cutter.request_view.builder import build_view
from cutter.request_view.forms import markdown, view_digest
from cutter.request_view.view import Check, RequestView, SealedGate, ShownFinding, StoredUnit
from tests.cases.approval_cases import request_document, request_tuple

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
VERSION = "0190a5b2-7c3d-4e4f-8a9b-0c1d2e3f4a5b"
RED = "number_repeated:ACT-1/CHAPTER-II/ARTICLE-2~2"
OPTIONS = Options(duplicates="ordinal", empty="heading_only", accept={RED: "printed twice in the gazette"})

LAW = (
    "---\ntitle: An Act\n---\n# An Act on Bridges\n\nPreamble of the Act.\n\n"
    "## Chapter I General\n\n### Article 1. Scope\n\nThis Act is about bridges and their lamps.\n\n"
    "## Chapter II Duties\n\n### Article 2. Duty\n\nKeep the bridge.\n\n### Article 2. Duty\n\nKeep\u200b the lamp.\n"
)


def marked(text: str = LAW, options: Options = OPTIONS) -> tuple[bytes, Marking]:
    """The text and its marking by the generic profile under ACT-1."""
    data = text.encode()
    marking = mark(data, profile=load_profile("generic-markdown"), docprefix="ACT-1", options=options)
    assert isinstance(marking, Marking), marking
    return data, marking


def view(text: str = LAW, options: Options = OPTIONS) -> RequestView:
    """What a request to cut shows."""
    data, marking = marked(text, options)
    return build_view(data, marking, docprefix="ACT-1", source_version_id=VERSION)


def stored_units(shown: RequestView) -> tuple[StoredUnit, ...]:
    """The units as PostgreSQL holds them when they are as planned."""
    return tuple(
        StoredUnit(
            address=unit.address, unit_id=f"unit-{unit.position}", version_id=f"version-{unit.position}",
            title=unit.title, parent_address=unit.parent_address, content_hash=unit.body_sha256,
        )
        for unit in shown.units
    )  # fmt: skip


def sealed_gates(observed: str = "6") -> tuple[SealedGate, ...]:
    """Two gates between the signatures."""
    checks = (Check(name="bodies_match_plan", ok=True, observed=observed, expected="6"),)
    return tuple(
        SealedGate(gate=gate, role="cutter_verify", receipt_hash="ab" * 32, checks=checks)
        for gate in ("IG_structural_verify", "IG_write_verify")
    )


def written_view(stored: tuple[StoredUnit, ...] | None = None) -> RequestView:
    """What a request to enact shows."""
    data, marking = marked()
    held = stored_units(view()) if stored is None else stored
    return build_view(
        data, marking, docprefix="ACT-1", source_version_id=VERSION, stored=held, sealed=sealed_gates()
    )  # fmt: skip


def document_of(shown: RequestView, gate: Sovereign = Sovereign.CUT) -> RequestDocument:
    """The request document that shows this view."""
    tuple_ = replace(
        request_tuple(gate=gate), writer_digest=shown.digests.writer_digest, region_sha=shown.digests.region_sha,
        candidate_count=len(shown.units), findings_digest=shown.digests.findings_digest,
        accepted_findings=" ".join(shown.accepted_findings) or "none", source_version_id=shown.source_version_id,
    )  # fmt: skip
    changes = Changes.of(
        added=[UnitLine(address=unit.address, title=unit.title) for unit in shown.units], changed=[], removed=[]
    )
    return replace(
        request_document(tuple_, NOW), changes=changes, shown=markdown(shown), view_digest=view_digest(shown),
        findings_count=len(shown.findings),
    )  # fmt: skip


def hostile_view(text: str) -> RequestView:
    """A view with that text wherever somebody else writes: titles, excerpts, findings, reasons, checks, the source."""
    shown = written_view()
    finding = ShownFinding(
        severity="red", code="looks_uncut", name=RED, line=1, address=shown.units[0].address, message=text,
        excerpt=text, because=text,
    )  # fmt: skip
    body = text.replace("\n", " ").encode("utf-8", "replace")
    unit = replace(
        shown.units[0], title=text, excerpt=text, number=text, start=0, end=len(body) or 1, first_line=1, line=1,
        last_line=1, findings=(0,),
    )  # fmt: skip
    return replace(
        shown, data=body or b" ", units=(unit,), left_out=(), findings=(finding,),
        accepted=tuple(replace(item, because=text) for item in shown.accepted),
        sealed=tuple(replace(gate, checks=(replace(gate.checks[0], observed=text),)) for gate in sealed_gates(text)),
    )  # fmt: skip
