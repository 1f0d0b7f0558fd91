"""IO: fetch an approval, ask gpg, and judge. The cutter worker and the exec worker use this unchanged (spec 03).

Both files are read once; every later step works on these bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from cutter import limits
from cutter.approvals import verify
from cutter.approvals.expected import Expected
from cutter.approvals.policy import Policy
from cutter.approvals.statement import Statement
from cutter.approvals.verdict import ApprovalDocument, Verdict
from cutter.approvals.verify import Authentication
from cutter.domain.ids import kb_id as parse_kb_id
from cutter.errors import CutterError, InvalidInput, NotFound
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.kb.store import Store

ExpectedFor = Callable[[ApprovalDocument, Statement | None], Expected]
"""Asks the database for the facts about the very document that was read; the statement only if it was authenticated."""


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


def authenticated(document: ApprovalDocument, gpg: Gpg, policy: Policy) -> Authentication:
    """Ask gpg who signed these bytes. Raises Unavailable when gpg cannot say."""
    evidence = gpg.verify_detached(document.body, document.signature)
    return verify.authenticate(document, evidence, policy)


def check(kb: Store, kb_id: str, gpg: Gpg, expected: Expected | ExpectedFor, policy: Policy) -> Verdict:
    """Steps 1 to 8 for one document, in this order: signature, parse, facts, judge. Unreadable is a verdict of step 1.

    `expected` may be a function of the document, since whether it was revoked or written by us depends on its bytes.
    Raises Unavailable when the store or gpg is unavailable: then nothing was decided.
    """
    try:
        document = read_approval(kb, kb_id)
    except (InvalidInput, NotFound) as problem:
        return verify.unread(kb_id, code=_code(problem), reason=str(problem), policy=policy)
    return check_authenticated(authenticated(document, gpg, policy), expected, policy)


def check_authenticated(authentication: Authentication, expected: Expected | ExpectedFor, policy: Policy) -> Verdict:
    """The rest of `check` for a document that was read and authenticated already."""
    parsed = verify.said_in(authentication)
    said = parsed if isinstance(parsed, Statement) else None
    facts = expected(authentication.document, said) if callable(expected) else expected
    return verify.judge(authentication, parsed, expected=facts, policy=policy)


def _code(problem: CutterError) -> str:
    # The errors of ids have the code of all refused input; as a verdict each reason has its own.
    return "kb_id_malformed" if problem.code == InvalidInput.code else problem.code
