"""Pure: the one small tree of errors. Each docstring says who must act.

A gate's refusal is a value (`cutter.gates.report`), not an error; these are for bad input, for an environment that is
not there, and for our own mistakes. `code` is what machines match on; nobody matches on a message.
"""

from __future__ import annotations


class CutterError(Exception):
    """Root. `code` is stable, `str()` is one sentence that says what to do next."""

    code = "CUTTER_ERROR"
    exit_code = 1

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class InvalidInput(CutterError):
    """The person or program that gave the input must correct it; nothing was done."""

    code = "STOP_REFUSED_INPUT"
    exit_code = 2


class Refused(CutterError):
    """A rule said no: the person named in the message must decide or sign something."""

    code = "REFUSED"
    exit_code = 4


class PolicyDenied(Refused):
    """policy.yaml does not allow a side effect: the operator changes it, or what was asked for. Nothing was done."""

    code = "policy_denied"


class ApprovalNeeded(Refused):
    """policy.yaml asks for more people's approval of a side effect: a sovereign must sign. Nothing was done."""

    code = "policy_needs_approval"

    def __init__(self, message: str, *, tier: str) -> None:
        super().__init__(message)
        self.tier = tier


class NotFound(CutterError):
    """What was named does not exist; the caller must name another."""

    code = "NOT_FOUND"
    exit_code = 1


class Unavailable(CutterError):
    """A dependency is unavailable; the operator must bring it back, then the same command works. Safe to retry."""

    code = "UNAVAILABLE"
    exit_code = 5

    def __init__(self, message: str, *, what: str, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.what = what


class Conflict(CutterError):
    """The same key was used with another payload; a developer or auditor must look, nothing was overwritten."""

    code = "STOP_REPLAY_CONFLICT"
    exit_code = 4


class ProgrammingError(CutterError):
    """Our bug: a value used out of order. A developer must act."""

    code = "BUG"


class OverCap(CutterError):
    """The work took longer than its cap; the operator decides whether it is tried again."""

    code = "OVER_CAP"
    exit_code = 4


class IllegalTransition(CutterError):
    """A lifecycle does not allow this move; a developer must act, or the author of the event."""

    code = "ILLEGAL_TRANSITION"
