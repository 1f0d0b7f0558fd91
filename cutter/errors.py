"""Pure: the small tree of errors. Each docstring names the person who must act.

A gate's refusal is a value (`cutter.gates.report`), not an error. These errors are for wrong input, for an unavailable
environment, and for our own mistakes. Programs compare `code`. No program compares a message.
"""

from __future__ import annotations

from typing import Self


class CutterError(Exception):
    """The root of all errors. `code` is stable. `str()` is one sentence with the remedy.

    `then` is the next command. The sentence is the message, the command and the rest. No code takes a command out of a
    sentence, because a sentence may quote a stranger.
    """

    code = "CUTTER_ERROR"
    exit_code = 1

    def __init__(self, message: str, *, then: str | None = None, rest: str = "", code: str | None = None) -> None:
        super().__init__(f"{message} `{then}`{rest}" if then else message)
        self.then = then
        if code is not None:
            self.code = code

    def leads_to(self, then: str | None) -> Self:
        """This error with another next command and the same message."""
        self.then = then
        return self


class InvalidInput(CutterError):
    """Wrong input. The person or program that gave it must correct it. Nothing was done."""

    code = "STOP_REFUSED_INPUT"
    exit_code = 2


class Refused(CutterError):
    """A rule refused. The person that the message names must decide or sign."""

    code = "REFUSED"
    exit_code = 4


class PolicyDenied(Refused):
    """policy.yaml does not allow a side effect.

    The operator must change the policy or the request. Nothing was done.
    """

    code = "policy_denied"


class ApprovalNeeded(Refused):
    """policy.yaml demands more people's approval of a side effect. An approver must sign. Nothing was done."""

    code = "policy_needs_approval"

    def __init__(self, message: str, *, tier: str) -> None:
        super().__init__(message)
        self.tier = tier


class NotFound(CutterError):
    """A named thing does not exist. The caller must give another name."""

    code = "NOT_FOUND"
    exit_code = 1


class Unavailable(CutterError):
    """A dependency is unavailable. The operator must bring it back. Then the same command works, so a retry is safe."""

    code = "UNAVAILABLE"
    exit_code = 5

    def __init__(
        self, message: str, *, what: str, then: str | None = None, rest: str = "", code: str | None = None
    ) -> None:
        super().__init__(message, then=then, rest=rest, code=code)
        self.what = what


class Conflict(CutterError):
    """The same key has another payload already. A developer or auditor must look. Nothing was overwritten."""

    code = "STOP_REPLAY_CONFLICT"
    exit_code = 4


class ProgrammingError(CutterError):
    """Our bug: a value used out of order. A developer must act."""

    code = "BUG"


class OverCap(CutterError):
    """The work took longer than its cap. The operator decides about another try."""

    code = "OVER_CAP"
    exit_code = 4


class IllegalTransition(CutterError):
    """A lifecycle does not allow this move. A developer or the author of the event must act."""

    code = "ILLEGAL_TRANSITION"
