"""IO: the effect policy and the epoch of the approver policy in force. PostgreSQL holds both for all hosts.

A worker reads the effect policy again at every attempt.
"""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import Cursor

from cutter.errors import Conflict, InvalidInput
from cutter.policy.rules import EffectPolicy, InvalidPolicy, Problem
from cutter.policy.rules_file import parse_rules
from cutter.storage.records import Connection, Rows, answer, records, the_row, values
from cutter.types import Json

INSTALL = "cutter policy install"
NONE = InvalidPolicy(problems=(Problem(line=0, rule="", text=f"none is installed: type `{INSTALL}`"),))
"""The policy before the first one is installed. It denies everything."""


TEXT: Rows[str] = values("effect_policy_text")
"""The text of the policy in force, as a query that can be sent together with others. `of` takes its answer."""


def in_force(connection: Connection) -> EffectPolicy | InvalidPolicy:
    """Read the policy in force. If it is missing or wrong, the result is `InvalidPolicy`, which denies everything."""
    return of(TEXT.sent(connection))


def of(sent: Cursor[str]) -> EffectPolicy | InvalidPolicy:
    """The policy in the answer to a `TEXT` that was sent before."""
    return read(the_row(TEXT.name, sent))


def read(body: str | None) -> EffectPolicy | InvalidPolicy:
    """The policy of the text that PostgreSQL holds. Without a text, none is installed."""
    return parse_rules(body.encode()) if body else NONE


def install(connection: Connection, data: bytes, *, replace: bool = False) -> EffectPolicy:
    """Put a policy in force on all hosts. Raises InvalidInput with all problems of a wrong one.

    Raises Conflict if another one is in force and `replace` is false, or if somebody installs one at the same time.
    """
    policy = parse_rules(data)
    if isinstance(policy, InvalidPolicy):
        raise InvalidInput("\n".join(["the policy was not installed:", *map(str, policy.problems)]))
    present = in_force(connection)
    if present is not NONE and present.sha256 != policy.sha256 and not replace:
        raise Conflict(
            f"another policy is in force ({present.sha256[:16]}): give --replace to put this one in its place",
            code="policy_exists",
        )
    answer(
        connection, "select cutter_governance.fn_effect_policy_install(%s, %s)",
        (data.decode(), present.sha256 or None),
    )  # fmt: skip
    return policy


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochRecord:
    """An installed epoch: its file, and the values that the database needs from it."""

    sha256: str
    body: str
    thresholds: Json
    deployment_id: str


EPOCH = records("policy_in_force", EpochRecord)
"""The newest epoch. There is no row before the first epoch is installed."""
