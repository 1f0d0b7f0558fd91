"""Pages and documents about a run hold of others' texts what a reader can see, and nothing that is active."""

from __future__ import annotations

from typing import Any

import pytest

from cutter.domain.run_record import RunSidecar
from cutter.projections import report, state_file
from cutter.projections.run_view import ShownRefusal, run_view
from cutter.projections.stop_route import StopRoute
from cutter.projections.stop_route import render as render_stop
from tests.support.hostile import STRINGS, bare_addresses, leaks, live, shape
from tests.unit.evidence import sidecars as made

BODY = "harmless"


def stopped(text: str) -> dict[str, Any]:
    """A stopped run with that text wherever somebody else writes."""
    error = {"reason": text, "report": {"violations": [{"name": text, "observed": text}]}}
    sidecar = made.sidecar("stopped_stop", gates=made.through("IG_mark"), last_error=error)
    sidecar["run"] |= {"starter": text, "caps": {}}
    sidecar["latch"] = {"stopped": True, "kind": "stop", "reason": text, "set_by": text, "set_at": made.at(1)}
    sidecar["attempts"].append(made.attempt(3, n=2, outcome="unavailable", reason=text))
    for receipt in sidecar["receipts"]:
        receipt["result"]["notes"] = [text]
        receipt["result"]["invariants"][0] |= {"name": text, "observed": text, "expected": text}
        receipt["result"]["pins"] = {"pin": text}
    return sidecar


def stop_route(text: str) -> str:
    sidecar = stopped(text)
    return render_stop(StopRoute(
        sidecar=RunSidecar.of(sidecar), gate=text, reason=text, kb_id="knowledge/dev/stop.md", number=1,
        deployment_id="0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b",
    ))  # fmt: skip


def phases(text: str) -> str:
    sidecar = stopped(text)
    run_sidecar = RunSidecar.of(sidecar)
    return state_file.render_gate(run_sidecar.run, run_sidecar.receipts[0]).decode()


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_the_page_of_a_run_shows_hidden_characters_by_their_codes(text: str) -> None:
    view = run_view(
        RunSidecar.of(stopped(text)), [ShownRefusal(at=made.at(10), what=text, gate=text, code=text, reason=text)]
    )
    page = report.render(view).decode()
    assert leaks(page) == []
    assert all(f"⟨{code}⟩" in page for code in leaks(text))


@pytest.mark.parametrize("document", [stop_route, phases])
@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_no_text_of_others_is_active_or_hidden_in_a_report(text: str, document: Any) -> None:
    shown = document(text)
    assert leaks(shown) == []
    assert live(shown) == []
    assert bare_addresses(shown.split("\n")) == []
    kinds = [kind for kind in shape(shown) if kind != "code_inline"]
    assert kinds == [kind for kind in shape(document(BODY)) if kind != "code_inline"]
