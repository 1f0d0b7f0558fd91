"""Pure: the text of each message (seed 003 §7; spec 05 "Slack")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from cutter import limits
from cutter.approvals.policy import Tier
from cutter.catalogue import Sovereign
from cutter.domain import ids
from cutter.notifications.card import Card, Enactment, Fact, Kind, Phase, Severity, one_line


class Outcome(StrEnum):
    """The result of a question."""

    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A question to people. `subject` identifies it. `place` is a sovereign gate, or the gate that the policy stopped.

    `units` is the number of units below `docprefix`, or None if they are not counted yet. `changes` are the numbers of
    added, changed and removed units. `reason` is the policy's reason on one line. `command` is the command that decides
    the question.
    """

    subject: str
    place: str
    run_id: str
    document_id: str
    docprefix: str
    mode: str
    tier: Tier
    needed: int
    reason: str
    command: str
    expires: datetime | None = None
    units: int | None = None
    changes: tuple[int, int, int] | None = None
    findings: int = 0
    unsigned: bool = False

    def __post_init__(self) -> None:
        ids.run_id(self.run_id)
        ids.document_id(self.document_id)


def asked(waiting: Waiting) -> Card:
    """The card of a question: the planned write in numbers, the policy's reason, and the command that decides."""
    people = "person" if waiting.needed == 1 else "people"
    facts = {
        "Document": waiting.document_id, "Gate": waiting.place, "Run": waiting.run_id, "Mode": waiting.mode,
        "Asks for": f"{waiting.needed} {people}, tier {waiting.tier}",
    }  # fmt: skip
    if waiting.expires is not None:
        facts["Until"] = f"{waiting.expires.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    sovereign = waiting.place in tuple(Sovereign)
    enacts = waiting.place == Sovereign.LIFECYCLE
    write = f"The policy stopped it there, of {waiting.units or 0} units"
    if sovereign:
        units = "units enacted" if enacts else "units"
        write = f"{waiting.units} {units} at as many addresses below {waiting.docprefix}/"
        if waiting.changes is not None and not enacts:
            write += ": {} added, {} changed, {} removed".format(*waiting.changes)
        if waiting.findings:
            write += f"; {waiting.findings} findings"
    return Card(
        kind=Kind.APPROVAL if sovereign else Kind.POLICY_STOP, phase=Phase.ASKED, severity=Severity.ACTION,
        subject=waiting.subject, title=f"{waiting.document_id} waits at {waiting.place}", place=waiting.place,
        run_id=waiting.run_id, document_id=waiting.document_id, mode=waiting.mode, facts=_pairs(facts),
        text=one_line(f"{write}. {waiting.reason}", limits.CARD_TEXT_MAX),
        commands=(one_line(waiting.command),), unsigned=waiting.unsigned,
    )  # fmt: skip


def answered(question: Card, outcome: Outcome, by: Sequence[str]) -> Card:
    """The card of an answer. It names the people who decided, and has neither a command nor a button."""
    text = f"{outcome} by {', '.join(by)}" if by else outcome.value
    return replace(
        question, phase=Phase.ANSWERED, severity=Severity.INFO, unsigned=False, commands=(),
        title=f"{question.document_id} was {outcome} at {question.place}", text=one_line(text, limits.CARD_TEXT_MAX),
    )  # fmt: skip


_SEVERITIES: Final = {Kind.STOP: Severity.WARNING, Kind.FAILURE: Severity.ERROR, Kind.FINISHED: Severity.INFO}
_VERBS: Final = {Kind.STOP: "stopped", Kind.FAILURE: "failed", Kind.FINISHED: "finished"}
_TEXTS: Final = {
    Kind.STOP: "A person must act before the run continues. The command shows the reason and the next step.",
    Kind.FAILURE: "The run has ended. The command shows the reason and the next step.",
    Kind.FINISHED: "The run has ended. The command shows its result.",
}


def of_run(kind: Kind, subject: str, *, state: str, run_id: str, document_id: str, mode: str) -> Card:
    """The card of a run that stopped, failed or finished. It lacks the reason, because the reason may quote the law."""
    facts = {"Document": document_id, "Run": run_id, "Mode": mode, "State": state}
    return Card(
        kind=kind, phase=Phase.TOLD, severity=_SEVERITIES[kind], subject=subject, place=state, run_id=run_id,
        document_id=document_id, mode=mode, title=one_line(f"{document_id} {_VERBS[kind]}: {state}"),
        facts=_pairs(facts), text=_TEXTS[kind], commands=(f"cutter status {run_id}",),
    )  # fmt: skip


_ENACTED: Final = {"first_cut": "enacted", "revision": "revised", "correction": "corrected", "repeal": "repealed"}

_IN_FORCE: Final = {False: "This version is in force from", True: "No unit of the law is in force from"}


def of_enactment(subject: str, *, mode: str, made: Enactment) -> Card:
    """The card of an enactment. It lacks the law's title, because a title is text of the law."""
    facts = {
        "Document": made.document, "Version": str(made.version), "Operation": made.operation,
        "In force from": made.effective_from.isoformat(), "Units": str(made.units), "Run": made.run_id,
    }  # fmt: skip
    return Card(
        kind=Kind.ENACTED, phase=Phase.TOLD, severity=Severity.INFO, subject=subject, place=made.operation,
        run_id=made.run_id, document_id=made.document, mode=mode, enactment=made, facts=_pairs(facts),
        title=one_line(f"{made.document} was {_ENACTED[made.operation]}: version {made.version}"),
        text=f"{_IN_FORCE[made.operation == 'repeal']} {made.effective_from}.",
        commands=(f"cutter law show {made.document} --version {made.version}",),
    )  # fmt: skip


def of_batch(subject: str, *, state: str, batch_id: str, mode: str, counts: Mapping[str, int]) -> Card:
    """The card of a batch that halted or ended, with the counts of its documents."""
    halted = state.startswith("halted_")
    bad = halted or state != "batch_closeout"
    facts = {"Batch": batch_id, "Mode": mode, "State": state}
    facts |= {name.capitalize(): str(count) for name, count in counts.items()}
    return Card(
        kind=Kind.BATCH, phase=Phase.TOLD, severity=Severity.WARNING if bad else Severity.INFO, subject=subject,
        place=state, batch_id=batch_id, mode=mode, title=f"Batch {'halted' if halted else 'ended'}: {state}",
        facts=_pairs(facts), commands=(f"cutter status {batch_id}",),
        text="Nothing more starts until a person resumes it." if halted else "Every document of the batch has ended.",
    )  # fmt: skip


def test_card(channel: str, at: datetime) -> Card:
    """The card that `cutter notify check CHANNEL` sends."""
    moment = f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    return Card(
        kind=Kind.TEST, phase=Phase.TOLD, severity=Severity.INFO, subject=f"test:{channel}:{moment}",
        title=f"A test of the channel {channel}", facts=_pairs({"Channel": channel, "Sent": moment}),
        text="If you read this, messages arrive here. You need to do nothing.", commands=("cutter notify check",),
    )  # fmt: skip


def _pairs(facts: Mapping[str, str]) -> tuple[Fact, ...]:
    return tuple(Fact(name=name, value=one_line(value)) for name, value in facts.items())
