"""IO: makes the evidence bundle of a run: one file from PostgreSQL and the folder of approvers.

The same run always gives the same bytes: the members are in order, JSON is canonical, and the tar has no times or
owners (`offline.sealed`). A bundle holds digests and metadata, but no text of a law. Its only texts are the signed
statements, the policy epochs that name the signers, and their public keys. An export can add the enacted text, which
the signed digests cover (`law_members`). docs/reference/evidence.md describes each member.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cutter.approvals import approver_store
from cutter.approvals.policy_file import parse_policy
from cutter.approvals.reader import read_approval
from cutter.domain import recorded_values
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.evidence import audit, offline
from cutter.evidence.offline import MANIFEST, canonical, sealed
from cutter.gpg import find_binary
from cutter.kb.ids import artifact_id_rule
from cutter.kb.store import Store
from cutter.law.export_record import region_of
from cutter.projections import costs
from cutter.storage import enacted_law
from cutter.storage.approval_facts import document_of
from cutter.storage.law_texts import CONTINUED, ENACTED, LAW, export_of_version
from cutter.storage.records import Connection
from cutter.types import Json

TABLES = (
    "receipts", "attempts", "requests", "verdicts", "consumptions", "revocations", "orders", "acknowledgements",
    "voids", "refusals", "actions", "documents", "signatures",
)  # fmt: skip
"""The lists in the answer of `fn_run_evidence`. Each becomes a member of canonical JSON lines."""

ORDERS = 100
"""The newest orders of a run, whose statements are in its bundle (`fn_evidence_approvals` has the same number).

`cutter_read` alone can record any number. An older order needs a later resume that accepts it.
"""

NO_HISTORY: Json = {"events": 0, "sha256": None}
"""The history of a run that is not closed yet, or that was closed without Temporal: no history was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """The signed documents of a run, by member name, and a sentence for each used document that is missing now.

    `doubtful` are the orders: the exec worker has not judged all of them. `read_again` says that
    the knowledge base gave the bytes of a consumed one, because it was judged before the database kept them.
    """

    members: dict[str, bytes] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    doubtful: frozenset[str] = frozenset()
    read_again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The bytes of a bundle, the id of its run, and the last head of the run's audit chain."""

    run_id: str
    head: str
    data: bytes

    @property
    def sha256(self) -> str:
        return sha256_hex(self.data)

    @property
    def artifact_id(self) -> str:
        """The bundle's name in the store, from its content. So a bundle of an unsealed attempt never blocks another."""
        return f"{self.run_id}/evidence-{self.sha256[:16]}.tar"


def artifacts(url: str) -> Store:
    """The store of bundles and backups."""
    return Store(url, id_rule=artifact_id_rule, what="artifacts")


def gathered(facts: Json, kb: Store, approvers: Path) -> Signed:
    """The statements that were used, with their signatures, the policy epochs that judged them, and the signers' keys.

    The statements are those that the database kept when they were judged. Raises Unavailable if the folder of approvers
    cannot be read, or the knowledge base if it is needed.
    """
    members: dict[str, bytes] = {}
    bodies = {epoch["sha256"]: epoch["body"].encode() for epoch in facts["epochs"]}
    known = {sha256: parse_policy(body) for sha256, body in bodies.items()}
    kept = {row["approval_sha256"]: document_of({**row, "kb_id": ""}) for row in facts["signed"]}
    consumed = {row["approval_sha256"] for row in facts["consumptions"]}
    used = consumed | {row["statement_sha256"] for row in facts["orders"][-ORDERS:]}
    missing = []
    for verdict in [row for row in facts["verdicts"] if row["accepted"] and row["approval_sha256"] in used]:
        sha256, epoch = verdict["approval_sha256"], known.get(verdict["policy_sha256"])
        signer = epoch.approver_of(verdict["fingerprint"]) if epoch is not None else None
        try:
            document = kept.get(sha256) or read_approval(kb, verdict["kb_id"])
            if document.approval_sha256 != sha256:
                raise NotFound(f"{verdict['kb_id']} holds other bytes")
            key = approver_store.public_key(approvers, signer) if signer is not None else b""
        except (NotFound, InvalidInput) as problem:
            missing.append(str(problem))
            continue
        members |= {f"signed/{sha256}.md": document.body, f"signed/{sha256}.asc": document.signature}
        members |= {f"keys/{signer.key_sha256}.asc": key} if signer is not None else {}
        members |= {f"epochs/{verdict['policy_sha256']}.yaml": bodies[verdict["policy_sha256"]]} if epoch else {}
    return Signed(
        members=members, missing=tuple(missing), read_again=not consumed <= kept.keys(),
        doubtful=frozenset(used - consumed),
    )  # fmt: skip


def built(facts: Json, signed: Signed, transitions: bytes, history: Json | None) -> Bundle:
    """The bundle of an answer of `fn_run_evidence`, with the part of `transitions` up to its moment (`as_of`)."""
    members = {
        "run.json": _line(facts["run"]),
        "source.json": _line(facts["source"]),
        "outputs.json": _line(facts["outputs"]),
        "costs.json": _line(costs.rollup(facts)),
        "history.json": _line(history or NO_HISTORY),
        "audit.jsonl": audit.export(facts["events"]),
        "transitions.jsonl": b"".join(
            line
            for line in transitions.splitlines(keepends=True)
            # The times all have the same form, so they are compared as texts.
            if facts["as_of"] is None or str(json.loads(line)["timestamp"]) <= facts["as_of"]
        ),
        "decisions.jsonl": b"".join(_line(row) for row in decisions(facts)),
        **{f"{name}.jsonl": b"".join(_line(row) for row in facts[name]) for name in TABLES},
        **{f"policies/{policy['sha256']}.yaml": policy["body"].encode() for policy in facts["policies"]},
        **signed.members,
    }
    if signed.doubtful:
        _leave_out_unsound(members, signed.doubtful)
    return Bundle(run_id=facts["run"]["run_id"], head=facts["events"][-1]["hash"], data=sealed(members))


def _leave_out_unsound(members: dict[str, bytes], doubtful: frozenset[str]) -> None:
    """Leave out a statement that nobody signed as the cutter worker's verdict says, with what only it needs.

    The password of cutter_read is enough to record such a verdict. The bundle lists the verdict without its bytes.
    """
    bundle, gpg = offline.Bundle(sealed(members)), find_binary()
    try:
        unsound = [row for row in bundle.accepted if row["approval_sha256"] in doubtful and not bundle.sound(row, gpg)]
    except (OSError, subprocess.SubprocessError) as problem:
        raise Unavailable(f"gpg did not check a signature: {problem}", what="gpg") from None
    for name in [f"signed/{row['approval_sha256']}" for row in unsound]:
        del members[f"{name}.md"], members[f"{name}.asc"]
    needed = offline.Bundle(sealed(members)).needed()
    for name in [name for name in members if name.startswith(("epochs/", "keys/")) and name not in needed]:
        del members[name]


def decisions(facts: Json) -> Iterator[Json]:
    """The policy's decision about each side effect: at sealed gates, at refused attempts, and at other effects."""
    for receipt in facts["receipts"]:
        yield from _decided(recorded_values.parsed(receipt["sealed_body"]), {"of": "receipt", "gate": receipt["gate"]})
    for attempt in facts["attempts"]:
        where = {"of": "attempt", "gate": attempt["gate"], "n": attempt["n"]}
        yield from _decided(recorded_values.mapping(attempt["report"]), where)
    for action in facts["actions"]:
        rule = recorded_values.mapping(recorded_values.mapping(action["request_metadata"]).get("policy"))
        if rule:
            what = {name: action[name] for name in ("connector", "operation", "target")}
            sha256 = rule.get("sha256")
            known = {"sha256": sha256 if isinstance(sha256, str) else recorded_values.shown(sha256)}
            yield {"of": "action", "gate": action["gate"], **what, **rule, **known}


def _decided(holder: Json, where: Json) -> Iterator[Json]:
    """The decisions of a recorded policy. A malformed decision is listed as malformed and cannot change `where`."""
    policy = recorded_values.policy(holder.get("policy")) or {"sha256": "", "decisions": ()}
    for decision in policy["decisions"]:
        yield {**decision, **where, "sha256": policy["sha256"]}


def _line(value: object) -> bytes:
    return (canonical(value) + "\n").encode()


def law_members(connection: Connection, document: str, run_id: str) -> dict[str, bytes]:
    """The two members with the enacted text of a run, `law.md` and `law.jsonl`.

    Raises NotFound if nothing is enacted, and Conflict if the stored text is not the signed one.
    """
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
    return {"law.md": region_of(made), "law.jsonl": b"".join(f"{canonical(row)}\n".encode() for row in rows)}


def with_law(data: bytes, members: dict[str, bytes]) -> bytes:
    """A bundle with the law added. Without the added members it is the sealed one again."""
    own = {name: body for name, body in offline.Bundle(data).members.items() if name != MANIFEST}
    return sealed({**own, **members})
