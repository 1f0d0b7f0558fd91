"""A queue against the database: what refuses all of it, what refuses one item, and what is settled before it starts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter.batch.admission import Decision, Known, check_against, decided_before_start, items_of
from cutter.batch.item import Outcome, Stage
from cutter.batch.queue import Queue, load_queue
from tests.unit.batch.queues import GOOD, HEAD, changed

FIRST, SECOND = "ICX-LAW-2026-001", "ICX-LAW-2026-002"
KNOWN = {
    FIRST: Known(docprefix="ICX-LAW-1", tenant="south", profile="vietnamese-law"),
    SECOND: Known(docprefix="ICX-LAW-10", tenant="north", profile="generic-markdown"),
}
QUEUE = load_queue(GOOD.encode())


def with_facts(document_id: str, **facts: str) -> dict[str, Known]:
    return {**KNOWN, document_id: replace(KNOWN[document_id], **facts)}


def queue_of(*names: str) -> Queue:
    return load_queue((HEAD + "".join(f"  - document_id: {name}\n" for name in names)).encode())


def prefixed(**prefixes: str) -> dict[str, Known]:
    return {name: Known(docprefix=prefix, tenant="t", profile="p") for name, prefix in prefixes.items()}


def test_a_queue_of_registered_documents_has_no_problem() -> None:
    assert check_against(QUEUE, KNOWN) == []


def test_an_unknown_document_is_named_with_the_command_that_registers_it() -> None:
    (problem,) = check_against(QUEUE, {FIRST: KNOWN[FIRST]})
    assert (problem.line, problem.document_id, problem.code) == (10, SECOND, "STOP_DOCUMENT_UNKNOWN")
    assert f"cutter source add FILE --document-id {SECOND} --profile generic-markdown" in problem.text
    assert not problem.alone


@pytest.mark.parametrize(("field", "value"), [("tenant", "south"), ("profile", "vietnamese-law")])
def test_what_the_queue_says_of_a_document_is_what_is_registered(field: str, value: str) -> None:
    (problem,) = check_against(QUEUE, with_facts(SECOND, **{field: value}))
    assert (problem.line, problem.document_id, problem.alone) == (10, SECOND, False)
    assert value in problem.text


def test_an_open_run_refuses_its_item_alone() -> None:
    (problem,) = check_against(QUEUE, with_facts(FIRST, open_run="ictr-1"))
    assert (problem.code, problem.document_id, problem.alone) == ("STOP_RUN_BUSY", FIRST, True)
    assert "ictr-1" in problem.text


def test_equal_docprefixes_are_refused_and_longer_ones_go_together() -> None:
    """Seed 001 §5."""
    queue = queue_of("AAA", "BBB", "CCC")
    assert check_against(queue, prefixed(AAA="ICX-LAW-1", BBB="ICX-LAW-10", CCC="ICX-LAW")) == []
    (problem,) = check_against(queue, prefixed(AAA="ICX-LAW-1", BBB="ICX-LAW", CCC="ICX-LAW-1"))
    assert (problem.document_id, problem.line) == ("CCC", 10)
    assert "AAA (line 8)" in problem.text


@pytest.mark.parametrize(("above", "below"), [("AAA", "BBB"), ("BBB", "AAA")])
def test_a_docprefix_under_another_one_is_refused_in_either_order(above: str, below: str) -> None:
    """Seed 001 §5."""
    queue = queue_of("AAA", "BBB")
    (problem,) = check_against(queue, prefixed(**{above: "ICX/LAW", below: "ICX/LAW/1"}))
    assert problem.document_id == below
    assert above in problem.text


def test_all_problems_come_in_the_files_order() -> None:
    known = {SECOND: replace(KNOWN[SECOND], tenant="x", profile="y", open_run="z")}
    assert [problem.line for problem in check_against(QUEUE, known)] == [8, 10, 10, 10]


def test_items_carry_their_documents_tenant() -> None:
    first, second = items_of(QUEUE, KNOWN)
    assert (first.tenant, second.tenant) == ("south", "north")
    assert (second.position, second.priority, second.depends_on, second.critical) == (2, 7, (FIRST,), True)
    assert first.stage is second.stage is Stage.PENDING


def test_a_busy_document_is_settled_before_the_batch_starts() -> None:
    known = with_facts(FIRST, open_run="ictr-1", enacted_run="ictr-0")
    decided = decided_before_start(QUEUE, known, skip_completed=True)
    assert decided == {FIRST: Decision(outcome=Outcome.BUSY, reason="STOP_RUN_BUSY: its run ictr-1 is open")}
    assert [item.outcome for item in items_of(QUEUE, known, decided)] == [Outcome.BUSY, None]


def test_completed_documents_are_skipped_only_when_it_is_asked_for() -> None:
    """Seed 001 §9."""
    known = with_facts(FIRST, enacted_run="ictr-0", failed_run="ictr-1")
    assert decided_before_start(QUEUE, known) == {}
    assert decided_before_start(QUEUE, known, skip_completed=True)[FIRST].outcome is Outcome.SKIPPED


def test_a_failed_document_is_passed_over_when_completed_ones_are() -> None:
    """Seed 001 §9."""
    known = with_facts(FIRST, failed_run="ictr-1")
    decision = decided_before_start(QUEUE, known, skip_completed=True)[FIRST]
    assert (decision.outcome, "ictr-1" in decision.reason) == (Outcome.BLOCKED, True)
    assert decided_before_start(QUEUE, known) == {}


@pytest.mark.parametrize("scope", [None, "enacted_only"])
def test_a_document_whose_text_is_cut_in_the_queue_s_scope_is_let_in(scope: str | None) -> None:
    facts = {**KNOWN, FIRST: replace(KNOWN[FIRST], scope=scope)}
    assert check_against(QUEUE, facts) == []


def test_a_document_that_would_be_cut_in_another_scope_is_refused_with_both_ways_out() -> None:
    """Seed 001 §2."""
    (problem,) = check_against(QUEUE, {**KNOWN, FIRST: replace(KNOWN[FIRST], scope="all")})
    assert (problem.document_id, problem.code, problem.alone) == (FIRST, "STOP_OTHER_SCOPE", False)
    assert f"--document-id {FIRST} --profile vietnamese-law --scope enacted_only" in problem.text
    assert "give the item `scope: all`" in problem.text
    own = load_queue(changed("    source_uri: null\n", "    scope: all\n").encode())
    assert check_against(own, {**KNOWN, FIRST: replace(KNOWN[FIRST], scope="all")}) == []
    (other,) = check_against(own, {**KNOWN, FIRST: replace(KNOWN[FIRST], scope="enacted_only")})
    assert (other.field, other.code) == ("items[0].scope", "STOP_OTHER_SCOPE")


def test_an_actor_whom_the_policy_does_not_know_is_refused_and_without_a_policy_nobody_is() -> None:
    queue = load_queue(changed("    priority: 7\n", "    actor: carol\n").encode())
    assert check_against(queue, KNOWN, None) == []
    assert check_against(queue, KNOWN, {"sovereign@example", "carol"}) == []
    problems = check_against(queue, KNOWN, {"alice"})
    assert [(problem.field, problem.code) for problem in problems] == [
        ("default_actor", "STOP_NO_SUCH_APPROVER"), ("items[1].actor", "STOP_NO_SUCH_APPROVER"),
    ]  # fmt: skip
    assert "the policy names alice" in problems[0].text
