"""Pure: the closed schema `cutter-approval/1`: the form of each field, and the fields of each kind of statement.

docs/reference/statements.md shows the same two tables for people; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cutter import limits
from cutter.catalogue import Sovereign

SCHEMA: Final = "cutter-approval/1"

APPROVE, REJECT, RESUME, VOID = "approve", "reject", "resume", "void"
ACKNOWLEDGE_DRIFT, INCLUDE_FAILED, REVOKE = "acknowledge_drift", "include_failed", "revoke"
DECISIONS: Final = (APPROVE, REJECT, RESUME, VOID, ACKNOWLEDGE_DRIFT, INCLUDE_FAILED, REVOKE)

NO_FINDINGS: Final = "none"
"""The value in a statement if no finding was accepted."""

RUN, TUPLE = "run", "tuple"
BINDINGS: Final = (RUN, TUPLE)

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_DIGEST = r"[0-9a-f]{64}"
_INSTANT = r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_FINDING = r"[a-z][a-z_]{0,47}:[A-Z0-9][A-Z0-9/~-]{0,999}"
_RUN_ID = r"ictr-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"

NAME_FORM: Final = r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}"
"""Names of approvers, groups and batches: ASCII, no spaces."""


FORMS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = MappingProxyType(
    {
        name: (re.compile(form), words)
        for name, (form, words) in {
            "schema": (re.escape(SCHEMA), f"`{SCHEMA}`"),
            "deployment_id": (_UUID, "a lower-case uuid"),
            "gate": ("|".join(gate.value for gate in Sovereign), "`SG_cut_authz` or `SG_lifecycle_authz`"),
            "decision": ("|".join(DECISIONS), "one of " + ", ".join(f"`{name}`" for name in DECISIONS)),
            "allowance": ("explicit", "`explicit`"),
            "binding": ("run|tuple", "`run` or `tuple`"),
            "run_id": (_RUN_ID, "a run id"),
            "batch_id": (NAME_FORM, "a batch id"),
            "document_id": (r"[A-Z0-9-]{3,64}", "a document id such as `ICX-LAW-2026-001`"),
            "source_version_id": (_UUID, "a lower-case uuid"),
            "writer_digest": (_DIGEST, "64 hex characters"),
            "manifest_digest": (_DIGEST, "64 hex characters"),
            "region_sha": (_DIGEST, "64 hex characters"),
            "candidate_count": (r"0|[1-9][0-9]{0,4}", "a number without leading zeros"),
            "findings_digest": (_DIGEST, "64 hex characters"),
            "accepted_findings": (
                rf"{NO_FINDINGS}|{_FINDING}(?: {_FINDING}){{0,{limits.ACCEPTANCES_MAX - 1}}}",
                f"the names of the accepted findings with a space between them, or `{NO_FINDINGS}`",
            ),
            "change_set_id": (_UUID, "a lower-case uuid"),
            "grants_sha256": (_DIGEST, "64 hex characters"),
            "review_decision_id": (_UUID, "a lower-case uuid"),
            "nonce": (r"[0-9a-f]{32}", "32 hex characters"),
            "challenge": (_DIGEST, "64 hex characters"),
            "request_sha256": (_DIGEST, "64 hex characters"),
            "stopped_state": (r"stopped_[a-z0-9_]{1,100}", "the state that is left, such as `stopped_hard_cap`"),
            "fingerprint": (_DIGEST, "64 hex characters"),
            "approval_sha256": (_DIGEST, "64 hex characters"),
            "reason": (rf"[^\n]{{1,{limits.REASON_CHARACTERS_MAX}}}", "one line of text"),
            "signed_utc": (_INSTANT, "a time such as `2026-11-21T09:00:00Z`"),
            "not_after": (_INSTANT, "a time such as `2026-11-21T09:00:00Z`"),
            "approver": (NAME_FORM, "the approver's name in the policy"),
        }.items()
    }
)
"""Maps each field to its form and to a description of the form, in the order in which a statement is written."""

_HEAD = ("schema", "deployment_id", "gate", "decision", "allowance", "binding")
_TAIL = ("signed_utc", "not_after", "approver")
_TUPLE_OF_A_RUN = (
    "run_id", "document_id", "source_version_id", "writer_digest", "manifest_digest", "region_sha", "candidate_count",
    "findings_digest", "accepted_findings", "change_set_id", "grants_sha256", "nonce", "challenge", "request_sha256",
)  # fmt: skip
_TUPLE_OF_A_BATCH = (
    "batch_id", "document_id", "source_version_id", "writer_digest", "candidate_count", "findings_digest",
    "accepted_findings", "request_sha256",
)  # fmt: skip

_MIDDLE: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {
        (APPROVE, RUN): _TUPLE_OF_A_RUN,
        (APPROVE, TUPLE): _TUPLE_OF_A_BATCH,
        (REJECT, RUN): _TUPLE_OF_A_RUN,
        (RESUME, RUN): ("run_id", "document_id", "stopped_state", "reason"),
        (VOID, RUN): ("run_id", "document_id", "reason"),
        (ACKNOWLEDGE_DRIFT, RUN): ("run_id", "document_id", "fingerprint", "reason"),
        (INCLUDE_FAILED, RUN): ("run_id", "document_id", "reason"),
        (REVOKE, RUN): ("run_id", "document_id", "approval_sha256", "reason"),
        (REVOKE, TUPLE): ("batch_id", "document_id", "approval_sha256", "reason"),
    }
)

KINDS: Final = tuple(_MIDDLE)
"""The (decision, binding) pairs that exist."""


def fields_of(decision: str, binding: str, gate: str) -> tuple[str, ...] | None:
    """Exactly the fields of that kind of statement, in order. None if there is no such kind."""
    middle = _MIDDLE.get((decision, binding))
    if middle is None:
        return None
    if gate == Sovereign.LIFECYCLE and decision in (APPROVE, REJECT):
        middle = (*middle, "review_decision_id")
    return (*_HEAD, *middle, *_TAIL)
