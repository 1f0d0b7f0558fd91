"""The decisions of a signing session, and how its journal outlives crashes, full disks and second windows."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.errors import InvalidInput, Refused, Unavailable
from cutter.settings import Settings
from starter.approver.session import (
    Choice,
    Decided,
    Event,
    Ledger,
    Opened,
    Signed,
    open_journal,
    path_of,
    read_lines,
    restored,
    written,
)

KEYS = ("a" * 64, "b" * 64, "c" * 64)
requests = st.sampled_from(KEYS)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(Opened, request=requests),
    st.builds(Decided, request=requests, choice=st.sampled_from([*Choice, None]), text=st.text(max_size=20)),
    st.builds(
        Signed, request=requests, kb_ids=st.just(("knowledge/dev/x.md",)), folder=st.sampled_from(["", "session-1"]),
        handed_over=st.booleans(),
    ),
)  # fmt: skip


def after(done: list[Event]) -> Ledger:
    ledger = Ledger()
    for event in done:
        ledger = ledger.after(event)
    return ledger


@given(done=st.lists(events, max_size=8), cut=st.integers(min_value=0, max_value=4000))
def test_a_journal_cut_off_anywhere_keeps_every_whole_line(done: list[Event], cut: int) -> None:
    data = b"".join(map(written, done))[:cut]
    ledger, size = read_lines(data.splitlines(keepends=True), where="journal")
    assert ledger == after(done[: data.count(b"\n")])
    assert size == data.rfind(b"\n") + 1


@given(done=st.lists(events, max_size=8))
def test_what_is_signed_stays_signed_until_a_decision_takes_it_up_again(done: list[Event]) -> None:
    ledger = after(done)
    for key in ledger.signed:
        assert key not in [*ledger.chosen(Choice.APPROVE), *ledger.chosen(Choice.REJECT), *ledger.chosen(Choice.SKIP)]
        taken_up = ledger.after(Decided(request=key, choice=None))
        assert key not in {**taken_up.signed, **taken_up.decisions}


def test_a_line_that_no_session_wrote_is_named() -> None:
    lines = [written(Opened(request=KEYS[0])), b'{"event": "decided"}\n']
    with pytest.raises(InvalidInput, match="journal, line 2, is not a decision"):
        read_lines(lines, where="journal")


def test_progress_counts_what_a_person_did() -> None:
    done: list[Event] = [
        Opened(request=KEYS[0]), Opened(request=KEYS[1]), Decided(request=KEYS[0], choice=Choice.APPROVE),
        Decided(request=KEYS[1], choice=Choice.SKIP, text="ask"),
    ]  # fmt: skip
    assert after(done).progress(30) == "2 of 30 opened · 1 to approve · 1 skipped"
    signed = after([*done, Signed(request=KEYS[0], kb_ids=("x",), folder="session-1")])
    assert signed.progress(30) == "2 of 30 opened · 1 skipped · 1 signed"
    assert (signed.folder, restored(signed)) == (
        "session-1", "continued: 2 decisions kept, 1 statement signed and not handed over",
    )  # fmt: skip


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path)


def test_a_second_session_continues_the_first_and_forgets_requests_that_wait_no_more(settings: Settings) -> None:
    with open_journal(settings, "batch", "alice", KEYS) as journal:
        for key in KEYS:
            journal.record(Decided(request=key, choice=Choice.APPROVE, text="fine"))
    with path_of(settings, "batch", "alice").open("ab") as file:
        file.write(b'{"request": "torn')
    with open_journal(settings, "batch", "alice", KEYS[:2]) as journal:
        assert set(journal.ledger.decisions) == set(KEYS[:2])
        journal.record(Opened(request=KEYS[0]))
    with open_journal(settings, "batch", "alice", KEYS) as journal:
        assert set(journal.ledger.decisions) == set(KEYS)
        assert journal.ledger.opened == {KEYS[0]}
    assert path_of(settings, "batch", "alice").stat().st_mode & 0o777 == 0o600


def test_two_sessions_of_one_approver_do_not_mix(settings: Settings) -> None:
    with open_journal(settings, "batch", "alice", KEYS):
        with pytest.raises(Refused, match="alice has another signing session of these requests open"):
            open_journal(settings, "batch", "alice", KEYS).__enter__()
        with open_journal(settings, "batch", "bob", KEYS) as journal:
            assert journal.ledger == Ledger()


def test_a_decision_that_the_disk_does_not_take_is_refused_and_spoils_nothing(settings: Settings) -> None:
    with open_journal(settings, "batch", "alice", KEYS) as journal:
        journal.record(Opened(request=KEYS[0]))
        size = path_of(settings, "batch", "alice").stat().st_size
        with no_file_larger_than(size + 10), pytest.raises(Unavailable, match="could not be kept"):
            journal.record(Opened(request=KEYS[1]))
        journal.record(Opened(request=KEYS[2]))
    lines = path_of(settings, "batch", "alice").read_text().splitlines()
    assert [json.loads(line)["request"] for line in lines] == [KEYS[0], KEYS[2]]


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """A full disk, as far as this process is concerned."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_folder_that_cannot_be_made_is_named(settings: Settings) -> None:
    (settings.state / "signing").write_text("a file where the folder belongs")
    with pytest.raises(Unavailable, match="make the folder writable"):
        open_journal(settings, "batch", "alice", KEYS).__enter__()
