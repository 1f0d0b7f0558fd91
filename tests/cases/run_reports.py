"""Pure: views of runs with their laws, for tests of reports: closed, waiting, and halted in every way."""

from __future__ import annotations

from typing import Any

from cutter.domain.run_record import RunSidecar
from cutter.marking import Options
from cutter.projections.report import SEALED, PinnedLaw
from cutter.projections.run_view import ShownRun, run_view
from cutter.request_view.view import RequestView
from cutter.types import Json
from tests.cases import request_views
from tests.support.laws import law as made_law
from tests.unit.evidence import sidecars as made

SIGNED = "2026-11-21T09:00:25Z"


def law_of(shown: RequestView, *, held: dict[str, int] | None = None) -> PinnedLaw:
    """The law of a run that pinned the text of that view."""
    return PinnedLaw(view=shown, title=shown.title, held=held or {})


def sealed(sidecar: Json, shown: RequestView) -> Json:
    """The same run whose second gate has sealed the digests of that view."""
    if len(sidecar["receipts"]) > 1:
        pins = {name: getattr(shown.digests, name) for name in SEALED}
        sidecar["receipts"][1]["result"]["pins"] = {**pins, "candidate_count": len(shown.units)}
    return sidecar


def closed(shown: RequestView) -> ShownRun:
    """The view of a run that enacted the law: two requests, two signatures, one retry."""
    sidecar = sealed(made.sidecar("closeout_reported", gates=made.through("IG_closeout"), ended_at=made.at(59)), shown)
    for number, gate in ((1, "SG_cut_authz"), (2, "SG_lifecycle_authz")):
        digest = f"{number}" * 64
        verdict = {**made.verdict(), "gate": gate, "approver": f"approver-{number}", "approval_sha256": digest}
        sidecar["verdicts"].append({**verdict, "statement": {"signed_utc": SIGNED}})
        sidecar["requests"].append({**made.request("approved"), "gate": gate})
        sidecar["consumptions"].append({**made.consumption(), "approval_sha256": digest, "gate": gate})
    sidecar["attempts"].append(made.attempt(4, n=2, outcome="unavailable", reason="kb: away"))
    return run_view(RunSidecar.of(sidecar))


def five() -> tuple[ShownRun, PinnedLaw]:
    """The closed run of a law of five units."""
    shown = request_views.view(made_law(5, title="Act on Public Reading Rooms"), Options())
    return closed(shown), law_of(shown, held={"enacted": 5})


def halted(state: str, **run: Any) -> tuple[ShownRun, PinnedLaw]:
    """A run of the law with findings that ended or stopped in that state, with a reason; `gates` are sealed before."""
    shown = request_views.view()
    gates = run.pop("gates", 2)
    sidecar = sealed(made.sidecar(state, gates=gates, last_error={"reason": "because of this"}, **run), shown)
    sidecar["attempts"].append(made.attempt(gates + 1, outcome="failed"))
    return run_view(RunSidecar.of(sidecar)), law_of(shown)
