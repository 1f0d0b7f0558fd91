"""IO: fetch an approval, ask gpg, and judge. The cutter worker and the exec worker use this unchanged (spec 03).

Both files are read once; every later step works on these bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from cutter import limits
from cutter.approvals import verify
from cutter.approvals.expected import Expected
from cutter.approvals.policy import Policy
from cutter.approvals.verdict import ApprovalDocument, Verdict
from cutter.domain.ids import kb_id as parse_kb_id
from cutter.errors import CutterError, InvalidInput, NotFound
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.kb.store import Store

ExpectedFor = Callable[[ApprovalDocument], Expected]
"""Asks the database for the facts about the very document that was read (revoked, written by us)."""


def read_approval(kb: Store, kb_id: str) -> ApprovalDocument:
    """Step 1: well-formed, inside the store, a regular object of at most 64 KiB; with its signature, each read once.

    Raises InvalidInput, NotFound (code `signature_missing` for the `.asc`), Unavailable.
    """
    name = parse_kb_id(kb_id)
    body = kb.get(name, limit=limits.STATEMENT_BYTES_MAX)
    try:
        signature = kb.get(signature_of(name), limit=limits.SIGNATURE_BYTES_MAX)
    except NotFound:
        raise NotFound(
            f"no signature beside {name}: make it with gpg --detach-sign --armor and put {signature_of(name)} there",
            code="signature_missing",
        ) from None
    return ApprovalDocument(kb_id=name, body=body, signature=signature)


def check(kb: Store, kb_id: str, gpg: Gpg, expected: Expected | ExpectedFor, policy: Policy) -> Verdict:
    """Steps 1 to 8 for one document; what cannot be read is a verdict of step 1.

    `expected` may be a function of the document, since whether it was revoked or written by us depends on its bytes.
    Raises Unavailable when the store or gpg is away: then nothing was decided.
    """
    try:
        document = read_approval(kb, kb_id)
    except (InvalidInput, NotFound) as problem:
        return verify.unread(kb_id, code=_code(problem), reason=str(problem), policy=policy)
    facts = expected(document) if callable(expected) else expected
    evidence = gpg.verify_detached(document.body, document.signature)
    return verify.verify(document, evidence, expected=facts, policy=policy)


def _code(problem: CutterError) -> str:
    # The errors of ids have the code of all refused input; as a verdict each reason has its own.
    return "kb_id_malformed" if problem.code == InvalidInput.code else problem.code
