"""What a person reads after a signed order was handed over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import typer

from starter.commands import approve as approvals
from temporal.runs import OrderReply

RUN = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
BATCH = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"


def of_run(answer: dict[str, Any]) -> None:
    approvals._show(RUN, "approve", "knowledge/a.md", OrderReply(**answer), as_json=False)


def of_set(answer: dict[str, Any]) -> None:
    approvals._show_set({"batch_id": BATCH, **answer}, as_json=False)


@pytest.mark.parametrize(("show", "name"), [(of_run, RUN), (of_set, BATCH)])
def test_a_refused_order_names_the_command_that_explains_it(
    show: Callable[[dict[str, Any]], None], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        show({"status": "refused", "code": "decision_not_allowed", "reason": "the run does not wait for it"})
    assert ended.value.exit_code == 4
    assert f"next: cutter status {name}" in capsys.readouterr().out.splitlines()
