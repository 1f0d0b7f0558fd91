"""Pure: whether a file is an export of a law byte for byte, as the database has it or had it before an enactment."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest

from cutter.law import export_forms
from cutter.law.export_record import LawExport

WRITERS: dict[str, Callable[[LawExport], bytes]] = {
    "markdown": export_forms.markdown,
    "json": export_forms.json_document,
    "jsonl": export_forms.json_lines,
    "csv": export_forms.csv_table,
    "jsonld": export_forms.json_ld,
}
AKN = "akn"
FORMS = ("markdown", "json", "jsonl", "csv", AKN, "jsonld")

NO_EXPORT = (ValueError, LookupError, TypeError, AttributeError, SyntaxError, RecursionError)
"""The errors that a file raises if its form is that of an export and its content is not."""

_CSV_ROW = re.compile(rb'[^\n]*\n"([^"\n]*)","([0-9]+)"')
_EXCERPT = 60


def writer(form: str) -> Callable[[LawExport], bytes]:
    """What writes a form. Raises ImportError for `akn` without the extra."""
    if form == AKN:
        from cutter.law.akoma_ntoso import akoma_ntoso

        return akoma_ntoso
    return WRITERS[form]


def form_of(data: bytes) -> str | None:
    """The form of a file by its content; None if it is no export."""
    start = data[:2000].lstrip()
    if data.endswith(export_forms.TRAILER_END) and export_forms.TRAILER in data:
        return "markdown"
    if start.startswith(b"<") and b"akomaNtoso" in start:
        return AKN
    if start.startswith(b'"document","version"'):
        return "csv"
    if not start.startswith(b"{"):
        return None
    try:
        if json.loads(data.partition(b"\n")[0]).get("kind"):
            return "jsonl"
    except NO_EXPORT:
        pass
    try:
        values = json.loads(data)
    except RecursionError:
        return None
    except ValueError:
        return "jsonl"
    return "jsonld" if "@context" in values else "json" if "record" in values else None


def version_of(data: bytes, form: str) -> tuple[str, int]:
    """The document and the version that a file names. Raises one of NO_EXPORT, or ImportError for `akn`."""
    if form == "csv":
        row = _CSV_ROW.match(data)
        if row is None:
            raise ValueError("it has no unit")
        return row.group(1).decode(), int(row.group(2))
    if form == AKN:
        from cutter.law.akoma_ntoso import record_text

        record = json.loads(record_text(data))
    elif form == "markdown":
        record = json.loads(data.rpartition(export_forms.TRAILER)[2].removesuffix(export_forms.TRAILER_END))
    elif form == "jsonl":
        record = json.loads(data.partition(b"\n")[0])
    else:
        record = json.loads(data)["record" if form == "json" else "cutter:record"]
    return str(record["document"]), int(str(record["version"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The outcome. `difference` is a fault; `note` says that later versions have ended units since."""

    identical: bool
    difference: str | None = None
    note: str | None = None


def check(data: bytes, form: str, newest: LawExport, earlier: Iterable[LawExport] = ()) -> Checked:
    """Compare a file with the export as it is now, and as it was before each later enactment."""
    made = writer(form)(newest)
    if made == data:
        return Checked(identical=True)
    for export in earlier:
        if writer(form)(export) == data:
            ended = sum(old != new for old, new in zip(export.units, newest.units, strict=True))
            return Checked(
                identical=False, note=f"later versions have ended {ended} of {len(newest.units)} units since"
            )
    # The first line that differs, from a little before the place where it differs.
    lines = enumerate(zip_longest(data.split(b"\n"), made.split(b"\n")), start=1)
    number, (given, wanted) = next((number, pair) for number, pair in lines if pair[0] != pair[1])
    alike = zip(given or b"", wanted or b"", strict=False)
    place = next(
        (at for at, (byte, other) in enumerate(alike) if byte != other), min(len(given or b""), len(wanted or b""))
    )
    begin = max(place - _EXCERPT // 2, 0)
    shown = f"{_excerpt(given, begin)} in the file and {_excerpt(wanted, begin)} in the database"
    return Checked(identical=False, difference=f"line {number} has {shown}")


def _excerpt(line: bytes | None, begin: int) -> str:
    return "the end" if line is None else repr(line[begin : begin + _EXCERPT].decode(errors="replace"))
