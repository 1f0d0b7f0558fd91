"""Pure: step 12: each enactment of a law names the one before it, from bundle to bundle."""

from __future__ import annotations

from collections.abc import Iterator

from cutter.evidence.offline.enacted_text import ENACTING, line_of
from cutter.evidence.offline.members import Members
from cutter.evidence.offline.notation import digest
from cutter.evidence.offline.output import hexed


class Succession(Members):
    """Step 12. It yields its problems or raises one of BROKEN."""

    @property
    def begins(self) -> bool:
        """Whether the run is the first cut of its law, so that no enactment is before it."""
        return not any(name.startswith("base_") for name in self.pins)

    @property
    def enactment(self) -> str:
        """The hash of the receipt that enacted the law, or an empty text."""
        return "".join(row["receipt_hash"] for row, _ in self.receipts if row["gate"] == ENACTING)

    def follows(self, before: Succession | None) -> Iterator[str]:
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
