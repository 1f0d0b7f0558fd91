"""Pure: which names a store accepts. A store is built with one of these rules and refuses every other name."""

from __future__ import annotations

import re
from collections.abc import Callable

from cutter.domain.ids import InvalidId, kb_id

IdRule = Callable[[str], str]
"""Takes a name, returns it, or raises InvalidId with the rule and an example."""

_ARTIFACT_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_ARTIFACT_PARTS_MAX = 8
SIGNATURE_SUFFIX = ".asc"


def document_id_rule(text: str) -> str:
    """A knowledge-base document, or its detached signature: a KB id, or a KB id and `.asc`."""
    return kb_id(text.removesuffix(SIGNATURE_SUFFIX)) and _no_dot_parts(text)


def artifact_id_rule(text: str) -> str:
    """Any artifact (backups, bundles, reports, plans): a relative path, no part of which hides or is an option."""
    parts = text.split("/")
    if len(parts) > _ARTIFACT_PARTS_MAX or not all(_ARTIFACT_PART.fullmatch(part) for part in parts):
        raise InvalidId(
            f"artifact id {text[:200]!r}: a relative path of A-Z a-z 0-9 . _ - and '/', no part beginning with '.' or "
            "'-', for example runs/r1/bundle.tar"
        )
    return text


def signature_of(document: str) -> str:
    """Id of a document's detached signature."""
    return document + SIGNATURE_SUFFIX


def _no_dot_parts(text: str) -> str:
    # A leading dot is the store's own: an object under construction has such a name until it is whole.
    if any(part == "" or part.startswith(".") for part in text.split("/")):
        raise InvalidId(f"id {text!r}: no empty part, and no part that begins with a dot")
    return text
