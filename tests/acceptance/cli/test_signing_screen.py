"""A signing session on a real terminal: read, decided, killed half-way, continued, signed and handed over."""

from __future__ import annotations

import asyncio
import html
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from cutter.domain.next_step import THEN
from cutter.storage import runs as run_rows
from starter.approver import orders, signing_desk
from starter.console.terminal import ExitCode
from tests.acceptance.cli.conftest import NOBODY, ROOT, Cutter
from tests.cases.printed_batches import until_put
from tests.support import batch as support
from tests.support.signatures import sign_answer
from tests.support.stack import DOCUMENT, Run, Stack
from tests.support.terminal import Terminal, terminal

SIZES = [(80, 24), (120, 40)]
NAMES = [f"ICX-SCREEN-{number}" for number in range(1, 6)]
ENTER, ESCAPE = "\r", "\x1b"
IGNORED = "press it again"
"""A page that has only just opened says so about a key that decides."""


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
async def test_a_killed_session_continues_and_signs_what_was_decided(
    stack: Stack, cutter: Cutter, size: tuple[int, int]
) -> None:
    async with stack.workers():
        items = support.small_laws(stack, len(NAMES))
        names = [item["document_id"] for item in items]
        batch = await support.start(stack, items)
        await batch.until_state("batch_awaiting_cut_authz_set")
        await until_put(stack, batch.batch_id)

        await asyncio.to_thread(decide_two_and_die, stack, cutter, batch.batch_id, size)
        assert statements(stack, batch.batch_id) == []

        code, output = await asyncio.to_thread(decide_the_rest_and_sign, stack, cutter, batch.batch_id, size)
        assert code == ExitCode.UNAVAILABLE, output
        signed = statements(stack, batch.batch_id)
        assert ["compared with the gazette" in text for text in signed] == [True, False]

        code, output = await asyncio.to_thread(hand_over, stack, cutter, batch.batch_id, size)
        assert code == 0, output
        assert statements(stack, batch.batch_id) == signed, "nothing was signed twice"
        for name in names[:2]:
            await batch.until_stage(name, "at_sg2")
        assert batch.outcomes(await batch.view()) == {
            names[0]: "at_sg2",
            names[1]: "at_sg2",
            names[2]: "failed",
            names[3]: "at_sg1",
            names[4]: "at_sg1",
        }
        shown = await cutter("status", batch.batch_id)
        assert f"{names[2]} was rejected at SG_1 by alice: article 2 is missing" in shown.out
        summary = " ".join(output.split())
        for sentence in (
            "approvals 2",
            "rejections 1",
            "SG_2 open for",
            "sign before",
            f"cutter approve --batch {batch.batch_id}",
        ):
            assert sentence in summary
        await the_rejection_is_explained_everywhere(cutter, batch.batch_id, names[2])


REASON = "rejected at SG_1 by alice: article 2 is missing"


async def the_rejection_is_explained_everywhere(cutter: Cutter, batch_id: str, name: str) -> None:
    """Each view has the signed reason, and the same commands, none of which voids a run without drafts."""
    shown = (await cutter("status", name, "--json")).json
    assert shown["reason"] == REASON
    commands = shown["next"].split(THEN)
    assert [command.split()[1] for command in commands] == ["source", "approve"]
    document = next(
        document for document in (await cutter("status", batch_id, "--json")).json["documents"] if document["rejected"]
    )
    waiting = (await cutter("queues", "--batch", batch_id, "--json")).json["waiting"]
    queued = next(item for item in waiting if item["document_id"] == name)
    assert (document["commands"], queued["commands"], queued["reason"]) == (commands, commands, REASON)
    files = [(await cutter("report", each, "--json")).json["file"] for each in (batch_id, name)]
    over = "This request is over: rejected at SG_1 by alice: article 2 is missing. Nothing waits for an answer."
    page = (await cutter("request", name, "--json")).json["file"]
    for file, text in ((files[0], REASON), (files[1], REASON), (page, over)):
        assert text in Path(file).read_text(encoding="utf-8")
    for file in files:
        assert all(html.escape(command) in Path(file).read_text(encoding="utf-8") for command in commands)
    markdown = (await cutter("request", name, "--form", "md")).out
    assert markdown.startswith("> **This request is over")


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
async def test_one_request_has_the_reader_of_a_session(stack: Stack, cutter: Cutter, size: tuple[int, int]) -> None:
    """SG_1 is read, left with a skip, noticed as signed elsewhere; SG_2 is rejected."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested("SG_cut_authz")
        code, output = await asyncio.to_thread(skip_it, stack, cutter, size)
        assert (code, "1 decision kept" in output) == (ExitCode.STOPPED, True), output
        code, output = await asyncio.to_thread(notice_and_leave, stack, cutter, run, size)
        assert (code, "it has all its signatures" in " ".join(output.split())) == (ExitCode.STOPPED, True), output
        await run.until_requested("SG_lifecycle_authz")
        code, output = await asyncio.to_thread(sign_it, stack, cutter, size)
        assert (code, "accepted" in output) == (0, True), output
        assert (await run.result()).state == "closeout_reported"


def skip_it(stack: Stack, cutter: Cutter, size: tuple[int, int]) -> tuple[int, str]:
    with reading(stack, cutter, size) as screen:
        title = screen.until(f"{DOCUMENT} · SG_cut_authz · opened").splitlines()[0]
        assert title.strip() == "Public Reading Rooms Act"
        screen.press("s", "Why do you skip it?", again=IGNORED)
        screen.type("ask the author")
        screen.until("ask the author")
        screen.press(ENTER, None, again=IGNORED)
        return screen.until_over(), screen.shown


def notice_and_leave(stack: Stack, cutter: Cutter, run: Run, size: tuple[int, int]) -> tuple[int, str]:
    """Keep the reader open while bob signs."""
    with reading(stack, cutter, size) as screen:
        screen.until("skip: ask the author")
        kb_id = signing_desk.open_request(stack.settings, run.run_id)
        name = sign_answer(stack.settings, stack.kit.bob, run.run_id, kb_id)
        orders.hand_over(stack.settings, run_rows.sidecar(stack.settings, run.run_id).run, name)
        screen.until(f"{DOCUMENT} no longer waits: it has all its signatures")
        screen.until("gone: it has all its signatures")
        screen.press("a", "it has all its signatures", again=IGNORED)
        screen.type(ESCAPE)
        return screen.until_over(), screen.shown


def sign_it(stack: Stack, cutter: Cutter, size: tuple[int, int]) -> tuple[int, str]:
    with reading(stack, cutter, size) as screen:
        screen.until(f"{DOCUMENT} · SG_lifecycle_authz · opened")
        screen.press("a", "1 approval to sign", again=IGNORED)
        screen.press("y", None, again=IGNORED)
        return screen.until_over(), screen.shown


@contextmanager
def reading(stack: Stack, cutter: Cutter, size: tuple[int, int]) -> Iterator[Terminal]:
    with signing(stack, cutter, (DOCUMENT,), size) as screen:
        yield screen


def decide_two_and_die(stack: Stack, cutter: Cutter, batch_id: str, size: tuple[int, int]) -> None:
    """Open and approve two of five, the first with a note; then the program is killed."""
    with signing(stack, cutter, ("--batch", batch_id), size) as screen:
        screen.until("0 of 5 opened")
        screen.type(ENTER)
        screen.until("1 of 5 · ")
        screen.press("e", "Approve with this note", again=IGNORED)
        answer(screen, "compared with the gazette", "2 of 5 · ")
        screen.press("a", "2 to approve", again=IGNORED)
        screen.kill()


def decide_the_rest_and_sign(stack: Stack, cutter: Cutter, batch_id: str, size: tuple[int, int]) -> tuple[int, str]:
    """Reject the third, skip the fourth, leave the fifth; then sign while Temporal is away. Exit code and screen."""
    with signing(stack, cutter, ("--batch", batch_id), size, CUTTER_TEMPORAL_ADDRESS=NOBODY) as screen:
        screen.until("continued: 2 decisions kept")
        screen.until("3 of 5 opened · 2 to approve")
        screen.type(ENTER)
        screen.until("3 of 5 · ")
        screen.press("r", "Why do you reject it?", again=IGNORED)
        answer(screen, "article 2 is missing", "4 of 5 · ")
        screen.press("s", "Why do you skip it?", again=IGNORED)
        answer(screen, "ask the author", "5 of 5 · ")
        screen.type(ESCAPE)
        screen.until_gone("5 of 5 · ")
        screen.type("f")
        screen.until("2 approvals to sign")
        screen.press("y", None, again=IGNORED)
        return screen.until_over(), screen.shown


def hand_over(stack: Stack, cutter: Cutter, batch_id: str, size: tuple[int, int]) -> tuple[int, str]:
    """Only hand over what the session before has signed. Exit code and screen."""
    with signing(stack, cutter, ("--batch", batch_id), size) as screen:
        screen.until("· 3 signed")
        screen.type("f")
        screen.until("3 requests signed before, to hand over")
        screen.press("y", None, again=IGNORED)
        return screen.until_over(), screen.shown


def answer(screen: Terminal, text: str, next_page: str) -> None:
    """Type a text into the open dialog and close the dialog with Enter."""
    screen.type(text)
    screen.until(text)
    screen.press(ENTER, next_page, again=IGNORED)


@contextmanager
def signing(
    stack: Stack, cutter: Cutter, what: Sequence[str], size: tuple[int, int], **changed: str
) -> Iterator[Terminal]:
    home = str(stack.kit.alice.home)
    command = [sys.executable, "-m", "starter.cli", "approve", *what, "--approver", "alice"]
    with terminal(
        [*command, "--gpg-home", home], cutter.environment(changed), columns=size[0], lines=size[1], cwd=ROOT
    ) as screen:
        yield screen


def statements(stack: Stack, batch_id: str) -> list[str]:
    """The signed statements of the batch's sessions, in the order of their documents."""
    folder = stack.settings.state / "kb"
    paths = sorted(path for path in folder.rglob("*.md") if "/session-" in str(path) and batch_id in str(path))
    return [path.read_text() for path in paths if path.with_name(f"{path.name}.asc").exists()]
