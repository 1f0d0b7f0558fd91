"""IO: the two members that put the enacted text of a run into its bundle: `law.md` and `law.jsonl`.

The sealed bundle has no text. An export adds these members from PostgreSQL, and the digests that people signed cover
them (cutter/evidence/offline/enacted_text.py).
"""

from __future__ import annotations

from cutter.domain.digests import sha256_hex
from cutter.errors import NotFound
from cutter.evidence.offline import MANIFEST, Bundle, canonical, sealed
from cutter.law.export_record import region_of
from cutter.storage import enacted_law
from cutter.storage.law_export import export_of_version
from cutter.storage.law_in_force import CONTINUED, ENACTED, LAW
from cutter.storage.pools import Connection

TEXT, ROWS = "law.md", "law.jsonl"


def law_members(connection: Connection, document: str, run_id: str) -> dict[str, bytes]:
    """The members. Raises NotFound if nothing is enacted, and Conflict if the stored text is not the signed one."""
    known = enacted_law.versions(connection, document)
    mine = [version for version in known if version.run_id == run_id]
    if not mine:
        raise NotFound(f"{run_id} has enacted no version of {document}: see", then=f"cutter law history {document}")
    made = export_of_version(connection, known, mine[0], country="zz", language="und")
    asked = {"run_id": run_id}
    ended = {unit.address: unit for unit in LAW.all(connection, asked)}
    units = {unit.address: unit for unit in ENACTED.all(connection, asked)}
    continued = {row.address: row.continues for row in CONTINUED.all(connection, asked)}
    # Where each unit begins and ends in the text, in bytes.
    between = {piece.before_order: len(piece.text.encode()) for piece in made.left_out}
    places, end = dict[str, list[int]](), 0
    for piece in made.units:
        start = end + between.get(piece.order, 0)
        end = start + len(piece.body.encode())
        places[piece.address] = [start, end]
    rows = []
    for address in sorted(units.keys() | ended.keys(), key=str.encode):
        unit, old = units.get(address), ended.get(address)
        shown = unit or ended[address]
        same = unit is not None and old is not None and unit.digest_line == old.digest_line
        operation = "repeal" if unit is None else "create" if old is None else "keep" if same else "revise"
        rows.append({
            "address": address, "unit_kind": shown.unit_kind, "section_type": shown.section_type,
            "publication_type": shown.publication_type or "", "owner": shown.owner, "title": shown.title,
            "body_sha256": shown.body_sha256, "parent_address": shown.parent_address or "", "operation": operation,
            "ends": sha256_hex(old.digest_line) if old else "", "continues": continued.get(address, ""),
            "place": places.get(address),
        })  # fmt: skip
    return {TEXT: region_of(made), ROWS: b"".join(f"{canonical(row)}\n".encode() for row in rows)}


def with_law(data: bytes, members: dict[str, bytes]) -> bytes:
    """A bundle with the law added. Without the added members it is the sealed one again."""
    own = {name: body for name, body in Bundle(data).members.items() if name != MANIFEST}
    return sealed({**own, **members})
