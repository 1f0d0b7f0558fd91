"""IO: which rehearsed documents of a batch a signer has already approved for the night.

It only decides what a session offers. The batch judges every statement itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from cutter import limits
from cutter.approvals import reader, schema, statement
from cutter.approvals.request import request_sha256
from cutter.approvals.statement import Statement
from cutter.batch import documents
from cutter.batch.view import ItemRecord
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.gpg import Gpg
from cutter.gpg_status import Outcome
from cutter.kb.sets import set_names
from cutter.kb.store import Store
from starter.approver.signing_desk import Signing
from starter.console.terminal import progress

GATE = list(documents.PRE_BATCHED)[-1]
"""A session signs both gates of a document. A statement about the last one shows that it is complete."""


def statements(store: Store, batch_id: str) -> Mapping[str, list[str]]:
    """The KB ids of the statements about each document, in the order of their names."""
    by_document: defaultdict[str, list[str]] = defaultdict(list)
    for name in set_names(store, f"{documents.folder(batch_id)}/{documents.PRE_BATCHED[GATE]}"):
        by_document[name.rpartition("/")[2].partition(".")[0]].append(name)
    return by_document


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A look for what a signer has approved. The signer's own gpg judges, so the look needs no policy."""

    store: Store
    gpg: Gpg
    batch_id: str
    signer: Signing

    def approved(self, items: Sequence[ItemRecord], signed: Mapping[str, list[str]]) -> set[str]:
        """The documents that the signer has approved as they are now.

        The look ends after SIGNED_LOOK_SECONDS. The documents that are left then count as not approved, so a session
        offers them again. Nobody can make it wait longer with more files.
        """
        end = monotonic() + limits.SIGNED_LOOK_SECONDS
        mine = set()
        with progress("looking for what you have signed"):
            for item in items:
                if monotonic() > end:
                    break
                if any(self._approves(name, item) for name in self._own(signed[item.document_id], item.document_id)):
                    mine.add(item.document_id)
        return mine

    def _own(self, names: Sequence[str], document_id: str) -> list[str]:
        """The newest statements about a document whose names are those that this signer's sessions give."""
        first = documents.pre_batched(self.batch_id, GATE, document_id)
        later = f"{first.removesuffix('md')}{self.signer.approver}-"
        # A name ends with a UUID of version 7, so that the newest name is the last one in order.
        own = sorted((name for name in names if name.startswith(later)), reverse=True)
        own = [first] * (first in names) + own
        return own[: limits.SIGNED_LOOK_STATEMENTS]

    def _approves(self, kb_id: str, item: ItemRecord) -> bool:
        """Whether a statement has a good signature of the signer's key and approves the newest request of an item."""
        try:
            document = reader.read_approval(self.store, kb_id)
            is_signed = any(
                record.outcomes == (Outcome.GOOD,) and record.primary_fingerprint == self.signer.fingerprint
                for record in reader.evidence_of(document, self.gpg).records
            )
            approval = statement.parse(document.body) if is_signed else None
            if not isinstance(approval, Statement) or item.request_kb_id is None:
                return False
            request = request_sha256(self.store.get(item.request_kb_id))
        except (InvalidInput, NotFound, Unavailable):
            return False
        about = (
            approval.decision, approval.gate, approval.batch_id, approval.document_id, approval.request_sha256,
        )  # fmt: skip
        wanted = (schema.APPROVE, GATE, self.batch_id, item.document_id, request)
        return about == wanted and approval.not_after > datetime.now(UTC)
