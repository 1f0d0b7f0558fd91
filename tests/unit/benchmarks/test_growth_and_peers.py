"""The order of the arms is balanced, and the comparisons name what grew."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from benchmarks import growth, page, peers

ARMS: Any = ["a", "b", "c", "d"]


def test_in_four_rounds_each_arm_has_each_place_and_follows_each_other_one_once() -> None:
    rounds = [peers.order(ARMS, number) for number in range(4)]
    assert all(sorted({order[place] for order in rounds}) == ARMS for place in range(4))
    assert set(Counter(pair for order in rounds for pair in pairwise(order)).values()) == {1}


def test_an_arm_is_compared_with_the_product_of_the_same_round() -> None:
    records = [
        {"round": number, "arm": arm, "per_minute": speed * (number + 1), "cpu_ms": {"workers": 100, "approver": 900}}
        for number in range(2)
        for arm, speed in (("product", 10.0), ("loop", 5.0))
    ]
    product, loop = peers.summary(records)
    assert (product["speed_ratio"], loop["speed_ratio"], loop["cpu_ms"], loop["cpu_ratio"]) == (1, 0.5, 100, 1)


def test_what_grew_is_named_and_what_only_trembled_is_not() -> None:
    empty = {("table", "t"): (1.0, 10.0), ("function", "f"): (3.0, 10.0), ("table", "small"): (1.0, 10.0)}
    grown = {("table", "t"): (1.0, 5000.0), ("function", "f"): (3.0, 11.0), ("table", "small"): (1.0, 500.0)}
    assert [suspect["name"] for suspect in growth.suspects(empty, grown)] == ["t"]


def test_a_database_that_costs_more_misses_the_goal_on_the_page() -> None:
    empty = {
        "gates_ms": {},
        "document_ms": 100,
        "document_postgres_ms": 50,
        "per_minute": 60.0,
        "batch_postgres_ms": 40,
    }
    record = {
        "axis": "units", "size": 5, "n": 9, "batches": 1, "filled": {"units": 5, "runs": 1, "mib": 1, "seconds": 1},
        "empty": empty, "grown": empty | {"document_postgres_ms": 61},
        "suspects": [{"kind": "table", "name": "outbox", "number": 1, "before": 0, "after": 9000}],
    }  # fmt: skip
    assert max(growth.ratios(record).values()) == 61 / 50
    missed, met = (
        "\n".join(page.grown([{"load": 1.0}, measurement])) for measurement in (record, record | {"grown": empty})
    )
    assert "**no**" in missed
    assert "`outbox`" in missed
    assert "**no**" not in met
    assert "`outbox`" not in met


def test_few_samples_are_marked_on_the_page() -> None:
    sample = {"kind": "peer", "arm": "product", "documents": 3, "units": 3, "round": 0, "per_minute": 9.0,
              "cpu_ms": {"workers": 1}}  # fmt: skip
    assert page.QUICK_LOOK in "\n".join(page.peers([{"load": 1.0}, sample]))
    assert page.QUICK_LOOK not in "\n".join(page.peers([{"load": 1.0}, *[sample] * 16]))
