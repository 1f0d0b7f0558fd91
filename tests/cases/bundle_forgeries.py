"""Pure: what a forger removes from a bundle and replaces in it, and what the auditor needs to see it.

`REMOVED` takes things away from a gate's approval, `REPLACED` puts others in their place; both are applied alone and in
combinations. `NAMED` are whole forgeries with a name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from cutter.evidence import offline
from tests.cases.bundle_forger import CUT, LIFECYCLE, WRITES, Forger, Row

Edit = Callable[[Forger, str], None]
Whole = Callable[[Forger], object]
FORGED = "f0" * 32
"""A digest of the forger's own."""


# --- removed ----------------------------------------------------------------------------------------------------------


def no_statement(forger: Forger, gate: str) -> None:
    for name in forger.signed(gate):
        forger.members.pop(f"signed/{name}.md", None)


def no_signature(forger: Forger, gate: str) -> None:
    for name in forger.signed(gate):
        forger.members.pop(f"signed/{name}.asc", None)


def no_verdict(forger: Forger, gate: str) -> None:
    forger.drop("verdicts", lambda row: row["gate"] == gate)
    forger.forget(lambda body: body["kind"] == "verdict" and body["gate"] == gate)


def no_key(forger: Forger, _: str) -> None:
    forger.members = {name: body for name, body in forger.members.items() if not name.startswith("keys/")}


def no_epoch(forger: Forger, _: str) -> None:
    forger.members = {name: body for name, body in forger.members.items() if not name.startswith("epochs/")}


def no_consumption(forger: Forger, gate: str) -> None:
    forger.drop("consumptions", lambda row: row["gate"] == gate)
    forger.forget(lambda body: body["kind"] == "approvals_consumed" and body["gate"] == gate)


def no_request(forger: Forger, gate: str) -> None:
    forger.drop("requests", lambda row: row["gate"] == gate)
    forger.forget(lambda body: body.get("trigger") == gate)


def no_receipt(forger: Forger, gate: str) -> None:
    forger.drop("receipts", lambda row: row["gate"] == WRITES[gate])
    forger.forget(lambda body: body.get("trigger") == WRITES[gate])


REMOVED: dict[str, Edit] = {
    "consumption": no_consumption, "verdict": no_verdict, "statement": no_statement, "signature": no_signature,
    "key": no_key, "epoch": no_epoch, "request": no_request, "receipt": no_receipt,
}  # fmt: skip


def remove(forger: Forger, gate: str, names: frozenset[str]) -> None:
    """Take several things away; those that are found by another one's rows go first."""
    for name in ("statement", "signature", *REMOVED):
        if name in names:
            REMOVED[name](forger, gate)


# --- replaced ---------------------------------------------------------------------------------------------------------


def other(gate: str) -> str:
    return LIFECYCLE if gate == CUT else CUT


def of_gate(gate: str, **changed: object) -> Callable[[list[Row]], object]:
    return lambda rows: [row.update(changed) for row in rows if row["gate"] == gate]


def statement_altered(forger: Forger, gate: str) -> None:
    for name in forger.signed(gate):
        body = forger.members.get(f"signed/{name}.md", b"")
        forger.members[f"signed/{name}.md"] = body.replace(b"allowance: explicit", b"allowance: implied")


def statement_of_other_gate(forger: Forger, gate: str) -> None:
    mine, theirs = forger.signed(gate), forger.signed(other(gate))
    for old, new in zip(mine, theirs, strict=False):
        for ending in (".md", ".asc"):
            forger.members[f"signed/{old}{ending}"] = forger.members.get(f"signed/{new}{ending}", b"")


def statement_to_reject(forger: Forger, gate: str) -> None:
    for name in forger.signed(gate):
        body = forger.members.get(f"signed/{name}.md", b"")
        forger.members[f"signed/{name}.md"] = body.replace(b"decision: approve", b"decision: reject")


def signature_of_other_gate(forger: Forger, gate: str) -> None:
    for old, new in zip(forger.signed(gate), forger.signed(other(gate)), strict=False):
        forger.members[f"signed/{old}.asc"] = forger.members.get(f"signed/{new}.asc", b"")


def signature_of_nothing(forger: Forger, gate: str) -> None:
    for name in forger.signed(gate):
        forger.members[f"signed/{name}.asc"] = b"-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----\n"


def verdict_by_another(forger: Forger, gate: str) -> None:
    forger.edit("verdicts", of_gate(gate, approver="mallory"))
    forger.edit("consumptions", of_gate(gate, approver="mallory"))


def verdict_by_another_key(forger: Forger, gate: str) -> None:
    for row in forger.verdicts(gate):
        forger.everywhere(row["fingerprint"], "F" * 40)


def verdict_of_a_rejection(forger: Forger, gate: str) -> None:
    forger.edit("verdicts", of_gate(gate, decision="reject"))


def verdict_refused(forger: Forger, gate: str) -> None:
    refused = {"accepted": False, "code": "signature_wrong"}
    forger.edit("verdicts", of_gate(gate, **refused))
    bodies = forger.bodies()
    for body in bodies:
        body.update(refused if body["kind"] == "verdict" and body["gate"] == gate else {})
    forger.tell(bodies)


def consumption_of_other_digest(forger: Forger, gate: str) -> None:
    forger.edit("consumptions", of_gate(gate, writer_digest=FORGED))


def consumption_of_other_statement(forger: Forger, gate: str) -> None:
    for name in forger.signed(gate):
        forger.edit("consumptions", of_gate(gate, approval_sha256=FORGED))
        texts = (json.dumps(body).replace(name, FORGED) if body["kind"] == "approvals_consumed" else json.dumps(body)
                for body in forger.bodies())  # fmt: skip
        forger.tell([json.loads(text) for text in texts])


def request_of_other_law(forger: Forger, gate: str) -> None:
    for row in forger.rows("requests"):
        if row["gate"] == gate:
            forger.edit("requests", of_gate(gate, tuple=row["tuple"] | {"writer_digest": FORGED}))


def request_document(forger: Forger, gate: str) -> None:
    forger.edit("requests", of_gate(gate, request_sha256=FORGED))


def key_of_nobody(forger: Forger, _: str) -> None:
    keys = [name for name in forger.members if name.startswith("keys/")]
    forger.members.update(dict.fromkeys(keys, b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n"))


def epoch_without_the_gate(forger: Forger, gate: str) -> None:
    for name, body in list(forger.members.items()):
        if name.startswith("epochs/"):
            text = body.decode().replace("gates: [SG_cut_authz, SG_lifecycle_authz]", f"gates: [{other(gate)}]")
            forger.members[name] = text.encode()


def receipt_of_other_law(forger: Forger, _: str) -> None:
    """Another law was cut, say receipts, requests, verdicts and consumptions; the statements are as they were."""
    kept = {name: body for name, body in forger.members.items() if name.startswith("signed/")}
    forger.everywhere(forger.law, FORGED)
    forger.members.update(kept)


def law_and_statements(forger: Forger, _: str) -> None:
    """Another law was cut and approved, says all of it, the statements too."""
    forger.everywhere(forger.law, FORGED)


REPLACED: dict[str, Edit] = {
    "an altered statement": statement_altered,
    "the other gate's statement": statement_of_other_gate,
    "a statement to reject": statement_to_reject,
    "the other gate's signature": signature_of_other_gate,
    "an empty signature": signature_of_nothing,
    "another signer": verdict_by_another,
    "another signer's key": verdict_by_another_key,
    "a verdict to reject": verdict_of_a_rejection,
    "a refused verdict": verdict_refused,
    "a consumption of another digest": consumption_of_other_digest,
    "a consumption of an unknown statement": consumption_of_other_statement,
    "a request for another law": request_of_other_law,
    "another document to read": request_document,
    "a key of nobody": key_of_nobody,
    "an epoch that lets nobody sign for the gate": epoch_without_the_gate,
    "receipts of another law": receipt_of_other_law,
    "another law in all of it": law_and_statements,
}

UNSEEN_WITHOUT_GPG = frozenset({
    "the other gate's signature", "an empty signature", "another signer's key", "a key of nobody",
    "another law in all of it",
})  # fmt: skip
"""What contradicts nothing but a signature."""


# --- whole forgeries --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgery:
    """A forgery: the genuine bundle that it begins with, what is done to it, and what shows it.

    `seen_by` is empty when the file itself shows it. Else it is what the auditor must have from elsewhere: `gpg`,
    `head`, `epoch`.
    """

    name: str
    change: Whole
    of: str = "one"
    seen_by: str = ""


def nobody_signed(forger: Forger) -> None:
    """No statement, no key, no epoch, no verdict."""
    for gate in (CUT, LIFECYCLE):
        remove(forger, gate, frozenset({"statement", "signature", "key", "epoch", "verdict"}))


def own_digest(forger: Forger) -> None:
    """The same, and another law altogether."""
    nobody_signed(forger)
    receipt_of_other_law(forger, CUT)


def only_cut_signed(forger: Forger) -> None:
    """The cut was approved, the enactment was not."""
    remove(forger, LIFECYCLE, frozenset({"statement", "signature", "verdict"}))


def gates_by_other_names(forger: Forger) -> None:
    """The gates that need approvals are called otherwise."""
    nobody_signed(forger)
    for gate in (CUT, LIFECYCLE):
        remove(forger, gate, frozenset({"consumption"}))
        forger.everywhere(WRITES[gate], "IG_step")


def no_writing_receipts(forger: Forger) -> None:
    """The law is enacted, say the states; no receipt says by which gate."""
    for gate in (CUT, LIFECYCLE):
        remove(forger, gate, frozenset({"statement", "signature", "key", "epoch", "verdict", "consumption"}))
        forger.drop("receipts", lambda row, gate=gate: row["gate"] == WRITES[gate])
    bodies = forger.bodies()
    for body in bodies:
        if body.get("trigger") in WRITES.values():
            body["metadata"].pop("receipt_hash", None)
    forger.tell(bodies)


def one_of_two(forger: Forger) -> None:
    """The second person's approval is left out with everything that names it."""
    for gate in (CUT, LIFECYCLE):
        _without_second(forger, gate)


def _without_second(forger: Forger, gate: str) -> None:
    name = [row["approval_sha256"] for row in forger.rows("consumptions") if (row["gate"], row["slot"]) == (gate, 2)]
    for ending in (".md", ".asc"):
        forger.members.pop(f"signed/{name[0]}{ending}")
    key = next(row["fingerprint"] for row in forger.rows("verdicts") if row["approval_sha256"] == name[0])
    for table in ("verdicts", "consumptions"):
        forger.drop(table, lambda row: row["approval_sha256"] == name[0])
    forger.forget(lambda body: body["kind"] == "verdict" and body["approval_sha256"] == name[0])
    bodies = forger.bodies()
    for body in bodies:
        if body["kind"] == "approvals_consumed":
            body["approvals"] = [approval for approval in body["approvals"] if approval != name[0]]
    forger.tell(bodies)
    if not any(row["fingerprint"] == key for row in forger.rows("verdicts")):
        epoch = next(body.decode() for member, body in forger.members.items() if member.startswith("epochs/"))
        listed = epoch.partition(f"fingerprint: {key}\n    key_sha256: ")[2][:64]
        forger.members.pop(f"keys/{listed}.asc")


def one_person_twice(forger: Forger) -> None:
    """The second slot holds the first person's statement again."""
    for gate in (CUT, LIFECYCLE):
        rows = sorted((row for row in forger.rows("consumptions") if row["gate"] == gate), key=lambda row: row["slot"])
        first = rows[0]
        _without_second(forger, gate)
        forger.put("consumptions", [*forger.rows("consumptions"), first | {"slot": 2}])
        bodies = forger.bodies()
        for body in bodies:
            if body["kind"] == "approvals_consumed" and body["gate"] == gate:
                body["approvals"] = body["approvals"] * 2
        forger.tell(bodies)


def one_of_two_by_a_tier(forger: Forger) -> None:
    """The second person's approval is left out, and nobody has asked for two."""
    one_of_two(forger)
    forger.edit("requests", lambda rows: [row.update(tier="medium") for row in rows])
    forger.edit("receipts", lambda rows: [
        row.update(sealed_body=row["sealed_body"].replace('"tier": "high"', '"tier": "medium"')) for row in rows
    ])  # fmt: skip


def started_by_the_approver(forger: Forger) -> None:
    """Who approved has started the run."""
    forger.everywhere("olga", forger.verdicts(CUT)[0]["approver"])


def truncated(forger: Forger) -> None:
    """The enactment never happened: its last events, receipt and approval are left out."""
    remove(forger, LIFECYCLE, frozenset({"statement", "signature", "verdict", "consumption", "receipt", "request"}))
    forger.forget(lambda body: inside_gate(body) == LIFECYCLE)
    run = json.loads(forger.members["run.json"]) | {"state": "write_verified"}
    forger.members["run.json"] = (offline.canonical(run) + "\n").encode()


def inside_gate(body: Row) -> object:
    return body.get("metadata", {}).get("gate")


def finding_that_nobody_accepted(forger: Forger) -> None:
    """The cut had a red finding, says the receipt of the marking. The people who signed accepted none."""
    for row in forger.rows("receipts"):
        if row["gate"] == "IG_mark":
            body = json.loads(row["sealed_body"])
            body["result"]["pins"]["red_findings"] = "looks_uncut:LINE-3"
            forger.edit("receipts", of_gate("IG_mark", sealed_body=json.dumps(body)))


def another_starter(forger: Forger) -> None:
    """Somebody else has started the run, says all of it."""
    forger.everywhere("olga", "oleg")


NAMED = (
    Forgery(name="none", change=nobody_signed),
    Forgery(name="digest", change=own_digest),
    Forgery(name="sg2", change=only_cut_signed),
    Forgery(name="gates by other names", change=gates_by_other_names),
    Forgery(name="states without receipts", change=no_writing_receipts),
    Forgery(name="the approver started it", change=started_by_the_approver),
    Forgery(name="one of two people", change=one_of_two, of="two"),
    Forgery(name="one person twice", change=one_person_twice, of="two"),
    Forgery(name="one of two, and nobody asked for more", change=one_of_two_by_a_tier, of="two", seen_by="head"),
    Forgery(name="a red finding that nobody accepted", change=finding_that_nobody_accepted),
    Forgery(name="truncated", change=truncated, seen_by="head"),
    Forgery(name="another starter", change=another_starter, seen_by="head"),
)
