"""IO: creates the search attributes, idempotently, for `cutter up` and `cutter reconcile --every`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.service import RPCError, RPCStatusCode

from cutter.errors import CutterError, Refused
from cutter.settings import Settings
from starter.console.terminal import say
from temporal.client import connect
from temporal.names import SEARCH_ATTRIBUTE_TYPES

NOT_BY_CUTTER = "not_by_cutter"
"""The code of the error if the server shows cutter no search attributes, as Temporal Cloud. They can be there."""

_KINDS = {
    "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "Int": IndexedValueType.INDEXED_VALUE_TYPE_INT,
    "Datetime": IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
}


def ensure(settings: Settings) -> None:
    """Create the missing search attributes. Repeating this is harmless."""
    asyncio.run(_ensure(settings))


def ensure_or_say(settings: Settings) -> None:
    """Create the missing search attributes. If cutter may not, say so: they can be there nevertheless."""
    try:
        ensure(settings)
    except Refused as problem:
        if problem.code != NOT_BY_CUTTER:
            raise
        say(str(problem))


async def _ensure(settings: Settings) -> None:
    client = await connect(settings)
    missing: Mapping[str, str] | None = None
    try:
        listed = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace)
        )
        missing = {name: kind for name, kind in SEARCH_ATTRIBUTE_TYPES.items() if name not in listed.custom_attributes}
        if missing:
            await client.operator_service.add_search_attributes(
                AddSearchAttributesRequest(
                    namespace=client.namespace, search_attributes={name: _KINDS[kind] for name, kind in missing.items()}
                )
            )
    except RPCError as problem:
        raise refused(problem, client.namespace, missing) from None


def refused(problem: RPCError, namespace: str, missing: Mapping[str, str] | None) -> CutterError | RPCError:
    """The error if the namespace has no room for the `missing` attributes, or if cutter may not create them there.

    `missing` is None if the server does not show which there are. Another error is returned as it is.
    """
    if problem.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
        if missing is not None:
            listed = " ".join(f"--name {name} --type {kind}" for name, kind in missing.items())
            return Refused(
                f"the server does not let cutter create search attributes in {namespace} ({problem.message}): ask its "
                f"administrator to type `temporal operator search-attribute create --namespace {namespace} {listed}`",
                code="may_not_create",
            )
        listed = " ".join(f"--search-attribute {name}={kind}" for name, kind in SEARCH_ATTRIBUTE_TYPES.items())
        return Refused(
            f"the server does not let cutter create search attributes in {namespace} ({problem.message}). Create those "
            "that are missing with the tools of the server, on Temporal Cloud with "
            f"`tcld namespace search-attributes add --namespace {namespace} {listed}`: see "
            "docs/guides/temporal-cloud.md",
            code=NOT_BY_CUTTER,
        )
    if problem.status is not RPCStatusCode.INVALID_ARGUMENT:
        return problem
    return Refused(
        f"the namespace {namespace} has no room for cutter's search attributes ({problem.message}): remove others "
        f"with `temporal operator search-attribute remove --namespace {namespace} --name NAME`, or name another "
        "namespace in CUTTER_TEMPORAL_NAMESPACE",
        code="no_room",
    )
