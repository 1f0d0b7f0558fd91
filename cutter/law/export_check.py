"""Pure: whether a file is an export of a law as the database has it now, and what differs.

A later version ends a version and its units. So an end that the file does not have is a note and no difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cutter.domain.digests import sha256_hex
from cutter.law import export_forms
from cutter.law.export_forms import ReadExport
from cutter.law.export_record import LawExport

MAY_END = frozenset({"effective_until", "unit_effective_until", "eli:date_no_longer_in_force"})
"""Fields that a later version fills."""

WRITERS: dict[str, Callable[[LawExport], bytes]] = {
    "markdown": export_forms.markdown,
    "json": export_forms.json_document,
    "jsonl": export_forms.json_lines,
    "csv": export_forms.csv_table,
    "jsonld": export_forms.json_ld,
}
READERS: dict[str, Callable[[bytes], ReadExport]] = {
    "markdown": export_forms.read_markdown,
    "json": export_forms.read_json,
    "jsonl": export_forms.read_json_lines,
    "csv": export_forms.read_csv,
    "jsonld": export_forms.read_json_ld,
}
AKN = "akn"
FORMS = ("markdown", "json", "jsonl", "csv", AKN, "jsonld")


def writer(form: str) -> Callable[[LawExport], bytes]:
    """What writes a form. Raises ImportError for `akn` without the extra."""
    if form == AKN:
        from cutter.law.akoma_ntoso import akoma_ntoso

        return akoma_ntoso
    return WRITERS[form]


def reader(form: str) -> Callable[[bytes], ReadExport]:
    """What reads a form. Raises ImportError for `akn` without the extra."""
    if form == AKN:
        from cutter.law.akoma_ntoso import read_akoma_ntoso

        return read_akoma_ntoso
    return READERS[form]


def form_of(data: bytes) -> str | None:
    """The form of a file by its content; None if it is no export."""
    start = data[:2000].lstrip()
    if data.endswith(export_forms.TRAILER_END) and export_forms.TRAILER in data:
        return "markdown"
    if start.startswith(b"<") and b"akomaNtoso" in start:
        return AKN
    if start.startswith(b'"document","version"'):
        return "csv"
    if start.startswith(b"{"):
        return _json_form(data)
    return None


def _json_form(data: bytes) -> str | None:
    first = data.partition(b"\n")[0]
    try:
        if json.loads(first).get("kind"):
            return "jsonl"
    except ValueError:
        pass
    try:
        values = json.loads(data)
    except ValueError:
        return "jsonl"
    return "jsonld" if "@context" in values else "json" if "record" in values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The outcome. `differences` are faults; `notes` say what a later version has changed since."""

    identical: bool
    differences: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.differences


def check(data: bytes, form: str, fresh: LawExport) -> Checked:
    """Compare a file with the export that the database gives now for the same version."""
    made = writer(form)(fresh)
    if made == data:
        return Checked(identical=True, differences=(), notes=())
    given, wanted = reader(form)(data), reader(form)(made)
    differences, notes = [], []
    for place, name, ours, theirs in _pairs(given, wanted, fresh):
        if ours == theirs:
            continue
        if name in MAY_END and not theirs:
            notes.append(f"{place} has ended since: {name} is {ours} now")
        else:
            differences.append(f"{place}: {name} is {_short(theirs)} in the file and {_short(ours)} in the database")
    if not differences and not notes:
        notes.append("the file is written differently, and everything in it is as in the database")
    return Checked(identical=False, differences=tuple(differences), notes=tuple(notes))


def _pairs(given: ReadExport, wanted: ReadExport, fresh: LawExport) -> Iterator[tuple[str, str, Any, Any]]:
    """(Place, field, the database's value, the file's value) of everything that both should have."""
    yield from _of_fields("the record", wanted.record, given.record)
    if given.text is not None:
        yield "the text", "sha256", fresh.record.region_sha256, sha256_hex(given.text)
        if not given.units:
            yield from _missing_units(given.text, fresh)
    for address in wanted.units.keys() | given.units.keys():
        ours, theirs = wanted.units.get(address), given.units.get(address)
        if ours is None or theirs is None:
            yield address, "the unit", "present" if ours else "absent", "present" if theirs else "absent"
            continue
        yield from _of_fields(address, ours, theirs)
        if "body" in theirs:
            yield address, "sha256 of the text", ours["content_sha256"], sha256_hex(str(theirs["body"]))


def _missing_units(text: bytes, fresh: LawExport) -> Iterator[tuple[str, str, Any, Any]]:
    for unit in fresh.units:
        if unit.body.encode() not in text:
            yield unit.address, "the text of the unit", "present", "absent"


def _of_fields(place: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, Any]]:
    for name in sorted(ours.keys() | theirs.keys()):
        our_value, their_value = ours.get(name), theirs.get(name)
        records, others = _records(our_value), _records(their_value)
        if len(records) == len(others) > 0:
            for number, (record, its) in enumerate(zip(records, others, strict=True), 1):
                yield from _of_fields(f"{place}, {name} {number}", record, its)
        else:
            yield place, name, our_value, their_value


def _records(value: object) -> list[Mapping[str, Any]]:
    """The records of a list that has nothing else, such as the signers."""
    items = value if isinstance(value, list) else []
    return items if all(isinstance(item, Mapping) for item in items) else []


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 70 else f"{text[:60]}… ({len(text)} characters)"
