"""IO: enacted law as the views of the schema `api` show it: laws, their versions on a day, units, history, search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches

from cutter import limits
from cutter.domain.timestamps import utc
from cutter.errors import InvalidInput, NotFound
from cutter.law.law_text import LawText, LawVersion, OutlineUnit, Signer, U, Unit, UnitTree, addresses_meant
from cutter.storage.records import Connection, records
from cutter.storage.run_evidence import RegisteredText
from cutter.storage.runs import KNOWN, RUN_OF_DOCUMENT, alike, documents_near

NOT_ENACTED, NO_UNIT = "STOP_LAW_NOT_FOUND", "STOP_UNIT_NOT_FOUND"
PRESENT = ("in_force", "repealed")
"""What the newest version that has taken effect is today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A law as it is on a day."""

    document: str
    title: str
    status: str
    version: int
    newest_version: int
    units: int
    effective_from: date
    effective_until: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitVersion:
    address: str
    version: int
    title: str
    body: str
    content_sha256: str
    effective_from: date
    effective_until: date | None
    enacted_at: datetime
    enacted_by_version: int
    ended_by_version: int | None
    status: str
    continues: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A unit that has the words of a search."""

    document: str
    version: int
    address: str
    title: str
    body: str
    content_sha256: str
    effective_from: date
    rank: float


NEWEST = datetime.max.replace(tzinfo=UTC)
"""The moment that asks for everything that is recorded."""

LAWS = records("laws", Law)
VERSIONS = records("law_versions", LawVersion)
UNITS = records("law_units", Unit)
OUTLINE = records("law_outline", OutlineUnit)
PASSAGE = records("law_passage", Unit)
SIGNERS = records("law_signers", Signer)
SOURCE = records("law_source", RegisteredText)
UNIT_VERSIONS = records("unit_versions", UnitVersion)
HITS = records("law_search", Hit)


def laws(connection: Connection, at: date | None = None, *, recorded: datetime = NEWEST) -> list[Law]:
    """Each law as it is on a day (default: today), by document id, as the database showed it at that moment."""
    return LAWS.all(connection, {"at": at, "recorded": recorded})


def versions(connection: Connection, document: str, *, recorded: datetime = NEWEST) -> list[LawVersion]:
    """Every version of a law in order, as the database showed them at that moment. NotFound names what was meant."""
    known = VERSIONS.all(connection, {"document": document, "recorded": recorded})
    if not known and recorded != NEWEST:
        first = versions(connection, document)[0]
        raise NotFound(
            f"{first.document} was not enacted on {utc(recorded)}: its first version was recorded on "
            f"{utc(first.enacted_at)}; type",
            then=f"cutter law history {first.document}",
            code=NOT_ENACTED,
        )
    if not known:
        raise _not_enacted(connection, document)
    return known


def version_meant(known: list[LawVersion], *, at: date | None = None, version: int | None = None) -> LawVersion:
    """The version with that number, or in force on that day; without both, in force today, else the first one to be."""
    if version is not None and at is not None:
        raise InvalidInput("--version and --at: give one of both")
    if version is not None:
        numbered = [row for row in known if row.version == version]
        if numbered:
            return numbered[0]
        newest = known[-1]
        raise NotFound(
            f"{newest.document} has no version {version}: its newest one is {newest.version}; see",
            then=f"cutter law history {newest.document}",
            code=NOT_ENACTED,
        )
    if at is None:
        begun = [row for row in known if row.status in PRESENT]
        return begun[-1] if begun else known[0]
    begun = [row for row in known if row.effective_from <= at]
    if begun:
        return begun[-1]
    first = known[0]
    raise NotFound(
        f"{first.document} was not in force on {at}: it takes effect on {first.effective_from}; type",
        then=f"cutter law show {first.document} --at {first.effective_from}",
        code=NOT_ENACTED,
    )


def text_of(connection: Connection, version: LawVersion, *, recorded: datetime = NEWEST) -> LawText:
    """A version with its units and signers; units have the ends that were recorded up to that moment."""
    asked = {"document": version.document, "version": version.version, "recorded": recorded}
    return LawText(
        version=version, units=tuple(UNITS.all(connection, asked)), signers=tuple(SIGNERS.all(connection, asked))
    )


def outline_of(connection: Connection, version: LawVersion) -> UnitTree[OutlineUnit]:
    """A version with its units without their text: what a long law is shown by first."""
    asked = {"document": version.document, "version": version.version}
    return UnitTree(version=version, units=tuple(OUTLINE.all(connection, asked)))


def passage(connection: Connection, version: LawVersion, addresses: Sequence[str]) -> list[Unit]:
    """The named units of a version with their text, in document order."""
    asked = {"document": version.document, "version": version.version, "addresses": list(addresses)}
    return PASSAGE.all(connection, asked)


def version_before(known: list[LawVersion], later: LawVersion, wanted: int | None = None) -> LawVersion:
    """The version with that number, else the one before `later`. Raises NotFound if there is none."""
    if wanted is not None:
        return version_meant(known, version=wanted)
    before = [row for row in known if row.version < later.version]
    if not before:
        raise NotFound(
            f"{later.document} version {later.version} is the first one: there is nothing to compare it with;",
            then=f"cutter law show {later.document} --version {later.version}",
            rest=" prints it",
        )
    return before[-1]


def moments(connection: Connection, document: str, version: int) -> list[datetime]:
    """When a version and each later one was enacted: only at these moments the version or its units can end."""
    return [row.enacted_at for row in versions(connection, document) if row.version >= version]


def unit_versions(connection: Connection, document: str, address: str) -> list[UnitVersion]:
    return UNIT_VERSIONS.all(connection, {"document": document, "address": address.strip("/")})


def search(
    connection: Connection, words: str, *, at: date | None, document: str | None, version: int | None, limit: int,
    recorded: datetime = NEWEST,
) -> list[Hit]:  # fmt: skip
    """The units that have the words, the best first. Raises InvalidInput for words without a letter or digit."""
    if len(words) > limits.SEARCH_WORDS_CHARACTERS_MAX:
        raise InvalidInput(f"the search has {len(words)} characters: at most {limits.SEARCH_WORDS_CHARACTERS_MAX}")
    if not any(character.isalnum() for character in words):
        raise InvalidInput(f"{words!r} has no letter or digit: name a word, such as", then="cutter law search library")
    if version is not None and document is None:
        raise InvalidInput("--version: it numbers the versions of one law; name the law with --document")
    if document is not None:
        known = versions(connection, document, recorded=recorded)
        version = version if version is None else version_meant(known, version=version, at=at).version
    asked = {"words": words, "at": at, "document": document, "version": version, "limit": limit,
             "recorded": recorded}  # fmt: skip
    return HITS.all(connection, asked)


def signers(connection: Connection, version: LawVersion) -> list[Signer]:
    return SIGNERS.all(connection, {"document": version.document, "version": version.version})


def unit_named(connection: Connection, text: UnitTree[U], name: str, *, recorded: datetime = NEWEST) -> U:
    """The unit that a person named by its address or the end of it.

    If only other versions that were recorded up to that moment have it, NotFound names the newest of them.
    """
    addresses = addresses_meant(text, name)
    if len(addresses) == 1:
        return next(unit for unit in text.units if unit.address == addresses[0])
    document, version = text.version.document, text.version.version
    if addresses:
        raise InvalidInput(f"{name} is the end of {len(addresses)} addresses: name one of {', '.join(addresses[:5])}")
    known = unit_versions(connection, document, name)
    others = [row.enacted_by_version for row in known if row.enacted_at <= recorded]
    if others:
        raise NotFound(
            f"{document} version {version} has no unit {name}, and version {max(others)} has one:",
            then=f"cutter law show {document} {name} --version {max(others)}",
            code=NO_UNIT,
        )
    ends = [end for unit in text.units for end in (unit.address, unit.address.partition("/")[2])]
    near = get_close_matches(name, ends, n=1)
    raise NotFound(
        f"{document} version {version} has no unit {name}: {'did you mean' if near else 'see'}",
        then=f"cutter law show {document} {near[0]}" if near else f"cutter law tree {document}",
        rest="?" if near else "",
        code=NO_UNIT,
    )


def _not_enacted(connection: Connection, document: str) -> NotFound:
    """Nothing of this document is enacted: an unknown name, or a document whose run has not enacted it."""
    for name in dict.fromkeys((document, document.upper())):
        if KNOWN.one(connection, {"document_id": name}) and not _is_enacted(connection, name):
            message = f"{name} is registered, and no version of it is enacted:"
            if RUN_OF_DOCUMENT.first(connection, {"document_id": name}) is not None:
                return NotFound(message, then=f"cutter status {name}", rest=" shows its run", code=NOT_ENACTED)
            return NotFound(f"{message} type", then=f"cutter run {name}", code=NOT_ENACTED)
    for other in alike(document, documents_near(connection, document)):
        if _is_enacted(connection, other):
            return NotFound(
                f"{document} is not enacted: did you mean", then=f"cutter law show {other}", rest="?", code=NOT_ENACTED
            )
    return NotFound(f"{document} is not enacted: see", then="cutter law show", code=NOT_ENACTED)


def _is_enacted(connection: Connection, document: str) -> bool:
    return VERSIONS.first(connection, {"document": document, "recorded": NEWEST}) is not None
