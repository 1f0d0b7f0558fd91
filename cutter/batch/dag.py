"""Pure: draws the dependencies of a batch (dag.mmd) and gives its order as data (plan.json) (seed 004 "planned →
ready").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cutter.batch.item import Item
from cutter.batch.plan import order

SCHEMA_VERSION = 1


def dag_mermaid(items: Sequence[Item]) -> str:
    """The content of dag.mmd. An arrow leads from each document to the documents that wait for it.

    Critical documents have a thick border.
    """
    nodes = {item.document_id: f"d{item.position}" for item in items}
    lines = ["flowchart LR"]
    lines += [f'    {nodes[item.document_id]}["{item.document_id}"]' for item in items]
    lines += [
        f"    {nodes[need]} --> {nodes[item.document_id]}"
        for item in items
        for need in item.depends_on
        if need in nodes
    ]
    critical = [nodes[item.document_id] for item in items if item.critical]
    if critical:
        lines += ["    classDef critical stroke-width:4px", f"    class {','.join(critical)} critical"]
    return "\n".join([*lines, ""])


def execution_plan(items: Sequence[Item], *, weights: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The content of plan.json: the documents in waves, in the order in which they would begin, and the documents that
    do not begin.
    """
    by_id = {item.document_id: item for item in items}
    places = order(items, weights=weights)
    waves: list[list[dict[str, Any]]] = [[] for _ in range(max((place.wave for place in places), default=0))]
    for place in places:
        if place.number:
            item = by_id[place.document_id]
            waves[place.wave - 1].append(
                {
                    "order": place.number,
                    "document_id": item.document_id,
                    "priority": item.priority,
                    "tenant": item.tenant,
                    "critical": item.critical,
                    "depends_on": list(item.depends_on),
                    "reason": place.reason,
                }
            )
    return {
        "schema_version": SCHEMA_VERSION,
        "documents": len(items),
        "waves": [{"wave": number, "items": members} for number, members in enumerate(waves, start=1)],
        "not_begun": [
            {"document_id": place.document_id, "reason": place.reason} for place in places if not place.number
        ],
    }
