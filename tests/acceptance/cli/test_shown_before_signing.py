"""Every command that signs shows first what it signs, and asks. The sources say which commands these are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from starter.approver import signing_desk
from starter.approver.session import Choice, Decided, open_journal
from starter.approver.session_requests import asked_of
from tests.acceptance.cli.conftest import Cutter
from tests.cases.printed_batches import batch_at_the_cut, batch_failed_partial
from tests.cases.printed_mistakes import with_a_proposed_epoch
from tests.cases.printed_states import Builder, World, left_behind, stopped_before_the_write, waiting_at_the_cut
from tests.cases.printed_stops import drift_of_tables, waiting_for_the_lane
from tests.cases.signing_commands import signing_commands, signing_places
from tests.support.stack import Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """How a command that signs is typed, where the code signs, and what a person must see before the question."""

    command: str
    place: str
    state: Builder
    words: Callable[[World], tuple[str, ...]]
    shown: Callable[[World], tuple[str, ...]]


def approval_of(world: World) -> str:
    """sha256 of the newest statement, which the world's state has just signed."""
    paths = [path for path in world.kb.rglob("*.md") if path.with_name(f"{path.name}.asc").exists()]
    newest = max(paths, key=lambda path: path.stat().st_mtime_ns)
    return hashlib.sha256(newest.read_bytes()).hexdigest()


REASON = ("--reason", "because")
SESSION = "approver.session_requests.sign"
CASES = (
    Case(
        command="approve", place=SESSION, state=waiting_at_the_cut, words=lambda world: ("approve", world.document),
        shown=lambda world: ("Act ", world.document, "writer_digest"),
    ),
    Case(
        command="approve", place=SESSION, state=batch_at_the_cut,
        words=lambda world: ("approve", "--batch", world.batch, "--only", world.document),
        shown=lambda world: ("Act ", world.document, "writer_digest"),
    ),
    Case(
        command="approve", place="commands.approve._resume", state=stopped_before_the_write,
        words=lambda world: ("approve", world.document, "--decision", "resume", *REASON),
        shown=lambda world: (world.document, "stopped_stop", "because"),
    ),
    Case(
        command="approve", place="approver.orders.include", state=batch_failed_partial,
        words=lambda world: ("approve", "--batch", world.batch, "--decision", "include_failed", *REASON),
        shown=lambda world: (world.document, "failed_mark"),
    ),
    Case(
        command="reject", place=SESSION, state=waiting_at_the_cut,
        words=lambda world: ("reject", world.document, *REASON),
        shown=lambda world: ("Act ", world.document, "writer_digest"),
    ),
    Case(
        command="revoke", place="commands.approve.revoke", state=waiting_for_the_lane,
        words=lambda world: ("revoke", world.document, "--approval", approval_of(world), *REASON),
        shown=lambda world: (world.document, approval_of(world), "SG_cut_authz", "alice", "because"),
    ),
    Case(
        command="void", place="commands.stop.void", state=waiting_at_the_cut,
        words=lambda world: ("void", world.document, *REASON),
        shown=lambda world: (world.document, "it wrote no unit", "because"),
    ),
    Case(
        command="approve", place="commands.stop.acknowledge_drift", state=drift_of_tables,
        words=lambda world: ("approve", world.document, "--decision", "acknowledge_drift", *REASON),
        shown=lambda world: (world.document, "unit_version", "fingerprint"),
    ),
    Case(
        command="approvers sign", place="commands.approvers.sign", state=with_a_proposed_epoch,
        words=lambda world: ("approvers", "sign", world.stand_ins["install 2"].split()[1]),
        shown=lambda _: ("which is in force", "difference"),
    ),
    Case(
        command="evidence export", place="commands.evidence.export", state=waiting_at_the_cut,
        words=lambda world: (
            "evidence", "export", world.document, "--sign", world.stack.kit.alice.fingerprint, "-o",
            str(world.stack.settings.state / "evidence.tar"),
        ),
        shown=lambda world: (world.run_id, "its present state", "file_sha256"),
    ),
)  # fmt: skip

APART = {"demo": "commands.demo._sign"}
"""The demo signs with a key that it throws away, and prints each request before that. tests/acceptance/test_demo.py
reads its output.
"""


def test_each_place_that_signs_has_a_case_here() -> None:
    assert signing_commands() == {case.command for case in CASES} | set(APART)
    assert signing_places() == {case.place for case in CASES} | set(APART.values())


def signatures(stack: Stack) -> set[Path]:
    return set(stack.settings.state.rglob("*.asc")) | set(stack.settings.approvers.rglob("*.yaml.*.asc"))


@pytest.fixture
def as_before(stack: Stack) -> Iterator[None]:
    """The deployment is left as it was before a state changed it."""
    yield
    left_behind(stack)


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.command} in {case.state.__name__}")
async def test_a_command_that_signs_shows_first_and_asks(stack: Stack, cutter: Cutter, case: Case) -> None:
    async with stack.workers():
        world = await case.state(stack, cutter)
        words, own = case.words(world), {"GNUPGHOME": str(stack.kit.alice.home)}
        who = () if case.command == "evidence export" else ("--approver", "alice")
        before = signatures(stack)
        for more in ((), ("--json",)):
            for typed in ("", "n\n"):
                left = await cutter(*words, *who, *more, typed=typed, **own)
                page, asked, _ = left.err.partition("[y/N]: ")
                assert (left.code != 0, bool(asked)) == (True, True), left
                assert [text for text in case.shown(world) if text not in page] == []
                assert signatures(stack) == before
        signed = await cutter(*words, *who, typed="y\n", **own)
        assert len(signatures(stack) - before) == 1, signed


@pytest.mark.thorough
async def test_yes_never_overrides_what_a_person_kept_and_a_question_names_it(stack: Stack, cutter: Cutter) -> None:
    """As after a session on the screen that was left with a skip, a rejection and an approval with a note."""
    async with stack.workers():
        world = await batch_at_the_cut(stack, cutter)
        run_id = (await cutter("status", world.document, "--json")).json["run_id"]
        asked = asked_of(stack.settings, run_id, signing_desk.open_request(stack.settings, run_id))

        def keep(choice: Choice, text: str) -> None:
            with open_journal(stack.settings, world.batch, "alice", {asked.key}) as journal:
                journal.record(Decided(request=asked.key, choice=choice, text=text))

        before = signatures(stack)
        for choice, words in ((Choice.SKIP, "you skipped it"), (Choice.REJECT, "you chose to reject it")):
            keep(choice, "ask the author")
            refused = await cutter.signed("approve", world.document)
            assert (refused.code, refused.json["code"]) == (4, "decision_kept")
            assert f"{words}: ask the author, and --yes does not change that: `cutter approve " in refused.err
            plain = await cutter.signed("approve", world.document, typed="n\n")
            assert f"In a session on the screen {words}: ask the author." in plain.err
        assert signatures(stack) == before
        whole = await cutter.signed("approve", "--batch", world.batch)
        (left,) = whole.json["left_out"]
        assert (whole.code, whole.json["signed"]) == (0, 1)
        assert left.startswith(f"{world.document} (you chose to reject it: ask the author, and --yes")
        keep(Choice.APPROVE, "compared with the gazette")
        assert (await cutter.signed("approve", world.document)).json["status"] == "accepted"
        assert any(
            "compared with the gazette" in path.with_suffix("").read_text() for path in signatures(stack) - before
        )
