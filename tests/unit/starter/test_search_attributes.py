"""A namespace without room is no server that does not answer."""

from __future__ import annotations

from temporalio.service import RPCError, RPCStatusCode

from cutter.errors import Refused
from starter.commands.reconcile import attributes_refused

FULL = "Unable to save search attributes: cannot have more than 3 search attribute of type Int."


def test_only_a_refusal_of_the_attributes_is_translated() -> None:
    refusal = attributes_refused(RPCError(FULL, RPCStatusCode.INVALID_ARGUMENT, b""), "laws", {})
    assert isinstance(refusal, Refused)
    assert FULL in str(refusal)
    assert "--namespace laws" in str(refusal)
    away = RPCError("away", RPCStatusCode.UNAVAILABLE, b"")
    assert attributes_refused(away, "laws", {}) is away
