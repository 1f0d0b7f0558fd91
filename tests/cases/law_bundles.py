"""IO: evidence bundles of laws that changed, each with its enacted text, made on a real database."""

from __future__ import annotations

from cutter import sources
from cutter.catalogue import Role
from cutter.evidence.bundle import law_members, with_law
from cutter.storage.pools import session
from starter.commands.evidence import exported
from tests.integration.living_law.texts import FIRST, SECOND
from tests.support.runs import OPTIONS, Deployment, Driven, drive

CORRECTED = SECOND.replace("is new", "is newer")
NAMES = ("law-1", "law-2", "law-3", "law-4", "other-1", "other-2")
"""A first cut, its revision, a correction, a repeal; and another law with the same first text and its revision."""


def bundle_of(made: Deployment, driven: Driven) -> bytes:
    """The sealed bundle of a run with the text that it enacted."""
    bundle, sealed, _ = exported(made.settings, driven.run_id)
    assert sealed, f"{driven.run_id} is {driven.state}"
    with session(made.settings, Role.OPERATOR) as connection:
        members = law_members(connection, driven.document_id, driven.run_id)
    return with_law(bundle.data, members)


def bundles_of_laws(made: Deployment) -> dict[str, bytes]:
    """Each bundle by its name in NAMES."""
    first, other = drive(made, FIRST), drive(made, FIRST)
    document = first.document_id
    made.register(SECOND, document_id=document)
    second = drive(made, document_id=document)
    sources.register(
        made.settings, CORRECTED.encode(), document_id=document, docprefix=document, profile="generic-markdown",
        options=dict(OPTIONS), correction="a slip of the pen",
    )  # fmt: skip
    third = drive(made, document_id=document)
    sources.repeal(made.settings, document, effective=None, reason="replaced by another law")
    fourth = drive(made, document_id=document)
    made.register(SECOND, document_id=other.document_id)
    runs = (first, second, third, fourth, other, drive(made, document_id=other.document_id))
    return {name: bundle_of(made, driven) for name, driven in zip(NAMES, runs, strict=True)}
