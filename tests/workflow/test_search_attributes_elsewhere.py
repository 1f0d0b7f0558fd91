"""A server that does not let cutter manage search attributes, as Temporal Cloud: commands and the preflight."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from cutter.errors import Refused
from cutter.preflight.checks import Host, Verdict
from cutter.settings import Settings
from starter import cli
from starter.commands import reconcile
from starter.console.terminal import ExitCode
from temporal.names import SEARCH_ATTRIBUTE_TYPES, SEARCH_ATTRIBUTES
from temporal.preflight import preflight
from tests.support import grpc_front
from tests.support.grpc_front import OPERATOR_SERVICE, UNAUTHORIZED
from tests.support.stack import Stack

NO_CHANGE = {f"{OPERATOR_SERVICE}/AddSearchAttributes": grpc.StatusCode.PERMISSION_DENIED}
STATUSES = [grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNIMPLEMENTED]
CLUSTER = "temporal.api.workflowservice.v1.WorkflowService/GetClusterInfo"
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "temporal-cloud.md"


@pytest.fixture(params=STATUSES, ids=lambda status: status.name)
def elsewhere(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Settings]:
    """Settings of a deployment whose Temporal has no operator service."""
    with grpc_front.front(str(stack.settings.temporal_address), {OPERATOR_SERVICE: request.param}) as address:
        yield stack.settings.model_copy(update={"temporal_address": address})


async def test_the_command_names_every_attribute_with_its_type_and_the_guide(elsewhere: Settings) -> None:
    with pytest.raises(Refused) as refusal:
        await asyncio.to_thread(reconcile.ensure_attributes, elsewhere)
    assert refusal.value.code == "not_by_cutter"
    message = str(refusal.value)
    assert UNAUTHORIZED in message
    assert "tcld namespace search-attributes add --namespace default" in message
    assert "docs/guides/temporal-cloud.md" in message
    for name, kind in SEARCH_ATTRIBUTE_TYPES.items():
        assert f" --search-attribute {name}={kind}" in message


async def test_the_command_that_makes_the_schedule_says_it_and_goes_on(
    elsewhere: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUTTER_STATE_DIR", str(elsewhere.state))
    monkeypatch.setenv("CUTTER_TEMPORAL_ADDRESS", str(elsewhere.temporal_address))
    assert await asyncio.to_thread(cli.run, ["reconcile", "--every", "10", "--json"]) == ExitCode.DONE
    printed = capsys.readouterr()
    assert json.loads(printed.out)["every_minutes"] == 10
    assert "CutterProgress=Keyword" in printed.err
    assert await asyncio.to_thread(cli.run, ["reconcile", "--every", "0"]) == ExitCode.DONE


async def test_a_start_says_it_and_goes_on(elsewhere: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """`cutter up` cannot know whether the attributes are there, and they usually are."""
    await asyncio.to_thread(reconcile.ensure_attributes_or_say, elsewhere)
    assert "CutterProgress=Keyword" in capsys.readouterr().err


async def test_nothing_is_asked_for_if_the_server_lists_all_of_them(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list is shown, and only the change is refused."""
    with grpc_front.front(str(stack.settings.temporal_address), NO_CHANGE) as address:
        settings = stack.settings.model_copy(update={"temporal_address": address})
        await asyncio.to_thread(reconcile.ensure_attributes, settings)
        await asyncio.to_thread(reconcile.ensure_attributes_or_say, settings)
    assert capsys.readouterr().err == ""


async def test_no_start_goes_on_without_attributes_that_are_known_to_be_missing(stack: Stack) -> None:
    """Here the list is empty, because the namespace is that of Temporal itself."""
    with grpc_front.front(str(stack.settings.temporal_address), NO_CHANGE) as address:
        settings = stack.settings.model_copy(
            update={"temporal_address": address, "temporal_namespace": "temporal-system"}
        )
        with pytest.raises(Refused) as refusal:
            await asyncio.to_thread(reconcile.ensure_attributes_or_say, settings)
    assert refusal.value.code == "may_not_create"
    assert "temporal operator search-attribute create --namespace temporal-system --name Cutter" in str(refusal.value)


async def test_the_preflight_warns_and_keeps_no_worker_from_serving(elsewhere: Settings) -> None:
    checks = {check.name: check for check in await asyncio.to_thread(preflight, elsewhere, frozenset({Host.OPERATOR}))}
    warning = checks["search attributes"]
    assert (warning.verdict, warning.failed) == (Verdict.OPTIONAL, False)
    assert warning.found.endswith("so nobody knows here if one is missing")
    assert "docs/guides/temporal-cloud.md" in warning.remedy
    assert [checks[name].verdict for name in ("temporal", "namespace", "temporal version")] == [Verdict.OK] * 3


@pytest.mark.parametrize("refused", [{CLUSTER: grpc.StatusCode.PERMISSION_DENIED}, {}], ids=["refuses", "is silent"])
async def test_a_server_that_does_not_tell_its_version_is_no_old_server(
    stack: Stack, refused: dict[str, grpc.StatusCode]
) -> None:
    with grpc_front.front(str(stack.settings.temporal_address), refused, empty={CLUSTER}) as address:
        settings = stack.settings.model_copy(update={"temporal_address": address})
        checks = await asyncio.to_thread(preflight, settings, frozenset({Host.OPERATOR}))
    assert next(check for check in checks if check.name == "temporal version").verdict is Verdict.OPTIONAL


def test_the_guide_has_the_command_with_every_attribute() -> None:
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    given = [line.strip(" \\").removeprefix("--search-attribute ") for line in lines if "--search-attribute " in line]
    assert given == [f"{name}={kind}" for name, kind in SEARCH_ATTRIBUTE_TYPES.items()]
    assert len(given) == len(SEARCH_ATTRIBUTES)
