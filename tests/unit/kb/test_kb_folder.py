"""Names of a run's documents, as facts-domain gives them; no two runs share one."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.catalogue import GATES, OURS, Sovereign
from cutter.domain.digests import sha256_hex
from cutter.domain.ids import InvalidId, kb_id
from cutter.errors import ProgrammingError
from cutter.kb import ids as kb_ids
from tests.support.documents import run_documents

RUN = "ictr-20261121T090507Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
SAME_MINUTE = "ictr-20261121T090507Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5c"
DAY = date(2026, 11, 21)
DIGEST = sha256_hex("snapshot")
FOLDER = kb_ids.run_folder("ICX-LAW-1", DIGEST, DAY, RUN)


def test_the_folder_has_the_form_of_the_facts() -> None:
    name = kb_ids.run_folder("ICX-LAW-1", DIGEST, DAY, RUN)
    assert name == f"knowledge/dev/laws/icx-law-1/v{DIGEST[:16]}-automation-cut-20261121-0905-0c1d2e3f4a5b"


def test_two_runs_in_one_minute_have_two_folders() -> None:
    assert kb_ids.run_folder("ICX-LAW-1", DIGEST, DAY, SAME_MINUTE) != FOLDER


def test_the_documents_have_the_names_of_the_facts() -> None:
    seeds = [gate for gate in GATES if gate.name not in OURS]
    names = [name.removeprefix(FOLDER + "/") for name in run_documents(FOLDER, seeds, DAY)]
    assert names == [
        "01-source-pin-2026-11-21.md",
        "02-mark-2026-11-21.md",
        "03-cutplan-2026-11-21.md",
        "04-pre-write-backup-2026-11-21.md",
        "05-grant-probe-2026-11-21.md",
        "SG1-cut-authz-request-2026-11-21.md",
        "06-cut-leg-a-2026-11-21.md",
        "07-structural-verify-2026-11-21.md",
        "08-leg-b-record-2026-11-21.md",
        "09-write-verify-2026-11-21.md",
        "SG2-lifecycle-authz-request-2026-11-21.md",
        "10-lifecycle-enact-2026-11-21.md",
        "11-final-orchestrator-report-2026-11-21.md",
    ]


def test_a_fresh_request_has_a_name_of_its_own() -> None:
    first = kb_ids.request(FOLDER, Sovereign.CUT, DAY)
    second = kb_ids.request(FOLDER, Sovereign.CUT, DAY, number=2)
    assert first != second
    assert second.endswith("/SG1-cut-authz-request-2026-11-21-r2.md")


def test_every_name_is_a_kb_id_and_all_differ() -> None:
    names = [
        *run_documents(FOLDER, GATES, DAY),
        kb_ids.approval(FOLDER, "SG_cut_authz", DAY, approver="alice"),
        kb_ids.approval(FOLDER, "SG_cut_authz", DAY, approver="bob"),
        kb_ids.approval(FOLDER, "SG_lifecycle_authz", DAY, approver="alice", number=2),
        kb_ids.snapshot_copy(FOLDER, DIGEST),
        kb_ids.stop_report(FOLDER, DAY, number=1),
        kb_ids.stop_report(FOLDER, DAY, number=2),
    ]
    assert [kb_id(name) for name in names] == names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("prefix", "digest", "run", "error"),
    [
        ("icx-law", DIGEST, RUN, InvalidId),
        ("../X", DIGEST, RUN, InvalidId),
        ("ICX-LAW-1", "x", RUN, ProgrammingError),
        ("ICX-LAW-1", DIGEST, "r1", InvalidId),
    ],
)
def test_no_folder_is_made_of_illegal_parts(prefix: str, digest: str, run: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        kb_ids.run_folder(prefix, digest, DAY, run)


@given(st.text(alphabet="abcdef0123456789", min_size=64, max_size=64), st.integers(1, 30))
def test_a_documents_other_names_are_its_own_and_the_last_one_is_not_guessable(digest: str, number: int) -> None:
    wanted = kb_ids.request(FOLDER, Sovereign.CUT, DAY, number=number)
    names = list(kb_ids.names_for(wanted, digest))
    assert names[0] == wanted
    assert names[-1] == wanted.replace(".md", f"-other{digest[:12]}.md")
    assert len(set(names)) == len(names) == kb_ids.NUMBERED_NAMES + 1
    assert all(kb_id(name) == name for name in names)
    own = {kb_ids.request(FOLDER, Sovereign.CUT, DAY, number=other) for other in range(1, 31)}
    assert own & set(names) == {wanted}


@given(st.text(alphabet="abcdef0123456789", min_size=64, max_size=64))
def test_another_name_has_the_same_other_names(digest: str) -> None:
    first, *others = kb_ids.names_for(kb_ids.request(FOLDER, Sovereign.CUT, DAY), digest)
    for name in others:
        assert list(kb_ids.names_for(name, digest))[1:] == others, first
