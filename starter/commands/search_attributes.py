"""IO: creates the search attributes, idempotently."""

from __future__ import annotations

import asyncio

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.service import RPCError, RPCStatusCode

from cutter.errors import CutterError, Refused
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
        try:
            await client.operator_service.add_search_attributes(
                AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
            )
        except RPCError as problem:
            raise refused(problem, client.namespace) from None


def refused(problem: RPCError, namespace: str) -> CutterError | RPCError:
    """The error if the namespace has no room for the attributes. Another error is returned as it is."""
    if problem.status is not RPCStatusCode.INVALID_ARGUMENT:
        return problem
    return Refused(
        f"the namespace {namespace} has no room for cutter's search attributes ({problem.message}): remove others "
        f"with `temporal operator search-attribute remove --namespace {namespace} --name NAME`, or name another "
        "namespace in CUTTER_TEMPORAL_NAMESPACE",
        code="no_room",
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
