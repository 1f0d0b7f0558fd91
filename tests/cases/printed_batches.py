"""IO: the states of batches in which the product prints commands; each is made afresh on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import uuid_utils

from cutter.batch import documents
from cutter.catalogue import Role
from cutter.storage.batches import Options
from cutter.storage.pools import connect
from tests.acceptance.cli.conftest import NOBODY, Cutter
from tests.cases.printed_states import DOCUMENTS, POISON, Ask, Builder, World, document
from tests.support import batch as support
from tests.support.batch import Batch
from tests.support.stack import Stack
from tests.support.temporal import until

Fields = dict[str, object]


async def _batch(
    stack: Stack, cutter: Cutter, bodies: Sequence[bytes | None], *options: str,
    fields: Callable[[list[str]], list[Fields]] | None = None, hard_cap_minutes: float | None = None,
) -> World:  # fmt: skip
    """A batch of these texts. `fields` adds to the items of its queue, given the documents' names."""
    members = [await document(stack, cutter, body) for body in bodies]
    names = [member.document for member in members]
    world = members[0]
    world.others = names[1:]
    batch_id = str(uuid_utils.uuid7())
    more = fields(names) if fields else [{} for _ in names]
    items = [{"document_id": name, **rest} for name, rest in zip(names, more, strict=True)]
    world.queue = stack.settings.state / f"{batch_id}.yaml"
    world.queue.write_bytes(support.queue_yaml(items, batch_id))
    world.batch = batch_id
    if hard_cap_minutes is not None:
        await support.start(stack, items, Options(hard_cap_minutes=hard_cap_minutes), batch_id)
    else:
        answer = await cutter("orchestrate", "batch", "--queue", str(world.queue), *options, "--json")
        assert answer.code == 0, answer.out + answer.err
        world.batch = answer.json["batch_id"]
    world.asks = looking_at_a_batch(world, *options)
    return world


def looking_at_a_batch(world: World, *options: str) -> list[Ask]:
    """What people type to see how a batch stands, and what they try without looking."""
    resume = ("orchestrate", "batch", "--queue", str(world.queue))
    return [
        ("status", world.batch), ("status", world.batch, "--json"), ("queues", "--batch", world.batch, "--json"),
        DOCUMENTS, (*resume, *options), (*resume, "--skip-completed", "--resume"), (*resume, "--check"), ("status",),
        ("approve", "--batch", world.batch, "--decision", "include_failed", "--reason", "x"), ("inbox",),
        ("queues", "show", world.document), ("status", world.document), ("run", world.document),
        ("approve", world.document, "--yes"), ("orchestrate", "resume-batch", "--batch-id", world.batch),
    ]  # fmt: skip


def batch_of(world: World) -> Batch:
    handle = world.stack.client.get_workflow_handle(f"batch/{world.batch}")
    return Batch(stack=world.stack, batch_id=world.batch, handle=handle)


async def batch_at_the_cut(stack: Stack, cutter: Cutter) -> World:
    world = await _batch(stack, cutter, [None, None])
    await batch_of(world).until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    return world


async def batch_at_the_enactment(stack: Stack, cutter: Cutter) -> World:
    world = await _batch(stack, cutter, [None, None])
    await batch_of(world).until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    assert (await world.typed("approve", "--batch", world.batch)).code == 0
    await batch_of(world).until_state("batch_awaiting_lifecycle_authz_set")
    await until_put(stack, world.batch)
    return world


async def batch_rehearsed(stack: Stack, cutter: Cutter) -> World:
    world = await _batch(stack, cutter, [None, None], "--mode", "dryrun")
    await until_reported(world, "the rehearsal is over")
    return world


async def batch_stopped(stack: Stack, cutter: Cutter) -> World:
    world = await batch_at_the_cut(stack, cutter)
    assert (await cutter("stop", world.batch, "--reason", "x")).code == 0
    await until_reported(world, "the batch has stopped")
    return world


async def batch_quarantined(stack: Stack, cutter: Cutter) -> World:
    world = await _batch(stack, cutter, [POISON, None], "--quarantine")
    await batch_of(world).until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    return world


async def batch_failed_partial(stack: Stack, cutter: Cutter) -> World:
    world = await _batch(stack, cutter, [POISON])
    await batch_of(world).until_state("batch_failed_partial")
    await until_reported(world, "the batch is over")
    return world


async def batch_strict(stack: Stack, cutter: Cutter) -> World:
    world = await _batch(stack, cutter, [POISON, None], "--stop-on-first-failure")
    await batch_of(world).until_state("batch_failed_partial")
    await until_reported(world, "the batch is over")
    return world


async def batch_overnight(stack: Stack, cutter: Cutter) -> World:
    world = await _batch(stack, cutter, [None], "--overnight")
    await until_reported(world, "the night is over")
    return world


async def batch_done(stack: Stack, cutter: Cutter) -> World:
    world = await batch_at_the_enactment(stack, cutter)
    assert (await world.typed("approve", "--batch", world.batch)).code == 0
    await until_reported(world, "the batch is done")
    return world


async def until_reported(world: World, what: str) -> None:
    """Wait until the batch is over and the report that closes it can be read."""
    report = world.kb / documents.report_id(world.batch, 1)

    async def there() -> bool:
        return bool((await batch_of(world).summary()).over and report.exists())

    await until(there, seconds=120, what=what)


async def until_put(stack: Stack, batch_id: str) -> None:
    """Wait until every request of the batch stands in the knowledge base."""

    async def put() -> bool:
        with connect(stack.settings, Role.OPERATOR) as connection:
            row = connection.execute(
                "select count(*) from cutter_governance.outbox o join cutter_governance.run r using (run_id) "
                "where r.batch_id = %s and o.done_at is null", (batch_id,)
            ).fetchone()  # fmt: skip
        return bool(row and row[0] == 0)

    await until(put, what="the requests stand in the knowledge base")


async def batch_with_dependents(stack: Stack, cutter: Cutter) -> World:
    """The first waits at SG_1; the second waits until the first is law."""
    world = await _batch(stack, cutter, [None, None], fields=lambda names: [{}, {"depends_on": [names[0]]}])
    await batch_of(world).until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    return world


async def batch_blocked(stack: Stack, cutter: Cutter) -> World:
    """The first failed, so that the second cannot begin; the third waits for its signature."""
    world = await _batch(
        stack, cutter, [POISON, None, None], "--quarantine",
        fields=lambda names: [{}, {"depends_on": [names[0]]}, {}],
    )  # fmt: skip
    await batch_of(world).until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    return world


async def batch_halted(stack: Stack, cutter: Cutter) -> World:
    """A critical document failed."""
    world = await _batch(
        stack, cutter, [POISON, None], "--quarantine", "--max-concurrent", "1",
        fields=lambda _: [{"critical": "true"}, {}],
    )  # fmt: skip
    await until_reported(world, "the batch is halted")
    return world


async def batch_partly_signed(stack: Stack, cutter: Cutter) -> World:
    """One of two was signed at SG_1, so that the batch is partial."""
    world = await _batch(stack, cutter, [None, None])
    await batch_of(world).until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    assert (await world.typed("approve", "--batch", world.batch, "--only", world.document)).code == 0
    await batch_of(world).until_stage(world.document, "at_sg2")
    await until_put(stack, world.batch)
    return world


async def batch_rejected(stack: Stack, cutter: Cutter) -> World:
    """One of two was rejected; the other waits."""
    world = await _batch(stack, cutter, [None, None])
    await batch_of(world).until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    assert (await world.typed("reject", world.document, "--reason", "x")).code == 0
    await batch_of(world).until_stage(world.document, "failed")
    return world


async def batch_included_again(stack: Stack, cutter: Cutter) -> World:
    """A document that was rejected, then taken in again by a signature."""
    world = await batch_rejected(stack, cutter)
    words = ("approve", "--batch", world.batch, "--decision", "include_failed", "--only", world.document)
    assert (await world.typed(*words, "--reason", "x")).code == 0
    await batch_of(world).until_stage(world.document, "at_sg1")
    await until_put(stack, world.batch)
    return world


async def batch_cancelled_before_the_write(stack: Stack, cutter: Cutter) -> World:
    world = await batch_at_the_cut(stack, cutter)
    assert (await cutter("cancel", world.batch, "--reason", "x")).code == 0
    await until_reported(world, "the batch is cancelled")
    return world


async def batch_cancelled_after_the_write(stack: Stack, cutter: Cutter) -> World:
    world = await batch_at_the_enactment(stack, cutter)
    assert (await cutter("cancel", world.batch, "--reason", "x")).code == 0
    await until_reported(world, "the batch is cancelled")
    return world


async def batch_over_its_hard_cap(stack: Stack, cutter: Cutter) -> World:
    world = await _batch(stack, cutter, [None, None], hard_cap_minutes=0.1)
    await until_reported(world, "the batch is over its hard cap")
    return world


async def batch_with_a_busy_document(stack: Stack, cutter: Cutter) -> World:
    """Its document has an open run of its own, which is no failure of the batch's."""
    world = await document(stack, cutter)
    started = await cutter("run", world.document, "--json")
    assert started.code == 0, started.out + started.err
    world.batch = str(uuid_utils.uuid7())
    world.queue = stack.settings.state / f"{world.batch}.yaml"
    world.queue.write_bytes(support.queue_yaml([{"document_id": world.document}], world.batch))
    world.run_id = started.json["run_id"]
    await world.run.until_requested("SG_cut_authz")
    answer = await cutter("orchestrate", "batch", "--queue", str(world.queue), "--json")
    assert answer.code == 0, answer.out + answer.err
    await until_reported(world, "the batch has nothing to do")
    world.asks = looking_at_a_batch(world)
    return world


async def batch_without_its_workflow(stack: Stack, cutter: Cutter) -> World:
    world = await batch_at_the_cut(stack, cutter)
    await batch_of(world).handle.terminate("by a test")
    world.asks += [("reconcile", "--grace-seconds", "0")]
    return world


async def batch_signed_before_the_night(stack: Stack, cutter: Cutter) -> World:
    """Rehearsed, and signed for the live batch, which has not been started."""
    world = await _batch(stack, cutter, [None, None], "--mode", "dryrun")
    await until_reported(world, "the rehearsal is over")
    await until_put(stack, world.batch)
    live = world.batch.removesuffix("-dryrun")
    assert (await world.typed("approve", "--batch", live)).code == 0
    world.asks += [("approve", "--batch", live, "--yes"), ("status", live),
                   ("orchestrate", "batch", "--queue", str(world.queue), "--overnight")]  # fmt: skip
    return world


async def batch_without_temporal(stack: Stack, cutter: Cutter) -> World:
    """For the commands: nobody answers at Temporal's address."""
    world = await batch_at_the_cut(stack, cutter)
    world.environment["CUTTER_TEMPORAL_ADDRESS"] = NOBODY
    world.asks += [("stop", world.batch, "--reason", "x"), ("cancel", world.batch, "--reason", "x")]
    return world


BATCHES: tuple[Builder, ...] = (
    batch_at_the_cut, batch_at_the_enactment, batch_rehearsed, batch_stopped, batch_quarantined, batch_failed_partial,
    batch_strict, batch_overnight, batch_done, batch_with_dependents, batch_blocked, batch_halted, batch_partly_signed,
    batch_rejected, batch_included_again, batch_cancelled_before_the_write, batch_cancelled_after_the_write,
    batch_over_its_hard_cap, batch_with_a_busy_document, batch_without_its_workflow, batch_signed_before_the_night,
    batch_without_temporal,
)  # fmt: skip
