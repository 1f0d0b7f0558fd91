"""Pure: renders a batch for people in the Web UI: Markdown details and the answer of the query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cutter.batch.batch_step import QUEUES
from cutter.batch.item import Outcome, Stage
from cutter.domain.visible import visible
from cutter.messages import BatchStep
from workflows.run_display import entry, plain

STAGES = tuple(stage.value for stage in Stage)
OUTCOMES = tuple(outcome.value for outcome in Outcome)


@dataclass(slots=True, kw_only=True)
class BatchDisplay:
    """The data that a batch shows. The workflow keeps it, and the functions of this module render it."""

    batch_id: str
    steering: BatchStep = field(default_factory=lambda: BatchStep(state="batch_pending", seen=""))
    outage: str = ""
    answers: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a line, and keep only the newest ones."""
        self.answers = [*self.answers, text][-10:]


def details(display: BatchDisplay) -> str:
    """The current details. They use only headings, lists and code fences: the Web UI drops images and HTML."""
    step = display.steering
    flag = " · partial" if step.partial else ""
    mode = f" · {step.mode}" if step.mode not in ("", "live") else ""
    lines = [f"### {plain(display.batch_id)} · {plain(step.state)}{flag}{mode}", ""]
    documents = sum(step.totals.get(name, 0) for name in STAGES)
    if documents:
        lines.append(f"- documents: {documents}, one row each: `cutter status {plain(display.batch_id)}`")
    for title, names in (("stage", STAGES), ("outcome", OUTCOMES), ("queue", QUEUES)):
        counts = [f"{name} {step.totals[name]}" for name in names if step.totals.get(name)]
        if counts:
            lines.append(f"- {title}: {' · '.join(counts)}")
    for title, kb_id in (("overview", step.overview), ("report", step.report)):
        if kb_id:
            lines.append(f"- {title}: `{plain(kb_id)}`")
    if step.note:
        lines.append(f"- {entry(step.note)}")
    if display.outage:
        lines += ["", f"**{plain(display.outage)}**"]
    if step.next_command:
        lines += ["", "#### What to do", "", "```", visible(step.next_command.replace("`", "'")), "```"]
    if display.answers:
        lines += ["", "#### Messages", "", *(f"- {entry(answer)}" for answer in display.answers)]
    return "\n".join(lines)


def status(display: BatchDisplay) -> dict[str, Any]:
    """Answer of the query `status`."""
    step = display.steering
    return {
        "batch_id": display.batch_id,
        "state": step.state,
        "partial": step.partial,
        "mode": step.mode,
        "awaits": step.gate or None,
        "totals": step.totals,
        "overview": step.overview,
        "report": step.report,
        "outage": display.outage,
        "note": step.note,
        "next_command": step.next_command,
        "messages": display.answers,
    }
