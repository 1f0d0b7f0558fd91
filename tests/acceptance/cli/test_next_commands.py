"""Every printed command is typed in the state in which it was printed; `make nightly` and P31 have more states."""

from __future__ import annotations

import pytest

from tests.acceptance.cli.conftest import Cutter
from tests.cases import printed_states as states
from tests.cases.printed_batches import batch_at_the_cut, batch_of
from tests.cases.printed_commands import UNREACHED, WORKS, control, play
from tests.cases.printed_states import Builder, World
from tests.support.stack import Stack

HERE: tuple[Builder, ...] = (states.waiting_at_the_cut, states.enacted)


@pytest.mark.parametrize("builder", HERE, ids=lambda builder: builder.__name__)
async def test_every_printed_command_leads_on_in_its_state(stack: Stack, builder: Builder) -> None:
    rows = await play(stack, [builder])
    print(f"{builder.__name__}: {len(rows)} commands run, {len({row['command'] for row in rows})} distinct")
    assert [row for row in rows if row["verdict"] != WORKS] == []
    assert rows, "nothing was printed"


async def test_a_command_that_leads_back_to_itself_is_found_out(stack: Stack) -> None:
    rows = await control(stack)
    assert [row["command"] for row in rows if row["verdict"] == WORKS] == []
    assert len(rows) >= 5


async def test_a_state_that_leaves_its_deployment_changed_is_found_out(stack: Stack) -> None:
    async def careless(stack: Stack, cutter: Cutter) -> World:
        stack.database.run("alter table public.unit_version add column by_the_owner integer")
        return await states.registered(stack, cutter)

    rows = await play(stack, [careless])
    reasons = {row["said"] for row in rows if row["verdict"] == UNREACHED}
    assert reasons == {"AssertionError: left behind: other definitions than the migrated ones"}


async def test_a_session_keeps_what_was_signed_and_says_where_it_was_left(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        world = await batch_at_the_cut(stack, cutter)
        sign = ("approve", "--batch", world.batch, "--approver", "alice", "--gpg-home", str(stack.kit.alice.home))
        answer = await cutter(*sign, typed="perhaps\ny\n")
        assert answer.code == 0, answer.err
        assert "1 of 2: approve" in answer.err
        assert "2 of 2: approve" in answer.err
        assert "answer y to sign, n (or Enter) to leave it; Ctrl-C stops" in answer.err
        assert "Error:" not in answer.err
        assert "stopped at 2 of 2: 1 document to sign, the others wait" in answer.err
        assert "(not asked)" in answer.out
        rest = await cutter(*sign, "--json", typed="y\n")
        assert (rest.code, rest.json["signed"]) == (0, 1)
        await batch_of(world).until_state("batch_awaiting_lifecycle_authz_set")
        left = await cutter(*sign, typed="n\n\n")
        assert (left.code, f"`cutter approve --batch {world.batch}` asks again" in left.err) == (4, True)
