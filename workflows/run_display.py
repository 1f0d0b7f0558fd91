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
    """The data that a run shows. The workflow keeps it, and the functions of this module render it. `note` is a command
    to type.
    """

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
    created_by: str = ""
    requested_utc: str = ""
    began: dict[str, str] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    validated: dict[str, str] = field(default_factory=dict)
    used: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, str] = field(default_factory=dict)

    def refuse(self, text: str) -> None:
        """Add a refusal, and keep only the newest ones."""
        self.refusals = [*self.refusals, text][-10:]

    def retry(self, text: str) -> None:
        """Add a retry, and keep only the newest ones."""
        self.retries = [*self.retries, text][-10:]


def details(board: RunDisplay) -> str:
    """The current details. They use only headings, lists and code fences, because the Web UI does not sanitise HTML."""
    lines = [
        f"### {plain(board.document_id)} · {plain(board.state)}",
        "",
        f"run `{plain(board.run_id)}` · {plain(board.mode)}",
        "",
    ]
    for gate in GATES:
        mark = "✓" if gate.name in board.passed else "▶" if gate.name == board.gate else "·"
        tail = f" · {plain(board.passed[gate.name])}" if board.passed.get(gate.name) else ""
        lines.append(f"- {mark} {gate.number} {gate.name}{tail}")
    if board.request is not None:
        lines += ["", *_waiting(board, board.request)]
    if board.note:
        lines += ["", "#### What to do", "", "```", visible(board.note.replace("`", "'")), "```"]
    for title, entries in (("Digests", [f"{k} {v}" for k, v in board.facts.items()]), ("Retries", board.retries),
                           ("Refused messages", board.refusals)):  # fmt: skip
        if entries:
            lines += ["", f"#### {title}", "", *(f"- {entry(text)}" for text in entries)]
    return "\n".join(lines)


def _waiting(board: RunDisplay, request: OpenedRequest) -> list[str]:
    run, document = board.run_id, board.document_id
    return [
        f"#### {request.gate} waits for {request.approvers_needed} signed approval(s) until {request.expires_utc}",
        "",
        f"- request: `{request.kb_id}`",
        f"- challenge: `{request.challenge}`",
        f"- accepted so far: {', '.join(plain(name) for name in board.accepted) or 'none'}",
        "",
        "```",
        f"cutter approve {run}",
        f"temporal workflow signal --workflow-id document/{document} --name submit_approval "
        f"--input '\"{request.approval_kb_id}\"'",
        "```",
    ]


def status(board: RunDisplay, next_command: str) -> dict[str, Any]:
    """Answer of the query `status`."""
    return {
        "document_id": board.document_id,
        "run_id": board.run_id,
        "mode": board.mode,
        "state": board.state,
        "outcome": board.outcome,
        "gate": board.gate,
        "next_command": next_command,
        "passed": list(board.passed),
        "awaits": board.request.gate if board.request else None,
        "expires_utc": board.request.expires_utc if board.request else None,
        "accepted": board.accepted,
        "facts": board.facts,
        "refusals": board.refusals,
        "retries": board.retries,
    }


def request_view(board: RunDisplay) -> dict[str, Any]:
    """Answer of the query `request`; empty when nothing is awaited."""
    if board.request is None:
        return {}
    return {
        "gate": board.request.gate,
        "kb_id": board.request.kb_id,
        "approval_kb_id": board.request.approval_kb_id,
        "challenge": board.request.challenge,
        "expires_utc": board.request.expires_utc,
        "approvers_needed": board.request.approvers_needed,
        "review_decision_id": board.request.review_decision_id,
        "accepted": board.accepted,
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
