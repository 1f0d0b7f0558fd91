"""Pure: renders a run for people in the Web UI: Markdown details and the answers of the queries. It shows no law
text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cutter.catalogue import GATES
from cutter.domain.markdown import cell, prose
from cutter.domain.visible import visible
from cutter.messages import OpenedRequest


@dataclass(slots=True, kw_only=True)
class RunDisplay:
    """What a run shows. The workflow keeps it, and this module renders it. `note` is a command to type."""

    document_id: str
    run_id: str = ""
    mode: str = ""
    state: str = "pending"
    outcome: str = ""
    gate: str = ""
    note: str = ""
    batch_id: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    passed: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    request: OpenedRequest | None = None
    accepted: dict[str, str] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    retries: list[str] = field(default_factory=list)

    def refuse(self, text: str) -> None:
        """Add a refusal, and keep only the newest ones."""
        self.refusals = [*self.refusals, text][-10:]

    def retry(self, text: str) -> None:
        """Add a retry, and keep only the newest ones."""
        self.retries = [*self.retries, text][-10:]


def details(display: RunDisplay) -> str:
    """The current details. They use only headings, lists and code fences: the Web UI drops images and HTML."""
    lines = [
        f"### {plain(display.document_id)} · {plain(display.state)}",
        "",
        f"run `{plain(display.run_id)}` · {plain(display.mode)}",
        "",
    ]
    for gate in GATES:
        mark = "✓" if gate.name in display.passed else "▶" if gate.name == display.gate else "·"
        tail = f" · {plain(display.passed[gate.name])}" if display.passed.get(gate.name) else ""
        lines.append(f"- {mark} {gate.number} {gate.name}{tail}")
    if display.request is not None:
        request = display.request
        lines += [
            "",
            f"#### {request.gate} waits for {request.approvers_needed} signed approval(s) until {request.expires_utc}",
            "",
            f"- request: `{request.kb_id}`",
            f"- challenge: `{request.challenge}`",
            f"- accepted so far: {', '.join(plain(name) for name in display.accepted) or 'none'}",
            "",
            "```",
            f"cutter approve {display.document_id}",
            f"temporal workflow signal --workflow-id document/{display.document_id} --name submit_approval "
            f"--input '\"{request.approval_kb_id}\"'",
            "```",
        ]
    if display.note:
        lines += ["", "#### What to do", "", "```", visible(display.note.replace("`", "'")), "```"]
    for title, entries in (("Digests", [f"{k} {v}" for k, v in display.facts.items()]), ("Retries", display.retries),
                           ("Refused messages", display.refusals)):  # fmt: skip
        if entries:
            lines += ["", f"#### {title}", "", *(f"- {entry(text)}" for text in entries)]
    return "\n".join(lines)


def status(display: RunDisplay, next_command: str) -> dict[str, Any]:
    """Answer of the query `status`."""
    return {
        "document_id": display.document_id,
        "run_id": display.run_id,
        "mode": display.mode,
        "state": display.state,
        "outcome": display.outcome,
        "gate": display.gate,
        "next_command": next_command,
        "passed": list(display.passed),
        "awaits": display.request.gate if display.request else None,
        "expires_utc": display.request.expires_utc if display.request else None,
        "accepted": display.accepted,
        "facts": display.facts,
        "refusals": display.refusals,
        "retries": display.retries,
    }


def request_view(display: RunDisplay) -> dict[str, Any]:
    """Answer of the query `request`; empty when nothing is awaited."""
    if display.request is None:
        return {}
    return {
        "gate": display.request.gate,
        "kb_id": display.request.kb_id,
        "approval_kb_id": display.request.approval_kb_id,
        "challenge": display.request.challenge,
        "expires_utc": display.request.expires_utc,
        "approvers_needed": display.request.approvers_needed,
        "review_decision_id": display.request.review_decision_id,
        "accepted": display.accepted,
    }


def plain(text: str) -> str:
    """The text, escaped so that Markdown and HTML show it literally."""
    return cell(" ".join(text.split()))


def entry(text: str) -> str:
    """The same for the beginning of a list entry, where more characters have a meaning."""
    return prose(" ".join(text.split()))


def expiry(request: OpenedRequest) -> datetime:
    """When a request expires."""
    return datetime.fromisoformat(request.expires_utc)
