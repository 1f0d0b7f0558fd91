"""IO: fetches an approval, asks gpg, and judges. The cutter worker and the exec worker use the same code (spec 03).

Both files are read once, and every later step works on these bytes. gpg's answer about the one signature of a list is
kept for a short time, because all statements of the list have it.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from cutter import limits
from cutter.approvals import verify
from cutter.approvals.policy import ApproverPolicy
from cutter.approvals.signed_list import read_signature, signed_bytes
from cutter.approvals.statement import Statement
from cutter.approvals.verdict import ApprovalDocument, Expected, Verdict
from cutter.approvals.verify import Authentication
from cutter.domain.digests import sha256_hex
from cutter.domain.ids import kb_id as parse_kb_id
from cutter.errors import InvalidInput, NotFound
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.openpgp import SignatureEvidence
from cutter.types import Refusal

ExpectedFor = Callable[[ApprovalDocument, Statement | None], Expected]
"""A function that asks the database for the facts about the document that was read. It gets the statement only if the
document was authenticated.
"""


class Answers:
    """gpg's newest answers about signatures of lists. Only an answer that decides something is kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, ...], tuple[float, SignatureEvidence]] = OrderedDict()

    def get(self, asked: tuple[str, ...], ask: Callable[[], SignatureEvidence]) -> SignatureEvidence:
        """The answer to a question. `asked` names the policy epoch, gpg's home, the signed bytes and the signature."""
        with self._lock:
            at, answer = self._kept.get(asked, (-math.inf, SignatureEvidence()))
        if self._clock() - at < limits.LIST_ANSWER_SECONDS:
            return answer
        began, answer = self._clock(), ask()
        with self._lock:
            self._kept.pop(asked, None)
            if answer.unverifiable is None:
                self._kept[asked] = (began, answer)
            while len(self._kept) > limits.LIST_ANSWERS_MAX:
                self._kept.popitem(last=False)
        return answer


ANSWERS = Answers()


def read_approval(kb: Store, kb_id: str) -> ApprovalDocument:
    """Step 1: the KB id is well-formed and names a regular file of at most 64 KiB. Both files are read once.

    Raises InvalidInput, NotFound (code `signature_missing` for the `.asc`), Unavailable.
    """
    name = parse_kb_id(kb_id)
    body = kb.get(name, limit=limits.STATEMENT_BYTES_MAX)
    try:
        signature = kb.get(signature_of(name), limit=limits.SIGNATURE_BYTES_MAX)
    except NotFound:
        raise NotFound(
            f"no signature of {name}: make it with gpg --detach-sign --armor and put {signature_of(name)} there",
            code="signature_missing",
        ) from None
    return ApprovalDocument(kb_id=name, body=body, signature=signature)


def authenticated(document: ApprovalDocument, gpg: Gpg, policy: ApproverPolicy) -> Authentication:
    """Ask gpg who signed these bytes, or a list with them. Raises Unavailable if gpg gives no answer."""
    return verify.authenticate(document, evidence_of(document, gpg, policy.sha256), policy)


def evidence_of(document: ApprovalDocument, gpg: Gpg, policy_sha256: str = "") -> SignatureEvidence:
    """gpg's answer. The signature of a list has one answer for all of its statements, for a short time.

    The answer is asked for again in a new policy epoch, because the keys in gpg's home may be others there.
    """
    file = read_signature(document.signature)
    if isinstance(file, Refusal):
        return SignatureEvidence()
    signed = signed_bytes(document.body, file.place)
    if file.place is None:
        return gpg.verify_detached(signed, file.openpgp)
    asked = (policy_sha256, str(gpg.home), sha256_hex(signed), sha256_hex(file.openpgp))
    return ANSWERS.get(asked, lambda: gpg.verify_detached(signed, file.openpgp))


def check(
    kb: Store, named: str | ApprovalDocument, gpg: Gpg, expected: Expected | ExpectedFor, policy: ApproverPolicy
) -> Verdict:
    """Do steps 1 to 8: read, signature, parse, facts, judge. An unreadable document gets a verdict of step 1.

    `expected` may be a function of the document, because its bytes decide whether it was revoked or written by us.
    Raises Unavailable if the store or gpg is unavailable. Then nothing was decided.
    """
    try:
        document = named if isinstance(named, ApprovalDocument) else read_approval(kb, named)
    except (InvalidInput, NotFound) as problem:
        # All errors of ids share the code of refused input. But each reason has its own code in a verdict.
        code = "kb_id_malformed" if problem.code == InvalidInput.code else problem.code
        return verify.unread(str(named), code=code, reason=str(problem), policy=policy)
    return check_authenticated(authenticated(document, gpg, policy), expected, policy)


def check_authenticated(
    authentication: Authentication, expected: Expected | ExpectedFor, policy: ApproverPolicy
) -> Verdict:
    """The remaining steps of `check` for a document that was already read and authenticated."""
    parsed = verify.said_in(authentication)
    statement = parsed if isinstance(parsed, Statement) else None
    facts = expected(authentication.document, statement) if callable(expected) else expected
    return verify.judge(authentication, parsed, expected=facts, policy=policy)
