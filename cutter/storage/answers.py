"""Pure: the answers of the database's functions as records. A field that an answer does not have keeps its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from cutter.domain import recorded_values
from cutter.types import Json


class Answer:
    """The answer of one database function. A record below names its fields."""

    __slots__ = ()

    @classmethod
    def of(cls, answer: Json) -> Self:
        """The record from the answer. Raises TypeError if the answer lacks a field without a default."""
        return recorded_values.sparse(cls, answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The first difference between the database and the state that a run expects.

    `fingerprint` is the digest of the whole survey, and `lines` name what differs. `report` is the database's own
    answer, which the row of the attempt keeps.
    """

    dimension: str
    fingerprint: str
    lines: tuple[str, ...]
    report: Json

    @classmethod
    def of(cls, answer: Json) -> Drift:
        return cls(
            dimension=answer["dimension"], fingerprint=answer["fingerprint"], lines=tuple(answer["diff"]), report=answer
        )

    @property
    def reason(self) -> str:
        """The fingerprint and the differences in one line."""
        return f"fingerprint {self.fingerprint}: {'; '.join(self.lines)[:400]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOpened:
    """The database did not open or seal a gate, or did not open a request. `status` is the database's word.

    `code` is the kind of a stop, or the code of another refusal. `reason` is given for a stop. `drift` is given if the
    status is `drift`.
    """

    status: str
    code: str
    reason: str
    drift: Drift | None

    @classmethod
    def of(cls, answer: Json) -> NotOpened:
        """The refusal from an answer of `fn_gate_open`, `fn_gate_close` or `fn_request_open`."""
        return cls(
            status=answer["status"], code=answer.get("code") or answer.get("kind") or "",
            reason=answer.get("reason") or "",
            drift=Drift.of(answer["drift"]) if answer["status"] == "drift" else None,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(Answer):
    """What a function of the database decided about a run: a status such as `recorded`, and the run's state.

    `code` says why it refused. `decision` is the decision that a person must sign. `have` of the `needed` people have
    signed it, or approve without a signature. `wrote` is true if leg A has written units. `withdrawn` is the number of
    a void's drafts.
    """

    status: str = ""
    code: str = ""
    state: str = ""
    decision: str = ""
    have: int = 0
    needed: int = 0
    wrote: bool = False
    withdrawn: int = 0
