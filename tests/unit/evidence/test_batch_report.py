"""A batch as people read it, and its page: complete, grouped, escaped, alone, small."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import Any

import pytest

from cutter.batch.item import Outcome, Stage
from cutter.batch.view import BatchFacts
from cutter.projections import batch_report
from cutter.projections.batch_view import ShownBatch, ShownDocument, batch_view, planned_items
from tests.unit.evidence import batches as made

NAMES = [f"ICX-LAW-2026-{number:03d}" for number in range(1, 11)]
CUT_APPROVAL = f"00000001{made.WRITTEN:08x}" * 4


def view(**batch: Any) -> ShownBatch:
    return batch_view(BatchFacts.of(made.night(NAMES, **batch).whole()))


def document(name: str, facts: made.Facts) -> ShownDocument:
    return next(entry for entry in batch_view(BatchFacts.of(facts.whole())).documents if entry.document_id == name)


def page(batch: ShownBatch) -> str:
    return batch_report.render(batch).decode()


# --- the view ---------------------------------------------------------------------------------------------------------


def test_every_document_stands_as_its_run_does() -> None:
    shown = [(entry.shown, entry.gates_passed, entry.queue) for entry in view().documents]
    assert shown == [
        ("enacted", made.ALL, None), ("at_sg1", made.AT_SG1, None), ("at_sg2", made.AT_SG2, None),
        ("failed", 1, "quarantine_queue"),
        ("stopped", made.WRITTEN, None), ("blocked", 0, None), ("skipped", 0, None), ("pending", 0, None),
        ("at_sg1", made.AT_SG1, "human_review_queue"), ("planning", made.BEFORE_BACKUP, None),
    ]  # fmt: skip


def test_time_is_split_into_running_people_and_stops() -> None:
    facts = made.Facts(state_at=made.at(700))
    facts.add("ICX-1", gates=made.WRITTEN, pace=2.0, wait=100.0, state="stopped_stop")
    entry, asked = document("ICX-1", facts), 2.0 * made.AT_SG1
    assert [(span.kind, span.start, span.end, span.over) for span in entry.spans] == [
        ("running", made.at(0), made.at(asked), None),
        ("people", made.at(asked), made.at(asked + 102), None),
        ("running", made.at(asked + 102), made.at(asked + 104), None),
        ("stopped", made.at(asked + 104), made.at(700), None),
        ("running", made.at(asked + 100), made.at(asked + 102), "people"),
    ]
    assert entry.seconds == {"running": asked + 4, "people": 100.0, "stopped": 596 - asked}


def test_the_pause_between_two_attempts_is_a_retry_but_not_the_wait_for_a_better_approval() -> None:
    facts = made.Facts(state_at=made.at(60))
    run = facts.add("ICX-1", gates=2)["run_id"]
    facts.made["attempts"][run] += [
        made.Facts.attempt(3, 3, 4, outcome="unavailable"), made.Facts.attempt(3, 9, 10, n=2, outcome="unavailable"),
        made.Facts.attempt(made.WRITTEN, 20, 21, outcome="approval_refused"),
        made.Facts.attempt(made.WRITTEN, 40, 41, n=2, outcome="failed"),
    ]  # fmt: skip
    retries = [(span.start, span.end) for span in document("ICX-1", facts).spans if span.kind == "retry"]
    assert retries == [(made.at(4), made.at(9))]


def test_the_wait_for_the_write_lane_is_no_retry() -> None:
    facts = made.Facts(state_at=made.at(60))
    run = facts.add("ICX-1", gates=made.AT_SG1)["run_id"]
    facts.made["attempts"][run] += [
        made.Facts.attempt(made.WRITTEN, 10, 11, outcome="lane_busy"),
        made.Facts.attempt(made.WRITTEN, 21, 22, n=2, outcome="failed"),
    ]  # fmt: skip
    entry = document("ICX-1", facts)
    assert [(span.start, span.end) for span in entry.spans if span.kind == "turn"] == [(made.at(11), made.at(21))]
    assert entry.seconds == {"running": made.AT_SG1 + 2, "people": 48 - made.AT_SG1, "turn": 10.0}


def test_what_goes_on_ends_with_the_newest_event_so_the_same_rows_give_the_same_page() -> None:
    assert view().until_utc == made.at(1200 + made.ALL)
    older = made.night(NAMES).whole()
    later = {**older, "view": {**older["view"], "age_seconds": 99_999.0}}
    for item in later["view"]["items"]:
        item["approved"] = True
    assert batch_report.render(batch_view(BatchFacts.of(older))) == batch_report.render(
        batch_view(BatchFacts.of(later))
    )


def test_queues_hold_what_waits_each_with_its_command() -> None:
    queues = view().queues
    assert [(name, [row.document_id for row in rows]) for name, rows in queues.items()] == [
        ("error_queue", []), ("quarantine_queue", [NAMES[3]]), ("human_review_queue", [NAMES[8]]),
    ]  # fmt: skip
    assert queues["human_review_queue"][0].commands == [f"cutter approve {NAMES[8]}"]


def test_what_left_its_queue_is_in_none() -> None:
    facts = made.night(NAMES)
    facts.queue(facts.items[1], "error_queue", left=True)
    assert batch_view(BatchFacts.of(facts.whole())).queues["error_queue"] == []


def test_a_request_stands_with_the_key_the_digest_and_when_it_was_consumed() -> None:
    first, second = view().requests[:2]
    (approval,) = first.approvals
    assert (first.gate, approval.approver, approval.fingerprint) == ("SG_cut_authz", "alice", made.FINGERPRINT)
    assert (approval.approval_sha256, approval.consumed_at) == (CUT_APPROVAL, made.at(made.AT_SG1 + 5))
    assert (second.gate, len(second.approvals)) == ("SG_lifecycle_authz", 1)


def test_gates_are_listed_the_slowest_first() -> None:
    facts = made.Facts()
    run = facts.add("ICX-1", gates=3)["run_id"]
    facts.made["attempts"][run][1]["started_at"] = made.at(-30)
    gates = batch_view(BatchFacts.of(facts.whole())).gates
    assert [(gate.name, gate.slowest_seconds) for gate in gates[:2]] == [("IG_mark", 32.0), ("IG_source_pin", 1.0)]


def test_the_plan_is_of_documents_that_have_not_begun() -> None:
    stages = {
        planned_item.document_id: (planned_item.stage, planned_item.outcome)
        for planned_item in planned_items(BatchFacts.of(made.night(NAMES).whole()))
    }
    assert stages[NAMES[0]] == (Stage.PENDING, None)
    assert stages[NAMES[6]] == (Stage.SETTLED, Outcome.SKIPPED)


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_has_every_document_queue_command_and_signature() -> None:
    shown = page(view())
    wanted = [
        made.BATCH_ID, *NAMES, made.FINGERPRINT, CUT_APPROVAL, "quarantine_queue", "human_review_queue",
        f"cutter approve {NAMES[8]}", "IG_source_pin",
        f"cutter approve --batch {made.BATCH_ID} --decision include_failed --only {NAMES[3]} --reason TEXT",
        *(f'class="{kind}" x=' for kind in ("retry", "stopped", "people", "running")),
        "there is no approval beside the queue",
    ]  # fmt: skip
    assert [text for text in wanted if text not in shown] == []


def test_the_page_of_a_finished_batch_does_not_send_its_reader_to_itself() -> None:
    batch = view()
    assert f'Next: <code class="command">{batch.next}</code>' in page(batch)
    assert "Next:" not in page(replace(batch, next=f"cutter report {batch.batch_id}"))


def test_the_page_stands_alone() -> None:
    shown = page(view())
    assert re.findall(r"(?i)<script|<link|<img|<iframe|\bsrc=|\bhref=|url\(|@import|https?:|//[a-z]", shown) == []
    assert "default-src 'none'" in shown
    assert "{%" not in shown


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"])
def test_nothing_of_a_batch_that_came_from_outside_is_markup(hostile: str) -> None:
    facts = made.night([hostile, *NAMES[1:]], halted="stop", halted_reason=hostile, created_by=hostile, starter=hostile)
    facts.items[3]["reason"] = hostile
    facts.made["queue"][0] |= {"reason": hostile, "code": hostile, "kb_id": hostile}
    facts.made["approvals"][0] |= {"approver": hostile, "fingerprint": hostile}
    facts.made["requests"][2] |= {"kb_id": hostile, "document_id": hostile}
    facts.made["refused"].append(
        {"document_id": hostile, "gate": hostile, "code": hostile, "reason": hostile, "kb_id": hostile,
         "recorded_at": made.at(3)}
    )  # fmt: skip
    shown = page(batch_view(BatchFacts.of(facts.whole())))
    assert "<script" not in shown
    assert "<img" not in shown
    assert ">49<" not in shown


def test_the_form_for_programs_is_that_of_the_record() -> None:
    batch = view()
    assert batch.queues or batch.documents
    assert batch.as_json() == asdict(batch)


def test_a_thousand_documents_are_one_readable_page() -> None:
    batch = batch_view(BatchFacts.of(made.thousand().whole()))
    shown = page(batch)
    assert len(shown) < 4_000_000
    groups = {group.title: group for group in batch_report.groups(batch)}
    assert list(groups) == ["failed", "enacted"]
    assert (len(groups["failed"].rows), groups["failed"].open) == (11, True)
    assert (len(groups["enacted"].rows), groups["enacted"].open) == (989, False)
    parts = re.findall(r"<summary>(\d+) to (\d+)</summary>", shown)
    assert parts[:10] == [(f"{first}", f"{min(first + 99, 989)}") for first in range(1, 990, 100)]


def test_a_page_without_history_says_so_and_shows_every_document() -> None:
    facts = BatchFacts.of(made.night(NAMES).whole())
    few = BatchFacts.without_history(
        facts.view, {**made.night(NAMES).whole(), "attempts": {}, "moves": {}, "requests": [], "approvals": []}
    )
    batch = batch_view(few)
    shown = page(batch)
    assert "this page lacks their times" in shown
    assert "Timeline" not in shown
    assert all(name in shown for name in NAMES)
    whole = batch_view(facts)
    assert [(entry.shown, entry.gates_passed, entry.queue, entry.commands) for entry in batch.documents] == [
        (entry.shown, entry.gates_passed, entry.queue, entry.commands) for entry in whole.documents
    ]
    assert "this page lacks" not in page(whole)
    assert re.search(r">\d+ requests<", page(whole))


def test_the_shortest_span_is_seen_and_stays_on_the_bar() -> None:
    facts = made.Facts(state_at=made.at(100_000))
    facts.add("ICX-1", gates=made.AT_SG1)
    facts.add("ICX-2", gates=1, start=99_999.9, pace=0.1)
    bars = batch_report.bars(batch_view(BatchFacts.of(facts.whole())))
    assert len(bars) == 2
    for bar in bars.values():
        for _, left, width in bar:
            assert float(width) >= batch_report.SLIVER
            assert float(left) + float(width) <= batch_report.WIDTH + 0.1


@pytest.mark.parametrize(
    ("state", "tone"),
    [("batch_closeout", "good"), ("batch_failed_partial", "bad"), ("batch_voided", "held"), ("batch_writing", "open"),
     ("batch_awaiting_cut_authz_set", "held")],
)  # fmt: skip
def test_the_colour_of_a_batch(state: str, tone: str) -> None:
    assert batch_report.tone(replace(view(), state=state)) == tone


# --- dependencies -----------------------------------------------------------------------------------------------------


def node(name: str, *needs: str) -> ShownDocument:
    return replace(view().documents[7], document_id=name, depends_on=list(needs))


def test_each_document_is_listed_with_those_that_it_depends_on() -> None:
    documents = [node("A"), node("B", "A"), node("C", "A", "B")]
    shown = batch_report.render(replace(view(), documents=documents)).decode()
    assert "2 documents wait for others" in shown
    assert "<code>C</code> after <code>A</code>, <code>B</code>" in shown


def test_a_batch_without_dependencies_says_so() -> None:
    assert (
        "No document of this batch depends on another"
        in batch_report.render(replace(view(), documents=[node("A"), node("B")])).decode()
    )
