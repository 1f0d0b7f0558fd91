"""Pure: the stop-route report (SG_3, seed 000 §3): the reason of a stop, and every remedy, ready to type or sign.

If only a signature continues the run, the report has the statement to sign and the commands for a shell, gpg and
temporal, in the words of a request document. The `cutter` command does the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cutter import limits
from cutter.approvals import schema, statement
from cutter.catalogue import Sovereign
from cutter.domain.markdown import cell, fenced, json_block, prose
from cutter.domain.next_step import Needs, Step, next_step
from cutter.domain.run_record import RunSidecar
from cutter.domain.run_state import RunState
from cutter.projections.state_file import state_json

_SIGNED = {
    Needs.SIGNED_RESUME: (schema.RESUME, "resume_stopped"),
    Needs.SIGNED_VOID: (schema.RESUME, "resume_stopped"),
    Needs.SIGNED_ACKNOWLEDGEMENT: (schema.ACKNOWLEDGE_DRIFT, "acknowledge_drift"),
}
"""For each need of a run that a signature meets: the signed decision, and the signal that delivers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRoute:
    """A stop or failure to report.

    `deployment_id` is None if no approver policy is installed, so that nobody can sign.
    """

    sidecar: RunSidecar
    gate: str
    reason: str
    kb_id: str
    number: int
    deployment_id: str | None

    @property
    def step(self) -> Step:
        return next_step(self.sidecar.step_facts)


def render(route: StopRoute, triage: str = "") -> str:
    """The report as Markdown. The same stop gives the same text.

    If the batch has quarantined the run, `triage` has the sections that help people to decide. They replace the
    sections of commands and evidence, so that the document has each fact once.
    """
    sidecar = _dump("Sidecar", state_json(route.sidecar))
    if triage:
        return "\n".join([*_head(route, "STOP quarantine"), triage, *_by_hand(route), *sidecar])
    first = [f"First: {route.step.first}. Then:", ""] if route.step.first else []
    way_on = ["## What to do next", "", *first, *fenced(route.step.commands)]
    evidence = _dump("Evidence", route.sidecar.run.last_error)
    return "\n".join([*_head(route, "stop route"), *way_on, *_by_hand(route), *evidence, *sidecar])


def _head(route: StopRoute, title: str) -> Iterator[str]:
    run = route.sidecar.run
    yield f"# {run.document_id} · {title}"
    yield ""
    yield f"run_id: {run.run_id}  "
    yield f"state: {run.state}  "
    if code := RunState(run.state).stop_code:
        yield f"code: {code}  "
    yield f"gate: {prose(route.gate or 'none')}  "
    yield f"reason: {cell(route.reason)}"
    yield ""


def _by_hand(route: StopRoute) -> Iterator[str]:
    run = route.sidecar.run
    if route.step.needs is Needs.RESUME:
        yield "## To continue by hand"
        yield ""
        yield "No signature is needed (`temporal` finds its server by `TEMPORAL_ADDRESS`, see `cutter up`):"
        yield ""
        yield "```sh"
        yield f"temporal workflow signal --workflow-id document/{run.document_id} --name resume_stopped"
        yield "```"
        yield ""
    if route.step.needs in _SIGNED and route.deployment_id is not None:
        decision, signal = _SIGNED[route.step.needs]
        yield from _to_sign(route, decision, signal, route.deployment_id)


def _to_sign(route: StopRoute, decision: str, signal: str, deployment_id: str) -> Iterator[str]:
    run = route.sidecar.run
    gate = Sovereign.LIFECYCLE if route.sidecar.step_facts.wrote else Sovereign.CUT
    # The store is write-once, so the orders of two stops, or of two people, must have different names.
    kb_id = f"{route.kb_id.rpartition('/')[0]}/SG3-{decision.replace('_', '-')}-{route.number}-by-hand.md"
    name = kb_id.rpartition("/")[2]
    known = {
        "deployment_id": deployment_id,
        "run_id": run.run_id,
        "document_id": run.document_id,
        "stopped_state": run.state,
        "fingerprint": (run.error.get("report") or {}).get("fingerprint"),
        "reason": statement.FILL_REASON,
    }
    yield "## To continue by hand"
    yield ""
    yield f"1. Save the text below as `{name}`:"
    yield ""
    yield "```yaml"
    yield from statement.front_matter(decision, schema.RUN, gate.value, known)
    yield "```"
    yield ""
    yield "2. Replace the four FILL_IN words. `approver` is your name in approvers.yaml; set it and the reason first,"
    yield "   which is one line of plain words:"
    yield ""
    cap = run.caps.get("ttl_lifecycle_seconds" if gate is Sovereign.LIFECYCLE else "ttl_cut_seconds")
    life = min(limits.ORDER_LIFE_SECONDS, int(cap or limits.ORDER_LIFE_SECONDS))
    yield from statement.fill_in(name, life, (statement.FILL_REASON, "$WHY"), given='WHY="say why"')
    yield from statement.sign_and_put(kb_id, beside="this report")
    yield from statement.tell(run.document_id, run.run_id, signal, kb_id)


def _dump(title: str, value: Any) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from json_block(value)
