"""The reason of a rejection comes from the signed statement, and from no other file."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.approvals import schema
from cutter.approvals.statement import render
from cutter.domain.digests import sha256_hex
from cutter.kb.store import Store
from cutter.kb.write_once import put
from cutter.settings import Settings
from starter.approver import signing_desk
from starter.approver.signing_desk import Signing
from starter.operator.request_state import Rejected, with_reasons
from tests.cases.request_views import document_of, view

KB_ID = "knowledge/dev/laws/icx-law-1/v1/SG-cut.approval.md"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path)


def rejection(settings: Settings, text: str) -> bytes:
    """A rejection as the tool writes it."""
    signing = Signing(approver="bob", fingerprint="0" * 40, home=settings.state)
    return render(signing_desk.answer(document_of(view()), b"request", signing, schema.REJECT, text=text))


def shown(settings: Settings, *, stored: bytes | None, judged: bytes) -> str:
    """The reason that is shown of a run whose judged rejection had these bytes."""
    if stored is not None:
        put(Store(settings.kb), KB_ID, stored)
    recorded = Rejected(gate="SG_cut_authz", approver="bob", kb_id=KB_ID, approval_sha256=sha256_hex(judged))
    (rejection,) = with_reasons(settings, {"ictr-1": recorded}).values()
    assert (rejection.gate, rejection.approver) == ("SG_cut_authz", "bob")
    return rejection.reason


def test_the_reason_is_the_text_of_the_signed_statement_on_one_line(settings: Settings) -> None:
    body = rejection(settings, "article 4\nis missing")
    assert shown(settings, stored=body, judged=body) == "article 4 is missing"


def test_a_statement_without_a_text_says_so(settings: Settings) -> None:
    body = rejection(settings, "")
    assert shown(settings, stored=body, judged=body) == "no reason was given"


@pytest.mark.parametrize("stored", ["another", "none"])
def test_a_file_that_was_not_judged_gives_no_reason(settings: Settings, stored: str) -> None:
    other = rejection(settings, "article 5 is missing") if stored == "another" else None
    reason = shown(settings, stored=other, judged=rejection(settings, "article 4 is missing"))
    assert reason == f"the reason cannot be read; the signed statement was {KB_ID}"
