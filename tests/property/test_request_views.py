"""For any text: what is shown are exactly the bytes whose digests are signed, in every form of the request."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from cutter.approvals.request import parse_request, render_request
from cutter.domain.digests import sha256_hex, writer_digest, writer_line
from cutter.marking import Marking, Options, build_plan, load_profile, mark
from cutter.projections import request_page
from cutter.request_view.builder import build_view
from cutter.request_view.forms import view_digest
from cutter.request_view.view import RequestView
from tests.cases.request_views import VERSION, document_of
from tests.property.test_marking_partition import TEXTS
from tests.support.hostile import leaks, live

PROFILES = st.sampled_from(("generic-markdown", "incomex-constitution", "vietnamese-law"))
OPTIONS = Options(duplicates="ordinal", empty="heading_only", max_candidates=10_000)


def accepted(text: str, profile: str) -> tuple[bytes, Marking] | None:
    """The marking of a text, with every red finding accepted; None for a text that no acceptance helps."""
    data = unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
    chosen = load_profile(profile)
    marking = mark(data, profile=chosen, docprefix="LAW", options=OPTIONS)
    if not isinstance(marking, Marking) and marking.findings:
        accept = {finding.name: "so in the text" for finding in marking.findings}
        options = Options(duplicates="ordinal", empty="heading_only", max_candidates=10_000, accept=accept)
        marking = mark(data, profile=chosen, docprefix="LAW", options=options)
    return (data, marking) if isinstance(marking, Marking) else None


def view_of(text: str, profile: str) -> RequestView | None:
    pair = accepted(text, profile)
    return pair and build_view(pair[0], pair[1], docprefix="LAW", source_version_id=VERSION)


@settings(deadline=None, max_examples=80)
@given(text=TEXTS, profile=PROFILES)
def test_the_shown_bodies_are_the_bytes_whose_digests_are_signed(text: str, profile: str) -> None:
    pair = accepted(text, profile)
    if pair is None:
        return
    data, marking = pair
    shown = build_view(data, marking, docprefix="LAW", source_version_id=VERSION)
    assert "".join(shown.body(piece) for piece in shown.pieces).encode() == data
    lines = []
    for unit in shown.units:
        assert sha256_hex(shown.body(unit)) == unit.body_sha256
        lines.append(
            writer_line(
                address=unit.address, unit_kind=unit.unit_kind, section_type=unit.section_type, owner=unit.owner,
                publication_type=unit.publication_type, title=unit.title, body_sha256=sha256_hex(shown.body(unit)),
                parent_address=unit.parent_address,
            )
        )  # fmt: skip
    plan = build_plan(data, marking, docprefix="LAW", source_version_id=VERSION)
    assert writer_digest(lines) == shown.digests.writer_digest == plan.writer_digest
    assert shown.digests.findings_digest == marking.findings_digest


@settings(deadline=None, max_examples=50)
@given(text=TEXTS, profile=PROFILES)
def test_every_line_of_a_piece_is_on_the_page_under_its_number(text: str, profile: str) -> None:
    shown = view_of(text, profile)
    if shown is None:
        return
    rows = list(request_page.rows(shown, {}))
    targets = [line.number for row in rows for line in row.lines if line.is_target]
    assert targets == sorted(set(targets))
    by_number: dict[int, str] = {}
    for row in rows:
        for line in row.lines:
            by_number[line.number] = by_number.get(line.number, "") + line.text
    for number, line_text in enumerate(shown.lines, start=1):
        assert by_number.get(number, "") == line_text.removesuffix("\r"), number


@settings(deadline=None, max_examples=50)
@given(text=TEXTS, profile=PROFILES)
def test_every_form_names_one_digest_and_hides_nothing(text: str, profile: str) -> None:
    shown = view_of(text, profile)
    if shown is None:
        return
    document = document_of(shown)
    written = render_request(document)
    assert parse_request(written) == document
    page = request_page.render(document, shown).decode()
    for form in (written.decode(), page):
        assert view_digest(shown) in form
        assert leaks(form) == []
    assert live(document.shown) == []
