"""The preflight on a real Temporal server: namespace, attributes, TLS, and a worker that waits until it passes."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.service import RPCError

from cutter.catalogue import Role, WorkerRole
from cutter.errors import Refused
from cutter.preflight.checks import Check, Host, Verdict
from cutter.projections.run_view import ShownRun
from cutter.settings import Settings
from cutter.stack import addresses
from cutter.storage.pools import session
from starter.commands import doctor, reconcile
from starter.operator import inbox_entries, run_status
from temporal.preflight import preflight
from tests.support import tls
from tests.support.policies import put_in_force
from tests.support.stack import Stack
from tests.support.temporal import until
from tests.support.worker_process import is_ready, probe, said, worker_process

OPERATOR_ONLY = frozenset({Host.OPERATOR})


async def looked(settings: Settings, hosts: frozenset[Host] = OPERATOR_ONLY) -> dict[str, Check]:
    return {check.name: check for check in await asyncio.to_thread(preflight, settings, hosts)}


async def namespace(stack: Stack) -> Settings:
    """Settings that name a new namespace of the server."""
    name = f"n-{uuid4().hex[:8]}"
    day = Duration(seconds=86_400)
    await stack.client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=day)
    )
    made = stack.settings.model_dump() | {"temporal_namespace": name}
    return Settings(**made)


async def test_a_deployment_that_is_whole_passes_on_each_host(stack: Stack) -> None:
    put_in_force(stack.settings)
    for hosts in (OPERATOR_ONLY, frozenset({Host.CUTTER, Host.EXEC, Host.VERIFY})):
        checks = await looked(stack.settings, hosts)
        assert [check for check in checks.values() if check.verdict is not Verdict.OK] == []
    shown = await asyncio.to_thread(doctor.all_checks, stack.settings, OPERATOR_ONLY)
    assert {"git", "make", "go", "worker-exec", "keys"} & {check.name for check in shown} == set()
    assert {check.name for check in shown} >= {"workers", "lanes", "database guards", "search attributes"}
    assert [check for check in shown if check.failed] == []


async def test_a_namespace_without_our_attributes_fails_until_the_command_was_typed(stack: Stack) -> None:
    settings = await namespace(stack)

    failed = (await looked(settings))["search attributes"]
    for _ in range(50):
        failed = (await looked(settings))["search attributes"]
        if "lacks" in failed.found:
            break
        await asyncio.sleep(0.2)
    assert (failed.verdict, failed.remedy) == (Verdict.BAD, "cutter reconcile --every 10")
    assert "CutterState" in failed.found
    await asyncio.to_thread(reconcile.ensure_attributes, settings)
    for _ in range(50):
        if (await looked(settings))["search attributes"].verdict is Verdict.OK:
            return
        await asyncio.sleep(0.2)
    raise AssertionError(await looked(settings))


async def test_a_namespace_without_room_is_named_with_the_command_that_makes_room(stack: Stack) -> None:
    settings = await namespace(stack)
    integers = dict.fromkeys(("Theirs1", "Theirs2", "Theirs3"), IndexedValueType.INDEXED_VALUE_TYPE_INT)
    given = AddSearchAttributesRequest(namespace=settings.temporal_namespace, search_attributes=integers)

    async def added() -> bool:
        try:
            await stack.client.operator_service.add_search_attributes(given)
        except RPCError:
            return False  # The namespace is not everywhere yet.
        return True

    await until(added, seconds=20)
    with pytest.raises(Refused, match="search-attribute remove") as refusal:
        await asyncio.to_thread(reconcile.ensure_attributes, settings)
    assert "does not answer" not in str(refusal.value)


async def test_an_unknown_namespace_and_two_names_for_it_fail(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(**stack.settings.model_dump() | {"temporal_namespace": "elsewhere"})
    failed = (await looked(settings))["namespace"]
    assert failed.failed
    assert "temporal operator namespace create --namespace elsewhere" in failed.remedy
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "default")
    failed = (await looked(settings))["namespace"]
    assert failed.found == "Temporal's profile names default, and CUTTER_TEMPORAL_NAMESPACE names elsewhere"


async def test_a_server_that_demands_a_client_certificate(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tls.certificate(tmp_path)
    (tmp_path / "client").mkdir()
    ours = tls.certificate(tmp_path / "client", "client")
    host, _, port = (stack.settings.temporal_address or "").rpartition(":")
    with tls.front((host, int(port)), own, clients=ours) as front:
        settings = stack.settings.model_copy(update={"temporal_address": f"localhost:{front}"})
        monkeypatch.setenv("TEMPORAL_TLS_SERVER_CA_CERT_PATH", str(own.root))
        refused = (await looked(settings))["temporal"]
        assert refused.failed
        assert "TEMPORAL_TLS_CLIENT_CERT_PATH" in refused.remedy
        monkeypatch.setenv("TEMPORAL_TLS_CLIENT_CERT_PATH", str(ours.certificate))
        monkeypatch.setenv("TEMPORAL_TLS_CLIENT_KEY_PATH", str(ours.key))
        checks = await looked(settings)
        assert (checks["temporal"].verdict, checks["temporal tls"].verdict) == (Verdict.OK, Verdict.OK)
        assert checks["temporal tls"].found.startswith("encrypted")
        monkeypatch.setenv("TEMPORAL_TLS_CLIENT_KEY_PATH", str(tmp_path / "missing.key"))
        assert "missing.key" in (await looked(settings))["temporal"].found


async def test_a_worker_waits_with_its_reason_everywhere_and_serves_after_the_repair(stack: Stack) -> None:
    obstacle = stack.settings.state / "not-a-folder"
    obstacle.write_text("x")
    run = await stack.start()
    port = addresses.free()
    async with worker_process(
        stack, WorkerRole.CUTTER, CUTTER_KB_URL=(obstacle / "kb").as_uri(), CUTTER_HEALTH_PORT=str(port)
    ) as process:
        blocked = await said(process, "worker.blocked")
        assert (blocked["check"], "CUTTER_KB_URL" in blocked["remedy"]) == ("knowledge base", True)
        assert await probe(port, "/healthz") == 200
        assert await probe(port, "/readyz") == 503
        view = await _blocked_view(stack, run.run_id)
        assert "knowledge base" in view.blocked
        assert view.needs.startswith("a repaired host")
        with session(stack.settings, Role.OPERATOR) as connection:
            shown = inbox_entries.blocked(connection)
        assert [repair.reason for repair in shown] == [view.blocked]
        workers = await asyncio.to_thread(doctor.all_checks, stack.settings, OPERATOR_ONLY)
        assert next(worker for worker in workers if worker.name == "workers").failed
        obstacle.unlink()
        await said(process, "worker.ready")
        await until(partial(is_ready, port), what="the worker is ready")
        assert await _is_free(stack, run.run_id)


async def _blocked_view(stack: Stack, run_id: str) -> ShownRun:
    for _ in range(100):
        with session(stack.settings, Role.OPERATOR) as connection:
            view = run_status.view_of(stack.settings, connection, run_id)
        if view.blocked:
            return view
        await asyncio.sleep(0.1)
    raise AssertionError(view)


async def _is_free(stack: Stack, run_id: str) -> bool:
    with session(stack.settings, Role.OPERATOR) as connection:
        return run_status.view_of(stack.settings, connection, run_id).blocked is None
