"""Pure: the ids of the product, parsed once at the edge (seed 000 §5, spec "Identity"). An illegal one raises
`InvalidId`.
"""

from __future__ import annotations

import re
import uuid
from datetime import datetime
from typing import NewType

from cutter.errors import InvalidInput

DocumentId = NewType("DocumentId", str)
RunId = NewType("RunId", str)
BatchId = NewType("BatchId", str)
KbId = NewType("KbId", str)

DOCUMENT_ID = re.compile(r"[A-Z0-9-]{3,64}")
_DOCPREFIX = re.compile(r"[A-Z0-9][A-Z0-9-]{1,30}[A-Z0-9]")
_RUN_ID = re.compile(r"ictr-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_BATCH_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?:-dryrun)?")
_KB_ID = re.compile(r"[A-Za-z0-9._/-]{1,512}\.md")
_RESERVED_PREFIX = re.compile(r"DIEU.*|ICX-CONST")

RUN_NAMESPACE = uuid.UUID("6f0d3c1e-5a55-5b0c-9d4e-6d1f3c2b7a10")
"""The namespace of the ids that are derived from a run, so that a retry makes the same ids again."""


class InvalidId(InvalidInput):
    """The person or program that gave the id must correct it."""


def document_id(text: str) -> DocumentId:
    """The business key of a document: ASCII `[A-Z0-9-]`, 3 to 64 characters, such as ICX-LAW-2026-001."""
    if not DOCUMENT_ID.fullmatch(text):
        raise InvalidId(f"document id {text!r}: 3 to 64 of A-Z, 0-9 and '-', for example ICX-LAW-2026-001")
    return DocumentId(text)


def docprefix(text: str) -> str:
    """The first segment of every address of a document, such as ICX-LAW-1. `ICX-CONST` (the organisation's
    constitution) and `DIEU…` (its articles) are reserved.
    """
    if not _DOCPREFIX.fullmatch(text):
        raise InvalidId(f"docprefix {text!r}: 3 to 32 of A-Z, 0-9 and '-', no '-' at either end; for example ICX-LAW-1")
    if _RESERVED_PREFIX.fullmatch(text):
        raise InvalidId(f"docprefix {text!r} is reserved, as are ICX-CONST and DIEU…: take another such as ICX-LAW-1")
    return text


def run_id(text: str) -> RunId:
    """`ictr-<YYYYMMDDTHHMMSSZ>-<uuid7>`, the key of everything that a run makes."""
    if not is_run_id(text):
        raise InvalidId(f"run id {text!r}: looks like ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b")
    return RunId(text)


def is_run_id(text: str) -> bool:
    """True if the text has the form of a run id with a time that exists."""
    if _RUN_ID.fullmatch(text) is None:
        return False
    try:
        datetime.strptime(text.split("-")[1], "%Y%m%dT%H%M%SZ")
    except ValueError:
        return False
    return True


def batch_id(text: str) -> BatchId:
    """A UUID of version 7, as the queue file names its batch. The id of the rehearsal ends in -dryrun."""
    if not is_batch_id(text):
        raise InvalidId(f"batch id {text!r}: a UUID of version 7 such as 0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b")
    return BatchId(text)


def is_batch_id(text: str) -> bool:
    return _BATCH_ID.fullmatch(text) is not None


def is_kb_folder(text: str) -> bool:
    """True for a relative path of the characters of a KB id, without `..`. It may end with a slash."""
    folder = text.removesuffix("/")
    return _KB_ID.fullmatch(f"{folder}/x.md") is not None and not {"", ".", ".."} & set(folder.split("/"))


def kb_id(text: str) -> KbId:
    """A path under the root of the knowledge base: `[A-Za-z0-9._/-]`, ends in .md, no `..`, not absolute."""
    parts = text.split("/")
    if not _KB_ID.fullmatch(text) or any(part in ("", ".", "..") for part in parts):
        raise InvalidId(f"KB id {text!r}: a relative path of A-Z a-z 0-9 . _ - and '/', without '..', ending in .md")
    return KbId(text)


def derived(run: str, role: str) -> uuid.UUID:
    """The uuid5 of (run, role). A retry makes the same id again (spec "Identity")."""
    return uuid.uuid5(RUN_NAMESPACE, f"{run}\n{role}")


def slug(prefix: str) -> str:
    """docprefix in lower case, as in keys and KB folders."""
    return prefix.lower()
