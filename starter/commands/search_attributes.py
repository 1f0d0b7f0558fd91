"""IO: creates the search attributes, idempotently."""

from __future__ import annotations

import asyncio

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest

from cutter.settings import Settings, load
from starter.console.terminal import Json, show, table
from temporal.client import connect
from temporal.names import SEARCH_ATTRIBUTES

_KINDS = {
    "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "Int": IndexedValueType.INDEXED_VALUE_TYPE_INT,
    "Datetime": IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
}


def ensure(settings: Settings) -> None:
    """Create the missing search attributes. Repeating this is harmless."""
    asyncio.run(_ensure(settings))


async def _ensure(settings: Settings) -> None:
    client = await connect(settings)
    wanted = {key.name: _kind(key.indexed_value_type.name) for key in SEARCH_ATTRIBUTES}
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    missing = {name: kind for name, kind in wanted.items() if name not in listed.custom_attributes}
    if missing:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
        )


def _kind(name: str) -> IndexedValueType.ValueType:
    return _KINDS[name.title().replace("_", "")]


def search_attributes(as_json: Json = False) -> None:
    """Create the missing search attributes for the filters of the Web UI.

    Example: cutter search-attributes
    """
    ensure(load())
    names = [key.name for key in SEARCH_ATTRIBUTES]
    show(
        {"search_attributes": names},
        as_json=as_json,
        render=lambda out: out.print(table(("name",), [(n,) for n in names])),
    )
