"""The screens of a signing session, driven by keys: what they show, refuse and keep."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import DataTable, Static, TextArea

from cutter.errors import Refused, Unavailable
from cutter.limits import EARLY_KEY_SECONDS, QUIET_AFTER_EARLY_KEY_SECONDS
from cutter.marking import Options
from cutter.request_view.view import RequestView
from cutter.settings import Settings
from starter.approver import signing_session
from starter.approver.full_screen.app import RequestList, SigningApp
from starter.approver.full_screen.pages import MOVES, Deciding, LastPage, Notice, PageKeys
from starter.approver.full_screen.request_reader import RequestReader
from starter.approver.session import Choice, Decision, Opened, Session, open_journal
from starter.approver.session_requests import Asked, Signatures
from starter.approver.signing_desk import Signing
from tests.cases.request_views import document_of, hostile_view, view, written_view
from tests.support.hostile import STRINGS, TERMINAL, leaks
from tests.unit.gates.passing import REVISION

SIZES = [(80, 24), (120, 40)]


def asked(name: str, shown: RequestView) -> Asked:
    document = document_of(shown)
    document = replace(document, request=replace(document.request, document_id=name))
    return Asked(document=document, data=f"request of {name}".encode())


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    requests = [asked(f"ICX-LAW-{number}", view()) for number in range(1, 5)]
    keys = {request.key for request in requests}
    with open_journal(Settings(state_dir=tmp_path), "b", "alice", keys) as journal:
        yield Session(
            title="batch b", approver="alice", requests=requests, before=False, journal=journal, build=lambda _: view()
        )


@asynccontextmanager
async def running(
    session: Session, size: tuple[int, int] = SIZES[0], *, pages_open_at: float = 0.0
) -> AsyncIterator[Pilot[bool]]:
    """The session on a screen. Its clock says that every page opened at that moment, which is long ago unless given."""
    async with SigningApp(session, clock=lambda: pages_open_at).run_test(size=size) as pilot:
        await open_page(pilot)
        yield pilot


async def open_page(pilot: Pilot[bool]) -> None:
    """Wait until the page that was opened last is drawn."""
    await pilot.pause()
    while pilot.app.page_open_since == math.inf:  # type: ignore[attr-defined]
        await pilot.pause()


def printed(pilot: Pilot[bool]) -> str:
    """What stands on the screen."""
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


def told(pilot: Pilot[bool]) -> list[str]:
    """What the page tells the person on its own line."""
    return [notice.said for notice in pilot.app.screen.query(Notice) if notice.said]


async def keys(pilot: Pilot[bool], *pressed: str) -> None:
    for key in pressed:
        await pilot.press(key)
        if pilot.app.is_running:
            await open_page(pilot)


async def typed(pilot: Pilot[bool], text: str) -> None:
    await keys(pilot, *("space" if letter == " " else letter for letter in text), "enter")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.thorough
async def test_the_list_names_every_request_and_every_key(session: Session, size: tuple[int, int]) -> None:
    async with running(session, size) as pilot:
        text = printed(pilot)
        assert all(request.name in text for request in session.requests)
        assert "0 of 4 opened" in text
        assert "press f" not in text
        for word in ("Read", "Approve", "Skip", "Reject", "Note", "Filter", "Finish", "Leave"):
            assert word in text


PAGES: dict[str, tuple[tuple[str, ...], list[type]]] = {
    "list": ((), [Deciding, RequestList]),
    "reader": (("enter",), [Deciding, RequestReader]),
    "reader with the text": (("enter", "4", "tab"), [Deciding, RequestReader]),
    "last page": (("f",), [LastPage]),
}
"""How each page is reached, and the classes that declare its keys."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.thorough
async def test_a_question_mark_names_every_key_of_the_page(session: Session, page: str, size: tuple[int, int]) -> None:
    way, classes = PAGES[page]
    declared = [binding for each in (*classes, SigningApp) for binding in each.BINDINGS]  # type: ignore[attr-defined]
    async with running(session, size) as pilot:
        await keys(pilot, *way)
        below = pilot.app.screen
        assert "? All keys" in printed(pilot).splitlines()[-1]
        await keys(pilot, "question_mark")
        text = printed(pilot)
        named = {key for row in pilot.app.screen.rows for key in row[0].split()}  # type: ignore[attr-defined]
        assert {pilot.app.get_key_display(binding) for binding in declared} - named == set()
        assert [row for row in pilot.app.screen.rows if row[0] not in text or row[1] not in text] == []  # type: ignore[attr-defined]
        await keys(pilot, "question_mark")
        assert pilot.app.screen is below


@pytest.mark.thorough
async def test_the_page_of_keys_names_those_that_the_footer_has_no_room_for(session: Session) -> None:
    async with running(session) as pilot:
        await keys(pilot, "enter", "question_mark")
        rows = dict(pilot.app.screen.rows)  # type: ignore[attr-defined]
    assert rows["["] == "Open the previous request"
    assert rows["N"] == "Go to the line found before"
    assert rows["tab"] == "Go from the tree to the text or the findings"
    assert rows["1 2 3 4 5"] == "Show findings, change, unit, source or facts"
    assert rows["\u2191 \u2193 \u2190 \u2192 home end \u23ce"] == MOVES


@pytest.mark.thorough
async def test_no_key_typed_around_the_page_of_keys_decides(session: Session) -> None:
    """While that page is open, a key decides nothing, and the page below must be visible again before one counts."""
    opened, first = 1000.0, session.requests[0]
    async with running(session, pages_open_at=opened) as pilot:
        await typed_at(pilot, "enter", opened)
        await typed_at(pilot, "question_mark", opened)
        for key in "asreuy":
            await typed_at(pilot, key, opened + 1)
        assert type(pilot.app.screen) is PageKeys
        await typed_at(pilot, "escape", opened + 1)
        assert type(pilot.app.screen) is RequestReader
        await typed_at(pilot, "a", opened + EARLY_KEY_SECONDS - 0.01)
        assert (session.decision(first), session.journal.ledger.decisions) == (None, {})
        await typed_at(pilot, "a", opened + EARLY_KEY_SECONDS + QUIET_AFTER_EARLY_KEY_SECONDS)
    assert session.decision(first) == Decision(choice=Choice.APPROVE)


@pytest.mark.thorough
async def test_a_question_mark_in_a_text_is_a_letter(session: Session) -> None:
    async with running(session) as pilot:
        await keys(pilot, "enter", "e", "question_mark", "enter")
    assert session.decision(session.requests[0]) == Decision(choice=Choice.APPROVE, text="?")


@pytest.mark.thorough
async def test_a_session_that_continues_says_what_it_kept(tmp_path: Path) -> None:
    requests = [asked("ICX-LAW-1", view())]
    for expected in ([], ["continued: 1 decision kept"]):
        with open_journal(Settings(state_dir=tmp_path), "b", "alice", {requests[0].key}) as journal:
            session = Session(
                title="batch b", approver="alice", requests=requests, before=False, journal=journal,
                build=lambda _: view(),
            )  # fmt: skip
            async with running(session) as pilot:
                assert [message[:26] for message in told(pilot)] == expected
                assert all(message in printed(pilot) for message in expected)
            session.decide(requests[0], Decision(choice=Choice.SKIP, text="later"))


async def test_nothing_is_approved_before_it_was_opened(session: Session) -> None:
    async with running(session) as pilot:
        await keys(pilot, "a")
        assert session.decision(session.requests[0]) is None
        assert told(pilot) == ["ICX-LAW-1: open it first, with Enter"]
        await keys(pilot, "s")
        await typed(pilot, "later")
        assert session.decision(session.requests[0]) == Decision(choice=Choice.SKIP, text="later")


@pytest.mark.parametrize("size", SIZES)
async def test_the_reader_shows_findings_first_then_tree_text_and_source(
    session: Session, size: tuple[int, int]
) -> None:
    async with running(session, size) as pilot:
        await keys(pilot, "enter")
        assert isinstance(pilot.app.screen, RequestReader)
        assert "red line 20" in printed(pilot)
        await keys(pilot, "3", "down", "down")
        assert "Article 1. Scope" in printed(pilot)
        assert "ACT-1/CHAPTER-I/ARTICLE-1" in printed(pilot).replace("\n", "")
        assert "This Act is about bridges" in printed(pilot)
        await keys(pilot, "4")
        source = pilot.app.screen.query_one("#lines", TextArea)
        assert source.selected_text.startswith("### Article 1. Scope")
        await keys(pilot, "5")
        assert "(recomputed here)" in printed(pilot)


LONG_TITLE = "Competences of the authority that is responsible for the bridges of the harbour and of the river"
SWALLOWED = (
    "# An Act\n\n## Chapter I General\n\n"
    f"### Article 1. {LONG_TITLE}\n\nText.\n\n{'word ' * 1234}\n\nThe lamp\nburns.\n\n"
    "Article 2. Scope\n\nText.\n\n" + "".join(f"### Article {n}. Lamp\n\nText.\n\n" for n in range(3, 50))
)
"""A law whose second article is text of the first one, in the middle of its lines. Its tree has a scroll bar."""


@pytest.mark.parametrize("size", [*SIZES, (60, 20)])
@pytest.mark.thorough
async def test_the_tree_shortens_titles_and_never_the_number_of_words(session: Session, size: tuple[int, int]) -> None:
    shown = view(SWALLOWED, Options(accept={"heading_absorbed:ACT-1/CHAPTER-I/ARTICLE-1": "read"}))
    session.build = lambda _: shown
    async with running(session, size) as pilot:
        await keys(pilot, "enter")
        width = pilot.app.screen.query_one("#tree").scrollable_content_region.width
        rows = [row[:width] for row in printed(pilot).splitlines()]
        assert [row for row in rows if row.startswith("├ Article ") and row.endswith(f"… {shown.units[2].words} words")]
        assert next(row for row in rows[2:] if "An Act" in row).endswith(" 2 words")


@pytest.mark.thorough
async def test_a_finding_leads_to_its_line_in_the_source(session: Session) -> None:
    """One Tab leads from the tree to the findings, and Enter to the line, also when it is in the middle of a unit."""
    shown = view(SWALLOWED, Options(accept={"heading_absorbed:ACT-1/CHAPTER-I/ARTICLE-1": "read"}))
    session.build = lambda _: shown
    async with running(session) as pilot:
        await keys(pilot, "enter", "tab", "enter")
        await pilot.pause()
        await pilot.pause()
        source = pilot.app.screen.query_one("#lines", TextArea)
        assert source.selected_text == "Article 2. Scope"
        assert source.has_focus
        assert "Article 2. Scope" in printed(pilot)
        await keys(pilot, "1")
        assert pilot.app.screen.query_one("#finding-list").has_focus


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.thorough
async def test_paging_shows_every_line_whatever_has_the_focus(session: Session, size: tuple[int, int]) -> None:
    articles = "".join(f"## Article {n}. Duty\n\nThe board keeps register {n}.\n\n" for n in range(1, 31))
    long = view(f"# An Act\n\n{articles}", Options())
    session.build = lambda _: long
    async with running(session, size) as pilot:
        await keys(pilot, "enter", "4")
        text = printed(pilot)
        for _ in range(len(long.lines)):
            await keys(pilot, "space")
            text += printed(pilot)
            if "register 30." in text:
                break
        assert [n for n in range(1, 31) if f"keeps register {n}." not in text or f"Article {n}. Duty" not in text] == []


@pytest.mark.thorough
async def test_search_finds_text_and_goes_on(session: Session) -> None:
    async with running(session) as pilot:
        await keys(pilot, "enter", "slash")
        await typed(pilot, "the lamp")
        assert told(pilot)[-1].startswith("1 of 1 with 'the lamp'")
        assert "ARTICLE-2~2" in printed(pilot)
        await keys(pilot, "slash", "ctrl+u")
        await typed(pilot, "articl")
        await keys(pilot, "n", "n", "N")
        assert told(pilot)[-1].startswith("2 of 3 with 'articl'")
        await keys(pilot, "slash", "ctrl+u")
        await typed(pilot, "tunnel")
        assert told(pilot)[-1] == "no unit has 'tunnel'"
        await keys(pilot, "down")
        assert told(pilot) == [], "the next key takes the message away"


@pytest.mark.thorough
async def test_search_jumps_to_the_line_and_marks_it(session: Session) -> None:
    lines = "".join(f"Line {number} of many.\n\n" for number in range(1, 60))
    shown = view(f"# An Act\n\n## Article 1. Rule\n\n{lines}The lamp burns.\n\nNo lamp is lit.\n", Options())
    session.build = lambda _: shown
    async with running(session) as pilot:
        await keys(pilot, "enter", "slash")
        await typed(pilot, "LAMP")
        await pilot.pause()
        body = pilot.app.screen.query_one("#body", TextArea)
        assert (told(pilot)[-1][:6], body.selected_text) == ("1 of 2", "The lamp burns.")
        assert "The lamp burns." in printed(pilot)
        await keys(pilot, "n")
        await pilot.pause()
        assert (told(pilot)[-1][:6], body.selected_text) == ("2 of 2", "No lamp is lit.")
        assert "No lamp is lit." in printed(pilot)


@pytest.mark.thorough
async def test_each_decision_leads_to_the_next_request_and_the_last_one_to_the_list(session: Session) -> None:
    async with running(session) as pilot:
        await keys(pilot, "enter", "a")
        assert "2 of 4 · ICX-LAW-2" in printed(pilot)
        await keys(pilot, "e")
        await typed(pilot, "read twice")
        await keys(pilot, "r")
        await typed(pilot, "article 2 is wrong")
        await keys(pilot, "s")
        await keys(pilot, "enter")
        assert "type a text" in printed(pilot)
        await typed(pilot, "tomorrow")
        assert isinstance(pilot.app.screen, RequestList)
        assert "2 to approve · 1 to reject · 1 skipped" in printed(pilot).replace("\n", "")
        assert "press f to see the last page and sign" in printed(pilot)
        await keys(pilot, "f")
        text = " ".join(printed(pilot).split())
        assert "2 approvals to sign" in text
        assert "read twice" in text
        assert "1 rejection to sign" in text
        assert "undecided" not in text
        await keys(pilot, "y")
    assert pilot.app.return_value is True
    choices = [decision.choice for decision in session.journal.ledger.decisions.values()]
    assert choices == [Choice.APPROVE, Choice.APPROVE, Choice.REJECT, Choice.SKIP]


async def typed_at(pilot: Pilot[bool], key: str, moment: float) -> None:
    """A key that the terminal read at that moment."""
    event = events.Key(key, key if len(key) == 1 else None)
    event.time = moment
    pilot.app.post_message(event)
    await open_page(pilot)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every message of the session, also those that have left the screen."""
    messages: list[str] = []
    monkeypatch.setattr(SigningApp, "notify", lambda _, message, **__: messages.append(message) if message else None)
    return messages


async def test_a_decision_typed_before_the_page_can_be_seen_is_ignored(session: Session, said: list[str]) -> None:
    opened, first, second = 1000.0, *session.requests[:2]
    async with running(session, pages_open_at=opened) as pilot:
        await typed_at(pilot, "enter", opened)
        for key in "asreu":
            await typed_at(pilot, key, opened + EARLY_KEY_SECONDS - 0.01)
            assert said[-1] == f"{key} came before this page was open: wait a second and press it again"
        assert (session.decision(first), type(pilot.app.screen)) == (None, RequestReader)
        await typed_at(pilot, "a", opened + EARLY_KEY_SECONDS + QUIET_AFTER_EARLY_KEY_SECONDS)
        assert session.decision(first) == Decision(choice=Choice.APPROVE)
        assert "2 of 4 · ICX-LAW-2" in printed(pilot)
        await typed_at(pilot, "a", opened - 1)
        assert session.decision(second) is None


@pytest.mark.thorough
async def test_a_decision_counts_as_soon_as_its_page_was_open_for_a_moment(session: Session) -> None:
    opened, first = 1000.0, session.requests[0]
    async with running(session, pages_open_at=opened) as pilot:
        await typed_at(pilot, "enter", opened)
        await typed_at(pilot, "a", opened + EARLY_KEY_SECONDS)
    assert session.decision(first) == Decision(choice=Choice.APPROVE)


async def test_a_text_typed_for_a_dialog_that_did_not_open_decides_nothing(session: Session, said: list[str]) -> None:
    """The key for the dialog came too early, and the text has letters that decide."""
    opened, first = 1000.0, session.requests[0]
    async with running(session, pages_open_at=opened) as pilot:
        await typed_at(pilot, "enter", opened)
        moment = opened + EARLY_KEY_SECONDS - 0.01
        for number, key in enumerate("sWait a year"):
            await typed_at(pilot, {" ": "space"}.get(key, key), moment + 0.9 * number)
        assert (session.decision(first), type(pilot.app.screen)) == (None, RequestReader)
        assert said[-1] == "r came before this page was open: wait a second and press it again"
        await typed_at(pilot, "a", moment + 0.9 * number + QUIET_AFTER_EARLY_KEY_SECONDS)
    assert session.decision(first) == Decision(choice=Choice.APPROVE)


@pytest.mark.thorough
async def test_the_message_about_an_early_key_leaves_by_itself(session: Session) -> None:
    opened = 1000.0
    async with running(session, pages_open_at=opened) as pilot:
        await typed_at(pilot, "enter", opened)
        await typed_at(pilot, "a", opened)
        assert told(pilot) == ["a came before this page was open: wait a second and press it again"]
        await pilot.pause(1.5)
        assert (told(pilot), "press it again" in printed(pilot)) == ([], False)


async def test_two_keys_typed_at_once_decide_about_one_request(session: Session) -> None:
    async with running(session) as pilot:
        await keys(pilot, "enter")
        for _ in range(2):
            pilot.app.post_message(events.Key("a", "a"))
        pilot.app._clock = lambda: math.inf  # type: ignore[attr-defined]
        await pilot.pause()
        await pilot.pause()
        assert [session.decision(request) is None for request in session.requests[:2]] == [False, True]


async def test_a_dialog_and_the_last_page_ignore_an_early_answer(session: Session, said: list[str]) -> None:
    opened, first = 1000.0, session.requests[0]
    async with running(session, pages_open_at=opened) as pilot:
        for key in ("enter", "e"):
            await typed_at(pilot, key, opened + 1)
        await typed_at(pilot, "enter", opened)
        assert said[-1] == "Enter came before this page was open: wait a second and press it again"
        assert session.decision(first) is None
        await typed_at(pilot, "x", opened)
        await typed_at(pilot, "enter", opened + 1)
        assert session.decision(first) == Decision(choice=Choice.APPROVE, text="x"), "letters are not lost"
        for key in ("escape", "f"):
            await typed_at(pilot, key, opened + 1)
        await typed_at(pilot, "y", opened)
        assert (type(pilot.app.screen), pilot.app.return_value) == (LastPage, None)
        assert said[-1] == "y came before this page was open: wait a second and press it again"
        pilot.app.post_message(events.Key("y", "y"))
    assert pilot.app.return_value is True


@pytest.mark.thorough
async def test_a_decision_can_be_taken_back_and_nothing_is_signed_without_one(session: Session) -> None:
    async with running(session) as pilot:
        await keys(pilot, "enter", "a", "escape", "home", "u", "f", "y")
        assert isinstance(pilot.app.screen, LastPage)
        assert told(pilot)[-1] == "nothing to sign yet"
        await keys(pilot, "escape", "ctrl+c")
    assert pilot.app.return_value is None
    assert session.journal.ledger.decisions == {}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.thorough
async def test_the_last_page_says_how_a_decision_is_taken_back(session: Session, size: tuple[int, int]) -> None:
    async with running(session, size) as pilot:
        await keys(pilot, "f")
        assert "takes a decision back" not in printed(pilot)
        await keys(pilot, "escape", "enter", "a", "escape", "f")
        assert "Press y to sign, Escape to go back." in printed(pilot)
        assert "In the list, u takes a decision back." in printed(pilot)


async def test_a_request_that_this_machine_computes_otherwise_is_refused(session: Session) -> None:
    def refuses(_: Asked) -> RequestView:
        raise Refused("recomputed here the writer_digest is 1, not 2: do not sign", code="writer_digest_differs")

    session.build = refuses
    session.journal.record(Opened(request=session.requests[0].key))
    async with running(session, SIZES[1]) as pilot:
        await keys(pilot, "enter")
        assert isinstance(pilot.app.screen, RequestList)
        assert "do not sign" in told(pilot)[-1]
        await keys(pilot, "a", "r")
        assert session.journal.ledger.decisions == {}


def test_a_decision_about_what_has_changed_since_is_not_signed(session: Session, tmp_path: Path) -> None:
    def refuses(_: Asked) -> RequestView:
        raise Refused("recomputed here the writer_digest is 1, not 2: do not sign", code="writer_digest_differs")

    session.decide(session.requests[0], Decision(choice=Choice.APPROVE))
    session.build = refuses
    signer = Signing(approver="alice", fingerprint="0" * 40, home=tmp_path)
    signatures = Signatures(settings=Settings(state_dir=tmp_path), batch_id="b", signer=signer)
    signing_session.sign(signatures, session, checked=False)
    assert session.left_out()[0].startswith("ICX-LAW-1 (recomputed here the writer_digest")
    assert session.journal.ledger.signed == {}


@pytest.mark.thorough
def test_after_the_first_signature_the_summary_names_the_time_of_the_second() -> None:
    text = signing_session.second_signature(24 * 3600, datetime(2026, 11, 23, 9, tzinfo=UTC))
    assert text == "open for 24 hours after its request: sign before 2026-11-24 09:00:00Z"


def alone(session: Session) -> Asked:
    """Leave the session with one request, as `cutter approve DOCUMENT` has it."""
    session.requests = session.requests[:1]
    return session.requests[0]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.thorough
async def test_one_request_opens_in_the_reader_with_its_title_first(session: Session, size: tuple[int, int]) -> None:
    request = alone(session)
    async with running(session, size) as pilot:
        rows = printed(pilot).splitlines()
        assert isinstance(pilot.app.screen, RequestReader)
        assert (rows[0].strip(), "1 of 1" in rows[1]) == ("An Act", False)
        assert f"{request.name} · SG_cut_authz · opened" in rows[1]
        assert "red line 20" in printed(pilot)
        await keys(pilot, "a")
        assert isinstance(pilot.app.screen, LastPage)
        await keys(pilot, "escape")
        assert isinstance(pilot.app.screen, RequestReader)
        await keys(pilot, "a", "y")
    assert (pilot.app.return_value, session.decision(request)) == (True, Decision(choice=Choice.APPROVE))


@pytest.mark.thorough
async def test_one_request_is_left_without_a_decision_or_with_a_skip(session: Session) -> None:
    request = alone(session)
    async with running(session) as pilot:
        await keys(pilot, "escape")
    assert (pilot.app.return_value, session.decision(request)) == (None, None)
    async with running(session) as pilot:
        await keys(pilot, "s")
        await typed(pilot, "ask the author")
    assert (pilot.app.return_value, session.left_out()) == (None, ["ICX-LAW-1 (skipped: ask the author)"])


@pytest.mark.thorough
async def test_one_request_that_this_machine_computes_otherwise_opens_no_screen(session: Session) -> None:
    def refuses(_: Asked) -> RequestView:
        raise Refused("recomputed here the writer_digest is 1, not 2: do not sign", code="writer_digest_differs")

    request, session.build = alone(session), refuses
    assert await SigningApp(session).run_async(headless=True) is None
    assert "do not sign" in str(session.refused[request.key])


async def test_a_revision_opens_with_what_changes(session: Session) -> None:
    session.build = lambda _: replace(view(), revision=REVISION, effective_from="2026-12-01")
    async with running(session, SIZES[1]) as pilot:
        await keys(pilot, "enter")
        assert "this changes in the law in force on 2026-12-01" in printed(pilot)


@pytest.mark.thorough
async def test_who_approves_a_repeal_types_the_document_id(session: Session) -> None:
    first, *others = session.requests
    session.requests = (repeal := replace(first, document=replace(first.document, operation="repeal")), *others)
    async with running(session) as pilot:
        await keys(pilot, "enter", "a")
        assert f"This ends a whole law. Type {first.name} to approve it:" in printed(pilot)
        await typed(pilot, "y")
        assert session.decision(repeal) is None
        await keys(pilot, "a")
        await typed(pilot, first.name)
        assert session.decision(repeal) == Decision(choice=Choice.APPROVE)


async def looked(pilot: Pilot[bool]) -> None:
    """The session looks once more which requests still wait."""
    pilot.app.look()  # type: ignore[attr-defined]
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_an_open_session_notices_what_was_signed_or_withdrawn_elsewhere(session: Session) -> None:
    first, second, third, _ = session.requests
    gone: dict[str, str] = {}
    session.look = lambda: dict(gone)
    async with running(session, SIZES[1]) as pilot:
        await keys(pilot, "enter", "a")
        gone[first.key], gone[second.key] = "you signed it elsewhere", "rejected at SG_1 by bob: article 2"
        await looked(pilot)
        assert isinstance(pilot.app.screen, RequestReader)
        assert told(pilot) == ["ICX-LAW-1 no longer waits: you signed it elsewhere, and 1 more"]
        assert "gone: rejected at SG_1 by bob: article 2" in printed(pilot)
        await keys(pilot, "a")
        assert told(pilot) == ["ICX-LAW-2: rejected at SG_1 by bob: article 2"]
        assert session.decision(second) is None
        await keys(pilot, "escape")
        rows = printed(pilot).splitlines()
        assert [row.split()[0] for row in rows if "ICX-LAW-" in row] == ["gone", "gone", "new", "new"]
        await keys(pilot, "f")
        text = printed(pilot)
        assert "Nothing to sign yet" in text
        assert text.index("no longer waiting, these are not signed") < text.index("ICX-LAW-1, An Act (")
        gone.clear()
        await looked(pilot)
        assert "1 approval to sign" in printed(pilot), "a stopped run that continues asks again"
    assert session.undecided() == [second, third, session.requests[3]]


def test_what_was_signed_elsewhere_a_moment_ago_is_not_signed_again(session: Session, tmp_path: Path) -> None:
    session.decide(session.requests[0], Decision(choice=Choice.APPROVE))
    session.look = lambda: {session.requests[0].key: "you signed it elsewhere"}
    signer = Signing(approver="alice", fingerprint="0" * 40, home=tmp_path)
    signatures = Signatures(settings=Settings(state_dir=tmp_path), batch_id="b", signer=signer)
    signing_session.sign(signatures, session, checked=False)
    assert session.left_out()[0] == "ICX-LAW-1 (you signed it elsewhere)"
    assert session.journal.ledger.signed == {}


@pytest.mark.thorough
async def test_a_session_goes_on_while_the_database_does_not_answer(session: Session) -> None:
    def away() -> dict[str, str]:
        raise Unavailable("no answer", what="postgres")

    session.look = away
    async with running(session) as pilot:
        await looked(pilot)
        await keys(pilot, "enter", "a")
        assert session.decision(session.requests[0]) is not None


@pytest.mark.thorough
async def test_a_refusal_hides_nothing_of_what_it_quotes(session: Session) -> None:
    text = "".join(TERMINAL.values())

    def refuses(_: Asked) -> RequestView:
        raise Refused(f"the request says {text}", code="request_altered")

    session.build = refuses
    session.journal.record(Opened(request=session.requests[0].key))
    async with running(session, SIZES[1]) as pilot:
        for key in ("enter", "a"):
            await keys(pilot, key)
            assert [leaks(message) for message in told(pilot)] == [[]], "one message at a time"
            assert leaks(printed(pilot)) == []


@pytest.mark.thorough
async def test_the_second_signature_shows_what_is_stored(session: Session) -> None:
    session.build = lambda _: written_view()
    async with running(session, SIZES[1]) as pilot:
        await keys(pilot, "enter", "3")
        assert "stored as planned" in printed(pilot)


@pytest.mark.thorough
async def test_the_list_can_be_filtered(session: Session) -> None:
    async with running(session) as pilot:
        await keys(pilot, "slash")
        await typed(pilot, "law-3")
        rows = pilot.app.screen.query_one(DataTable)
        assert rows.row_count == 1
        await keys(pilot, "enter")
        assert "3 of 4 · ICX-LAW-3" in printed(pilot)


@pytest.mark.parametrize("note", ["a\u202eb", "x" * 501], ids=["hidden", "long"])
@pytest.mark.thorough
async def test_a_note_that_no_statement_takes_is_refused_in_place(session: Session, note: str) -> None:
    async with running(session) as pilot:
        await keys(pilot, "enter", "e")
        pilot.app.screen.query_one("#answer").value = note  # type: ignore[attr-defined]
        await keys(pilot, "enter")
        problem = pilot.app.screen.query_one("#problem", Static)
        assert any(part in str(problem.render()) for part in ("U+202E", "at most 500"))
    assert session.journal.ledger.decisions == {}


async def test_no_text_of_others_hides_or_is_taken_for_markup(session: Session) -> None:
    hostile = view_of_all(STRINGS.values())
    session.build = lambda _: hostile
    async with running(session, (160, 6 * len(STRINGS))) as pilot:
        await keys(pilot, "enter")
        for tab in ("unit", "source", "facts", "change", "findings"):
            pilot.app.screen.action_tab(tab)  # type: ignore[attr-defined]
            await pilot.pause()
            assert leaks(printed(pilot)) == [], tab
        # As the title of a unit and in the message of a finding.
        assert printed(pilot).count("[bold red]red[/]") >= 2


def view_of_all(texts: Iterable[str]) -> RequestView:
    """One law with a unit, a line of the source and a finding for each of these texts."""
    views = [hostile_view(text) for text in texts]
    lines = [request_view.data.replace(b"\n", b" ") for request_view in views]
    begins = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    units = [
        replace(
            request_view.units[0], address=f"ACT-1/ARTICLE-{number}", parent_address=None, start=begin,
            end=begin + len(line), first_line=number, line=number, last_line=number, findings=(number - 1,),
        )
        for number, (request_view, line, begin) in enumerate(zip(views, lines, begins, strict=True), start=1)
    ]  # fmt: skip
    findings = [
        replace(request_view.findings[0], address=unit.address) for request_view, unit in zip(views, units, strict=True)
    ]
    return replace(views[0], data=b"\n".join(lines), units=tuple(units), findings=tuple(findings))
