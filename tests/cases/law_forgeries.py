"""Pure: what a forger does to the bundles of a law that changed: to their text, and to their order.

A forger of texts makes every digest and chain fit again (bundle_forger.py), but cannot sign. A forger of chains hands
over genuine bundles that are not the whole chain of one law, or edits a bundle so that it seems to follow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cutter.evidence import offline
from cutter.evidence.offline import notation
from tests.cases.bundle_forger import Forger, Row

Texts = Callable[[Forger, Forger], object]
Bundles = Mapping[str, bytes]
CHAIN = ("law-1", "law-2", "law-3", "law-4")
"""The whole chain of one law."""


# --- the text --------------------------------------------------------------------------------------------------------


def another_laws_text(forger: Forger, other: Forger) -> None:
    for name in ("law.md", "law.jsonl"):
        forger.members[name] = other.members[name]


def changed_byte(forger: Forger, _: Forger) -> None:
    forger.members["law.md"] = forger.members["law.md"].replace(b"The first rule", b"The worst rule")


def changed_byte_that_fits_its_row(forger: Forger, other: Forger) -> None:
    """The digest of the unit fits the changed text too."""
    changed_byte(forger, other)

    def fit(row: Row) -> None:
        start, end = row["place"] or (0, 0)
        row["body_sha256"] = (
            notation.digest(forger.members["law.md"][start:end]) if row["place"] else row["body_sha256"]
        )

    forger.edit("law", lambda rows: [fit(row) for row in rows])


def changed_byte_that_fits_its_region(forger: Forger, other: Forger) -> None:
    """Row and region fit the changed text, in all receipts and requests too; the statements are as they were."""
    before = notation.digest(forger.members["law.md"])
    signed = {name: body for name, body in forger.members.items() if name.startswith("signed/")}
    changed_byte_that_fits_its_row(forger, other)
    forger.everywhere(before, notation.digest(forger.members["law.md"]))
    forger.members.update(signed)


def unit_left_out(forger: Forger, _: Forger) -> None:
    forger.drop("law", lambda row: row["address"].endswith("/KEPT"))


def text_between_units(forger: Forger, _: Forger) -> None:
    forger.members["law.md"] += b"\n## Added\n\nNobody signed this rule.\n"


def another_title(forger: Forger, _: Forger) -> None:
    forger.edit("law", lambda rows: [row.update(title="Another title") for row in rows])


def units_that_change_places(forger: Forger, _: Forger) -> None:
    rows = [row for row in forger.rows("law") if row["place"]]
    places = [row["place"] for row in rows]
    swapped = {row["address"]: place for row, place in zip(rows, [*places[1:], places[0]], strict=True)}
    forger.edit("law", lambda rows: [row.update(place=swapped.get(row["address"])) for row in rows])


def two_fields_in_one(forger: Forger, _: Forger) -> None:
    """The line of the unit is the same, but its title is another."""

    def joined(row: Row) -> None:
        row.update(title="\x1f".join((row["title"], row["body_sha256"])), body_sha256="")

    forger.edit("law", lambda rows: [joined(rows[0])])


TEXTS: dict[str, Texts] = {
    "another law's text": another_laws_text,
    "a changed byte": changed_byte,
    "a changed byte that fits its row": changed_byte_that_fits_its_row,
    "a changed byte that fits its region": changed_byte_that_fits_its_region,
    "a unit left out": unit_left_out,
    "text between the units": text_between_units,
    "another title": another_title,
    "units that change places": units_that_change_places,
    "two fields in one": two_fields_in_one,
}


def forged_text(bundles: Bundles, of: str, name: str) -> bytes:
    """A bundle with another text, with all digests and chains made to fit."""
    forger = Forger(bundles[of])
    before = dict(forger.members)
    TEXTS[name](forger, Forger(bundles["other-1"]))
    assert forger.members != before, f"{name} changed nothing"
    return forger.sealed()


# --- the chain -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgedChain:
    """Bundles in the order in which the forger hands them over."""

    name: str
    files: Sequence[str]
    edit: Callable[[Bundles], Sequence[bytes]] | None = None

    def bundles(self, genuine: Bundles) -> Sequence[bytes]:
        return self.edit(genuine) if self.edit else [genuine[name] for name in self.files]


def as_if_it_followed(genuine: Bundles) -> Sequence[bytes]:
    """The revision without its real predecessor: every pin of its base names the bundle of the other law."""
    forger, other = Forger(genuine["law-2"]), Forger(genuine["other-1"])
    base, stranger = offline.Bundle(genuine["law-1"]), offline.Bundle(genuine["other-1"])
    for old, new in ((base.enactment, stranger.enactment), (base.run["run_id"], stranger.run["run_id"]),
                     (base.pins["source_version_id"], stranger.pins["source_version_id"])):  # fmt: skip
        signed = {name: body for name, body in forger.members.items() if name.startswith("signed/")}
        forger.everywhere(old, new)
        forger.members.update(signed)
    document = json.loads(other.members["run.json"])["document_id"]
    renamed = Forger(genuine["other-1"])
    renamed.everywhere(document, base.run["document_id"])
    return [renamed.sealed(), forger.sealed()]


def edited_predecessor(genuine: Bundles) -> Sequence[bytes]:
    """The first cut had another text, and everything in its bundle fits that text."""
    first = Forger(genuine["law-1"])
    signed = {name: body for name, body in first.members.items() if name.startswith("signed/")}
    first.everywhere(offline.Bundle(genuine["law-1"]).pins["writer_digest"], "f0" * 32)
    first.members.update(signed)
    return [first.sealed(), genuine["law-2"]]


CHAINS = (
    ForgedChain(name="a missing predecessor", files=("law-1", "law-3")),
    ForgedChain(name="a missing first cut", files=("law-2", "law-3")),
    ForgedChain(name="a predecessor of another law", files=("other-1", "law-2")),
    ForgedChain(name="a swapped order", files=("law-2", "law-1")),
    ForgedChain(name="two that are swapped inside", files=("law-1", "law-3", "law-2", "law-4")),
    ForgedChain(name="one twice", files=("law-1", "law-2", "law-2")),
    ForgedChain(name="two first cuts", files=("law-1", "other-1")),
    ForgedChain(name="a revision of another law", files=("law-1", "other-2")),
    ForgedChain(name="a base that was made to fit", files=(), edit=as_if_it_followed),
    ForgedChain(name="an edited predecessor", files=(), edit=edited_predecessor),
)
