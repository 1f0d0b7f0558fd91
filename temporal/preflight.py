"""IO: makes the checks of a host: those of Temporal here, and those of `cutter.preflight`, in one list.

A check only looks. The stores are written, and the written object is removed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection
from datetime import timedelta

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetClusterInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from cutter import limits, versions
from cutter.catalogue import Role
from cutter.errors import CutterError
from cutter.preflight import checks, database, files
from cutter.preflight.checks import Check, Description, Host, Probe, bad, ok, unseen, warned
from cutter.settings import Settings
from cutter.stack import supervisor
from temporal.client import connect, profile
from temporal.names import SEARCH_ATTRIBUTES

ADDRESS = "CUTTER_TEMPORAL_ADDRESS"
SEARCH_ATTRIBUTES_BY = f"cutter reconcile --every {limits.RECONCILE_MINUTES}"
TLS_SETTINGS = "TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
OF_SERVER = (checks.TEMPORAL_TLS, checks.TEMPORAL_VERSION, checks.NAMESPACE, checks.SEARCH_ATTRIBUTES)
_WAIT = timedelta(seconds=limits.CONNECT_SECONDS)


def preflight(settings: Settings, hosts: frozenset[Host], without: Collection[Description] = ()) -> list[Check]:
    """Every check of servers and files that these hosts need. It never raises. `checks.made` explains `without`."""
    who = "-".join(sorted(hosts))
    probes: tuple[tuple[Description, Probe], ...] = (
        (checks.DATABASE, lambda: database.probe(settings, hosts)),
        (checks.TEMPORAL, lambda: asyncio.run(_of_temporal(settings, hosts))),
        (checks.KNOWLEDGE_BASE, lambda: [files.stored(settings, checks.KNOWLEDGE_BASE, who)]),
        (checks.ARTIFACT_STORE, lambda: [files.stored(settings, checks.ARTIFACT_STORE, who)]),
        (checks.APPROVERS, lambda: [files.approvers(settings, hosts)]),
        (checks.KEY, lambda: files.keys(settings, hosts)),
        (checks.FOLDERS, lambda: [files.writable(settings, hosts)]),
        (checks.GPG, lambda: [files.gpg()]),
        (checks.RESTORE_POINTS, lambda: [database.restore_points(settings)]),
    )
    return checks.made(probes, hosts, without)


async def _of_temporal(settings: Settings, hosts: frozenset[Host]) -> list[Check]:
    try:
        client = await asyncio.wait_for(connect(settings), limits.PREFLIGHT_CONNECT_SECONDS)
    except (CutterError, TimeoutError) as problem:
        reason = str(problem) or f"no answer within {limits.PREFLIGHT_CONNECT_SECONDS} seconds"
        local = settings.temporal_address is None and not os.environ.get("TEMPORAL_ADDRESS")
        remedy = "cutter up" if local else f"start the server, or correct {ADDRESS}; for TLS, set {TLS_SETTINGS}"
        hidden = [description for description in OF_SERVER if description.hosts & hosts]
        unknown = [unseen(description, "Temporal does not answer") for description in hidden]
        return [bad(checks.TEMPORAL, reason, remedy), *unknown]
    config = client.service_client.config
    host = config.target_host.rpartition(":")[0].strip("[]")
    if config.tls:
        wire = ok(checks.TEMPORAL_TLS, "encrypted, and the server's certificate is verified")
    elif host in database.LOOPBACK:
        wire = ok(checks.TEMPORAL_TLS, "the server is on this machine")
    else:
        wire = warned(checks.TEMPORAL_TLS, f"the connection to {host} is not encrypted", f"set {TLS_SETTINGS}")
    results = [ok(checks.TEMPORAL, config.target_host), wire, await _version(client)]
    named = await _namespace(settings, client)
    results.append(named)
    if checks.SEARCH_ATTRIBUTES.hosts & hosts:
        lacking = unseen(checks.SEARCH_ATTRIBUTES, "the namespace is not there")
        results.append(lacking if named.failed else await _search_attributes(client))
    return results


async def _version(client: Client) -> Check:
    try:
        cluster = await client.workflow_service.get_cluster_info(GetClusterInfoRequest(), timeout=_WAIT)
    except RPCError as problem:
        return warned(checks.TEMPORAL_VERSION, f"the server does not tell it ({problem.message})", "ask its operator")
    if not cluster.server_version:
        return warned(checks.TEMPORAL_VERSION, "the server does not tell it", "ask its operator")
    version = tuple(int(part) for part in cluster.server_version.partition("-")[0].split(".") if part.isdigit())
    refusal = versions.too_old("Temporal", version, versions.TEMPORAL_MIN)
    if refusal is not None:
        return bad(checks.TEMPORAL_VERSION, refusal, f"upgrade the server, or point {ADDRESS} at another")
    if versions.is_untested(version, versions.TEMPORAL_TESTED):
        tested = versions.text(versions.TEMPORAL_TESTED)
        return warned(checks.TEMPORAL_VERSION, f"Temporal {cluster.server_version}", f"cutter is tested up to {tested}")
    return ok(checks.TEMPORAL_VERSION, f"Temporal {cluster.server_version}")


async def _namespace(settings: Settings, client: Client) -> Check:
    other = profile(settings).get("namespace")
    if "temporal_namespace" in settings.model_fields_set and other != settings.temporal_namespace:
        sentence = (
            f"Temporal's profile names {other}, and CUTTER_TEMPORAL_NAMESPACE names {settings.temporal_namespace}"
        )
        return bad(checks.NAMESPACE, sentence, "set both the same, or unset TEMPORAL_NAMESPACE")
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace), timeout=_WAIT
        )
    except RPCError as problem:
        server = client.service_client.config.target_host
        words = f"--namespace {client.namespace} --retention 720h --address {server}"
        make = f"`temporal operator namespace create {words}`"
        if problem.status is RPCStatusCode.NOT_FOUND:
            return bad(checks.NAMESPACE, f"the server has no namespace {client.namespace}", make)
        return bad(checks.NAMESPACE, f"{client.namespace}: {problem.message}", "let this account use the namespace")
    return ok(checks.NAMESPACE, client.namespace)


async def _search_attributes(client: Client) -> Check:
    try:
        listed = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace), timeout=_WAIT
        )
    except RPCError as problem:
        # Temporal Cloud shows them only to its own tools.
        sentence = f"the server does not list them ({problem.message}), so nobody knows here if one is missing"
        return warned(checks.SEARCH_ATTRIBUTES, sentence, "compare them as docs/guides/temporal-cloud.md says")
    wanted = {key.name: int(key.indexed_value_type) for key in SEARCH_ATTRIBUTES}
    missing = sorted(name for name in wanted if name not in listed.custom_attributes)
    if missing:
        sentence = f"{client.namespace} lacks {', '.join(missing)}"
        return bad(checks.SEARCH_ATTRIBUTES, sentence, SEARCH_ATTRIBUTES_BY)
    for name, kind in listed.custom_attributes.items():
        if wanted.get(name, kind) != kind:
            has = IndexedValueType.Name(kind).removeprefix("INDEXED_VALUE_TYPE_").title()
            remove = f"`temporal operator search-attribute remove --name {name}`"
            remedy = f"type {remove}, then `{SEARCH_ATTRIBUTES_BY}`"
            return bad(checks.SEARCH_ATTRIBUTES, f"{name} has the type {has}", remedy)
    return ok(checks.SEARCH_ATTRIBUTES, f"{len(wanted)} in {client.namespace}")


def hosts_of(settings: Settings) -> frozenset[Host]:
    """The tasks of this machine, by the passwords that it has.

    A machine without passwords may run the local stack, and one with a process of `cutter up` does. If its database is
    elsewhere, it lacks at least the operator's password.
    """

    def there(role: Role) -> bool:
        return (settings.secrets / f"{role}.password").exists()

    has = {host for host, roles in checks.ROLES.items() if any(map(there, roles))}
    if not has:
        return frozenset({Host.LOCAL} if settings.database_url is None else {Host.LOCAL, Host.OPERATOR})
    local = settings.database_url is None or bool(supervisor.read(settings.state))
    return frozenset(has | ({Host.LOCAL} if local else set()))
