"""Pure: the names that a store accepts. Each store has one of these rules and refuses every other name."""

from __future__ import annotations

import re
from collections.abc import Callable

from cutter.domain.ids import InvalidId, kb_id

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
