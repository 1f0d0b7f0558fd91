"""Pure: the names that a store accepts, and those of the documents of a run (facts-domain, "Reports and codes").

Each store has one rule for names and refuses every other name. A run's folder is
`knowledge/dev/laws/<slug>/v<16 hex>-automation-cut-<YYYYMMDD>-<HHMM>-<12 hex>/`. The minute and the last block come
from the run id. So two runs of one document never share a folder, even if they begin in one minute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date

from cutter.catalogue import Gate, Sovereign
from cutter.domain import ids
from cutter.domain.digests import is_digest
from cutter.domain.ids import InvalidId, kb_id
from cutter.errors import ProgrammingError

IdRule = Callable[[str], str]
"""A function that takes a name and returns it, or raises InvalidId with the rule and an example."""

_ARTIFACT_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_ARTIFACT_PARTS_MAX = 8
SIGNATURE_SUFFIX = ".asc"


def document_id_rule(text: str) -> str:
    """The rule for a document of the knowledge base (a KB id) and its detached signature (the KB id with `.asc`)."""
    kb_id(text.removesuffix(SIGNATURE_SUFFIX))
    # The store itself uses names with a leading dot: an unfinished object has such a name.
    if any(part == "" or part.startswith(".") for part in text.split("/")):
        raise InvalidId(f"id {text!r}: no empty part, and no part that begins with a dot")
    return text


def artifact_id_rule(text: str) -> str:
    """The rule for an artifact, such as a backup, a bundle, a report or a plan: a relative path.

    No part of the path begins with a dot, which would hide it, or with '-', which would make it an option.
    """
    parts = text.split("/")
    if len(parts) > _ARTIFACT_PARTS_MAX or not all(_ARTIFACT_PART.fullmatch(part) for part in parts):
        raise InvalidId(
            f"artifact id {text[:200]!r}: a relative path of A-Z a-z 0-9 . _ - and '/', no part beginning with '.' or "
            "'-', for example runs/r1/bundle.tar"
        )
    return text


def signature_of(document: str) -> str:
    return document + SIGNATURE_SUFFIX


NUMBERED_NAMES = 9
"""The last number in a name. If this name is taken too, the document gets a name with its digest."""

ROOT = "knowledge/dev/laws"
_OTHER_NAME = re.compile(r"(-other[0-9a-f]{1,12})?\.md$")
_SOVEREIGN_STEMS = {Sovereign.CUT: "SG1-cut-authz", Sovereign.LIFECYCLE: "SG2-lifecycle-authz"}


def run_folder(docprefix: str, version_digest: str, day: date, run_id: str) -> str:
    """The folder of one run without a slash at its end. `version_digest`: the snapshot's sha256; `day`: in UTC."""
    if not is_digest(version_digest):
        raise ProgrammingError(f"a version digest is 64 hex characters, not {version_digest!r}")
    run = ids.run_id(run_id)
    minute, last_block = run.split("-")[1][9:13], run[-12:]
    version = f"v{version_digest[:16]}-automation-cut-{day:%Y%m%d}-{minute}-{last_block}"
    return f"{ROOT}/{ids.slug(ids.docprefix(docprefix))}/{version}"


def phase_report(folder: str, gate: Gate, day: date) -> str:
    """The KB id of a gate's report, such as `…/01-source-pin-2026-11-21.md`."""
    return _document(folder, gate.report, day)


def request(folder: str, gate: str, day: date, *, number: int = 1) -> str:
    """The KB id of the n-th request of a sovereign gate. A new one follows an expired one."""
    return _document(folder, f"{_SOVEREIGN_STEMS[Sovereign(gate)]}-request", day, number=number)


def approval(folder: str, gate: str, day: date, *, approver: str, number: int = 1) -> str:
    """The KB id of an approval. A person's own tools write it, never cutter (facts-domain)."""
    return _document(folder, f"{_SOVEREIGN_STEMS[Sovereign(gate)]}-approval-{approver}", day, number=number)


def snapshot_copy(folder: str, version_digest: str) -> str:
    """The KB id of the snapshot's copy to which a request refers."""
    return f"{folder}/source-snapshot-{version_digest[:16]}.md"


def stop_report(folder: str, day: date, *, number: int, quarantined: bool = False) -> str:
    """The KB id of the n-th stop-route report (SG_3), or of the STOP document of a quarantined run."""
    return _document(folder, "STOP-quarantine" if quarantined else "SG3-stop-route-report", day, number=number)


def names_for(kb_id: str, sha256: str) -> Iterator[str]:
    """The names to try, each if those before it hold other bytes: its own, some with a number, one with the digest.

    Nobody can take the last one before the document exists.
    """
    stem = _OTHER_NAME.sub("", kb_id)
    yield kb_id
    for tail in (*range(2, NUMBERED_NAMES + 1), sha256[:12]):
        yield ids.kb_id(f"{stem}-other{tail}.md")


def _document(folder: str, stem: str, day: date, *, number: int = 1) -> str:
    suffix = "" if number == 1 else f"-r{number}"
    return ids.kb_id(f"{folder}/{stem}-{day.isoformat()}{suffix}.md")
