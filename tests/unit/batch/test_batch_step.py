"""What a batch does next: whom it stops, with which word, and when it says it again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter import limits
from cutter.batch import batch_step, documents, ways
from cutter.batch.batch_step import BatchActions, Halt
from cutter.batch.item import REVIEW
from cutter.batch.view import ItemRecord
from cutter.catalogue import LONGEST_CAP_SECONDS
from cutter.messages import BatchStop
from tests.unit.batch.views import BATCH_ID, item, view

RUNNING = item("ICX-A", "marked")
LATCHED = item("ICX-A", "marked", latched=True)


@pytest.mark.parametrize(
    ("halted", "word"),
    [
        ("cancel", "cancel"), ("stop", "stop"), ("failure", "stop"), ("critical", "stop"), ("hard_cap", "stop"),
        (None, "stop"),
    ],
)  # fmt: skip
def test_documents_are_told_a_cancel_as_a_cancel_and_every_other_halt_as_a_stop(halted: str | None, word: str) -> None:
    assert batch_step.stop_word(halted) == word
    if halted is not None:
        stops = batch_step.decide(view(RUNNING, halted=halted, age=1.0), window=9).stops
        assert stops == (("ICX-A", word),)


def test_who_has_not_come_to_a_stop_yet_has_not_heeded_it() -> None:
    assert batch_step.stop_pending(LATCHED)
    for other in (RUNNING, item("ICX-A", "stopped_stop", latched=True), item("ICX-A", "failed_mark", latched=True)):
        assert not batch_step.stop_pending(other)


@pytest.mark.parametrize("word", ["cancel", "stop"])
def test_a_lost_stop_is_told_again_with_its_own_word(word: str) -> None:
    batch_view = view(
        LATCHED,
        item("ICX-B", f"stopped_{word}", latched=True, latch_kind=word),
        item("ICX-C"),
        halted=word,
        halted_reason="enough",
    )
    orders = batch_step.decide(batch_view, window=9)
    assert orders.stops == ()
    assert batch_step.deliveries(batch_view, orders, again=False) == []
    assert batch_step.deliveries(batch_view, orders, again=True) == [
        BatchStop(document_id="ICX-A", kind=word, reason="enough")
    ]


def test_a_stop_of_now_is_told_at_once_with_the_reason_of_its_halt() -> None:
    batch_view = view(RUNNING, item("ICX-B", "failed_mark"), policy="strict", age=1.0)
    orders = batch_step.decide(batch_view, window=9)
    assert orders.halt == Halt(kind="failure", reason="--stop-on-first-failure: ICX-B failed", document_id="ICX-B")
    assert batch_step.deliveries(batch_view, orders, again=False) == [], "a gate holds the latch"
    latched = replace(batch_view, items=(LATCHED, batch_view.items[1]))
    (delivery,) = batch_step.deliveries(latched, orders, again=False)
    assert batch_step.deliveries(batch_view, orders, again=True) == [delivery]
    assert delivery == BatchStop(document_id="ICX-A", kind="stop", reason=orders.halt.reason)
    (delivery,) = batch_step.deliveries(latched, BatchActions(stops=(("ICX-A", "stop"),)), again=False)
    assert delivery.reason == "the batch was stopped"


@pytest.mark.parametrize(
    ("halted", "document", "delivered"),
    [
        ("cancel", item("ICX-A", "stopped_unavailable_policy"), True),
        ("cancel", item("ICX-A", "stopped_stop", latched=True, latch_kind="stop"), True),
        ("cancel", item("ICX-A", "stopped_cancel", latched=True, latch_kind="cancel"), False),
        ("cancel", item("ICX-A", "failed_mark"), False),
        ("cancel", item("ICX-A", "stopped_expired", ended=True), False),
        ("stop", item("ICX-A", "stopped_unavailable_policy"), False),
    ],
)
def test_a_cancel_is_told_to_what_has_stopped_too(halted: str, document: ItemRecord, delivered: bool) -> None:
    stops = batch_step.decide(view(document, halted=halted, age=1.0), window=9).stops
    assert stops == ((("ICX-A", halted),) if delivered else ())


def test_a_batch_is_not_over_while_what_was_voided_stands_in_a_queue() -> None:
    queued = item("ICX-A", "voided_cancelled", queue="error_queue", queue_state="stopped_stop")
    assert not batch_step.summarise(view(queued, halted="cancel"), attended=True).over
    assert batch_step.summarise(view(item("ICX-A", "voided_cancelled"), halted="cancel"), attended=True).over


def test_a_batch_is_not_over_while_what_a_signature_takes_in_again_waits_for_room() -> None:
    failed = item("ICX-A", "failed_mark")
    assert batch_step.summarise(view(failed, age=1.0), attended=True).over
    signed = view(replace(failed, included=True), age=1.0)
    assert batch_step.decide(signed, window=9, rooms={"default": 0}).starts == ()
    assert batch_step.decide(signed, window=9, rooms={"default": 1}).starts == ("ICX-A",)
    assert not batch_step.summarise(signed, attended=True).over
    assert batch_step.summarise(view(replace(failed, included=True), halted="stop", age=1.0), attended=True).over


def test_a_batch_is_over_although_a_signature_takes_in_what_its_dependency_still_blocks() -> None:
    """It begins when that becomes law after all; nobody waits for it until then."""
    failed, signed = item("ICX-A", "failed_mark"), item("ICX-B", "failed_mark", included=True, depends_on=["ICX-A"])
    assert batch_step.decide(view(failed, signed, age=1.0), window=9).starts == ()
    assert batch_step.summarise(view(failed, signed, age=1.0), attended=True).over
    waits = item("ICX-A", "awaiting_cut_authorization", queue=REVIEW)
    assert not batch_step.summarise(view(waits, signed, age=1.0), attended=False).over, "it may still become law"
    law = replace(failed, state="closeout_reported", enacted=True)
    assert batch_step.decide(view(law, signed, age=1.0), window=9).starts == ("ICX-B",)
    assert not batch_step.summarise(view(law, signed, age=1.0), attended=True).over


def test_what_signatures_take_in_again_keeps_to_the_lanes_and_the_window() -> None:
    failed = [item(f"ICX-{n}", "failed_mark", included=True) for n in range(9)]
    assert batch_step.decide(view(*failed, age=1.0), window=9).starts == ("ICX-0", "ICX-1", "ICX-2", "ICX-3")
    assert batch_step.decide(view(*failed, age=1.0), window=2).starts == ("ICX-0", "ICX-1")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (item("ICX-A", "failed_mark"), item("ICX-A", "failed_mark", included=True)),
        (item("ICX-A", "stopped_unavailable_kb"), item("ICX-A", "marked")),
    ],
)
def test_what_was_blocked_begins_when_its_dependency_becomes_law_after_all(before: ItemRecord, now: ItemRecord) -> None:
    waiting = item("ICX-B", depends_on=["ICX-A"])
    actions = batch_step.decide(view(before, waiting, age=1.0), window=9)
    assert [(name, word) for name, word, _ in actions.decided] == [("ICX-B", "blocked")]
    blocked = replace(waiting, decided="blocked")
    assert batch_step.summarise(view(before, blocked, age=1.0), attended=True).over
    assert not batch_step.decide(view(before, blocked, age=1.0), window=9).decided, "once"
    under_way = batch_step.decide(view(now, blocked, age=1.0), window=9)
    assert ("ICX-B" in under_way.starts, under_way.decided) == (False, ())
    law = view(item("ICX-A", "closeout_reported", enacted=True), blocked, age=1.0)
    assert batch_step.decide(law, window=9).starts == ("ICX-B",)
    assert not batch_step.summarise(law, attended=True).over, "also while there is no room for it"


@pytest.mark.parametrize("halted", ["hard_cap", "stop", "cancel", "failure", "critical"])
@pytest.mark.parametrize("state", ["pending", "marked", "leg_b_recorded", "awaiting_lifecycle_authorization"])
def test_a_halted_batch_ends_although_a_document_comes_to_no_stop(halted: str, state: str) -> None:
    """Such as one whose workflow was terminated: waiting on would keep the report and all nights behind it."""
    stuck = item("ICX-A", state, latched=True, approved=True)
    still = view(stuck, halted=halted, halt_age=batch_step.HEARD_BY_SECONDS)
    assert not batch_step.summarise(still, attended=False).over
    later = batch_step.summarise(replace(still, halted_seconds=batch_step.HEARD_BY_SECONDS + 1), attended=False)
    assert (later.over, later.state) == (True, "batch_failed_partial")
    body = documents.batch_report(still, later)
    assert f"| ICX-A | {stuck.item.shown} | {state} | run of ICX-A | `cutter reconcile` |" in body


def test_whoever_halts_gives_every_gate_the_time_that_it_may_take() -> None:
    assert batch_step.HEARD_BY_SECONDS > LONGEST_CAP_SECONDS
    assert not batch_step.summarise(view(RUNNING, age=1e9), attended=True).over
    document = item("ICX-A", "awaiting_cut_authorization", latched=True)
    for age, over in ((1.0, False), (batch_step.HEARD_BY_SECONDS + 1, True)):
        assert batch_step.summarise(view(document, halted="stop", halt_age=age), attended=True).over is over


def test_what_was_voided_or_has_gone_on_is_counted_in_no_queue() -> None:
    queued = {"queue": "error_queue", "queue_state": "stopped_cancel"}
    batch_view = view(
        item("ICX-A", "voided_cancelled", **queued), item("ICX-B", "awaiting_lifecycle_authorization", **queued),
        item("ICX-C", "stopped_drift_source", **queued),
    )  # fmt: skip
    assert batch_step.totals_of(batch_step.items_of(batch_view), batch_view)["error_queue"] == 1


def test_a_cancelled_batch_is_not_resumed_but_what_it_wrote_is_voided() -> None:
    stopped = item("ICX-A", "stopped_cancel", queue="error_queue", queue_state="stopped_cancel", stopped_by="batch")
    void, resume = "cutter void ICX-A --reason TEXT", f"cutter orchestrate resume-batch --batch-id {BATCH_ID}"
    for halted, command in (("cancel", void), ("stop", resume)):
        batch_view = view(stopped, halted=halted)
        assert ways.next_command(batch_view, batch_step.summarise(batch_view, attended=True)) == command


def test_open_items_are_named_again_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_ORDERS_AT_ONCE", 2)
    names = ("ICX-A", "ICX-B", "ICX-C", "ICX-D", "ICX-E")
    items = [replace(item(name, "marked"), position=number) for number, name in enumerate(names, start=1)]
    items[1] = replace(items[1], ended=True)
    batch_view = view(*items, replace(item("ICX-F"), position=6))
    parts, after = [], 0
    while True:
        some, after = batch_step.adopted(batch_view, after)
        parts.append([record.document_id for record in some])
        if not after:
            break
    assert parts == [["ICX-A", "ICX-C"], ["ICX-D", "ICX-E"]]


def test_stops_of_now_are_told_before_those_that_are_told_again() -> None:
    batch_view = view(
        item("ICX-A", "marked", latched=True), item("ICX-B", "marked"), halted="stop", halted_reason="enough"
    )
    orders = BatchActions(stops=(("ICX-B", "stop"),))
    assert [delivery.document_id for delivery in batch_step.deliveries(batch_view, orders, again=True)] == [
        "ICX-B", "ICX-A",
    ]  # fmt: skip


def test_a_halt_stops_some_documents_at_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_ORDERS_AT_ONCE", 2)
    names = ("ICX-A", "ICX-B", "ICX-C")
    batch_view = view(*(item(name, "marked") for name in names), halted="stop")
    first = [name for name, _ in batch_step.decide(batch_view, window=9).stops]
    latched = view(*(item(name, "marked", latched=name in first) for name in names), halted="stop")
    assert [first, [name for name, _ in batch_step.decide(latched, window=9).stops]] == [["ICX-A", "ICX-B"], ["ICX-C"]]
