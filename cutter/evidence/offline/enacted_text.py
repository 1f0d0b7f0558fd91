"""Pure: steps 11 and 12: the text of a bundle with its law is the signed one, and each enactment names the one before.

`law.md` is the text that was cut, byte for byte. `law.jsonl` has one row for each unit. A row has the fields of the
writer digest, what the run did with the unit, the digest of the line that it ended, and its place in `law.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any as Json

from cutter.evidence.offline.members import Members
from cutter.evidence.offline.notation import digest, hexed

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
    """Steps 11 and 12. They yield their problems or raise one of BROKEN."""

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

    # --- 12: each enactment names the one before it

    @property
    def begins(self) -> bool:
        """Whether the run is the first cut of its law, so that no enactment is before it."""
        return not any(name.startswith("base_") for name in self.pins)

    @property
    def enactment(self) -> str:
        """The hash of the receipt that enacted the law, or an empty text."""
        return "".join(row["receipt_hash"] for row, _ in self.receipts if row["gate"] == ENACTING)

    def follows(self, before: EnactedText | None) -> Iterator[str]:
        """Compare the base of this run with the bundle given before it; None for the first bundle of several."""
        # 12.1
        if before is None:
            yield from ["its predecessor is missing: give that bundle first"] * (not self.begins)
            return
        if self.begins:
            yield "it is a first cut, so no bundle can be before it"
            return
        # 12.2
        named = {name: before.run[name] for name in ("document_id", "run_id")}
        named |= {"source_version_id": before.pins["source_version_id"], "receipt_hash": before.enactment}
        own = {"document_id": self.run["document_id"], **{n: self.pins[f"base_{n}"] for n in (*named,)[1:]}}
        yield from (f"the {name} of its base is not the one of the bundle before it" for name in named
                    if own[name] != named[name])  # fmt: skip
        # 12.3
        # Every unit of the law before is kept, revised or repealed, and nothing else is.
        if "law.md" in self.members and "law.md" in before.members:
            lines = {row["address"]: digest(line_of(row)) for row in before.rows("law") if row["operation"] != "repeal"}
            ends = {row["address"]: row["ends"] for row in self.rows("law") if row["operation"] != "create"}
            for address in sorted(lines.keys() | ends.keys()):
                if lines.get(address) != ends.get(address):
                    yield f"{address} does not continue or end the unit of the bundle before it"

    def base_named(self) -> str:
        """What to give before this bundle, for people."""
        return f"run {self.pins['base_run_id']} with the enactment receipt {hexed(self.pins['base_receipt_hash'])}"
