"""Pure: step 11: the text of a bundle that was exported with its law is the text that people signed.

`law.md` is the text that was cut, byte for byte. `law.jsonl` has one row for each unit. A row has the fields of the
writer digest, what the run did with the unit, the digest of the line that it ended, and its place in `law.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any as Json

from cutter.evidence.offline.members import Members
from cutter.evidence.offline.notation import digest
from cutter.evidence.offline.output import hexed

FIELDS = ("address", "unit_kind", "section_type", "publication_type", "owner", "title", "body_sha256", "parent_address")
"""The fields of a line of the writer digest, in order."""
CHANGE = ("operation", "ends", "continues")
OPERATIONS = ("keep", "revise", "create", "repeal")
ENACTING = "IG_lifecycle_enact_execute"
SEPARATOR = "\x1f"


def line_of(row: Json) -> str:
    """The line of a unit in the writer digest. Raises ValueError if a field could be read as two."""
    for field in (*FIELDS, *CHANGE):
        if not isinstance(row[field], str) or SEPARATOR in row[field] or "\n" in row[field]:
            raise ValueError(f"law.jsonl has a unit whose {field} is not one field of a line")
    return SEPARATOR.join(row[name] for name in FIELDS)


def law_digest(rows: list[Json], pins: Json) -> str:
    """The writer digest of the rows: of a first cut without a base, else of the difference to the base."""
    ordered = sorted(rows, key=lambda row: row["address"].encode())
    if "base_receipt_hash" not in pins:
        return digest("\n".join(["writer/1", *map(line_of, ordered)]))
    base = SEPARATOR.join(pins[name] for name in ("operation_kind", "base_source_version_id", "base_receipt_hash"))
    lines = (SEPARATOR.join((line_of(row), *(row[name] for name in CHANGE))) for row in ordered)
    return digest("\n".join(["writer/2", base, *lines]))


class EnactedText(Members):
    """Step 11. It yields its problems or raises one of BROKEN."""

    def text(self) -> Iterator[str]:
        region, rows = self.members["law.md"], self.rows("law")
        # 11.1
        if digest(region) != self.pins["region_sha"]:
            yield f"law.md is {digest(region)}, but the run cut {hexed(self.pins['region_sha'])}"
        # 11.2
        # Each unit that is in the law has its place in the text, and no two places overlap.
        addresses, end = [row["address"] for row in rows], 0
        if len(set(addresses)) != len(rows):
            yield "law.jsonl has an address twice"
        for row in rows:
            form = None if row["operation"] == "repeal" else [int, int]
            types = None if row["place"] is None else [type(number) for number in row["place"]]
            if set(row) != {*FIELDS, *CHANGE, "place"} or row["operation"] not in OPERATIONS or types != form:
                yield f"{row['address']} does not have the fields of its operation"
        for row in sorted((row for row in rows if row["place"] is not None), key=lambda row: row["place"]):
            start, stop = row["place"]
            if not end <= start < stop <= len(region) or digest(region[start:stop]) != row["body_sha256"]:
                yield f"the text of {row['address']} in law.md is not the signed one"
            end = stop
        # 11.3
        own = law_digest(rows, self.pins)
        if own != self.pins["writer_digest"]:
            yield f"the units digest to {own}, but people signed {hexed(self.pins['writer_digest'])}"
        # 11.4
        if ENACTING not in {row["gate"] for row, _ in self.receipts}:
            yield "the bundle has a law, but no receipt of its enactment"

    def held(self) -> str:
        """How many units the law has, and how many the run ended, for people."""
        rows = self.rows("law")
        ended = sum(row["operation"] == "repeal" for row in rows)
        return f"{len(rows) - ended} units" + (f" and {ended} repealed ones" if ended else "")
