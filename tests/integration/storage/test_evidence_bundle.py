"""The evidence bundle of a real run: the same bytes at every making, sealed by the closeout, no edit unseen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from activities.gates.closeout import closeout
from cutter.approvals.statement import Statement
from cutter.catalogue import GATES, PLANNED, WorkerRole
from cutter.domain.digests import canonical_json, chain, sha256_hex
from cutter.domain.run_record import FrozenHistory
from cutter.errors import Conflict, NotFound, Unavailable
from cutter.evidence import audit, bundle, offline
from cutter.evidence.bundle import Bundle
from cutter.kb.store import Store
from cutter.messages import GateInput
from cutter.settings import Settings
from cutter.types import Json
from starter.approver import signing_desk
from starter.approver.signing_desk import Signing
from starter.commands.audit import exported as audit_export
from starter.commands.evidence import exported
from starter.commands.rebuild import rebuild_run
from starter.commands.status import view_of
from tests.cases.trials import Dice
from tests.support.database import TestCluster
from tests.support.runs import Deployment, Keys, deployment, drive, law, open_gates

WORD = "zqcanaryx"
BYTES_TRIED = 200
"""Of a bundle's some 140,000, chosen by a seed, beside every structural place; each takes 4 ms."""

Members = dict[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A closed run and its bundle as it was sealed."""

    made: Deployment
    run_id: str
    bundle: Bundle
    signature: bytes | None

    @property
    def members(self) -> Members:
        """The members without their manifest, which is made anew when they are sealed."""
        members = offline.Bundle(self.bundle.data).members
        return {name: body for name, body in members.items() if name != offline.MANIFEST}

    def receipt(self) -> Json:
        result: Json = self.made.database.value(
            "select result from cutter_governance.gate_receipt where run_id = %s and gate = 'IG_closeout'",
            (self.run_id,),
        )
        return result


@pytest.fixture(scope="module")
def closed(cluster: TestCluster, keys: Keys) -> Iterator[Closed]:
    with cluster.database(prefix="evidence") as database, deployment(database, keys) as made:
        run_id = drive(made, law(3, word=WORD)).run_id
        export, sealed, signature = exported(made.settings, run_id)
        assert sealed
        yield Closed(made=made, run_id=run_id, bundle=export, signature=signature)


def verdicts(data: bytes, **given: Any) -> dict[str, str]:
    """Check → its word; of several lines of one check the worst."""
    words: dict[str, str] = {}
    for what, verdict, _ in offline.check(data, **given):
        words[what] = offline.FAILED if offline.FAILED in (verdict, words.get(what)) else verdict
    return words


def refused(data: bytes, **given: Any) -> set[str]:
    """The checks that failed; what cannot even be read as a bundle failed as a whole."""
    try:
        return {what for what, verdict in verdicts(data, **given).items() if verdict == offline.FAILED}
    except offline.BROKEN:
        return {"file"}


# --- made once, and again -------------------------------------------------------------------------------------------


def test_the_closeout_seals_its_digest_in_receipt_report_action_and_folder(closed: Closed) -> None:
    """Seed 003 §8."""
    pins = closed.receipt()["pins"]
    assert (pins["evidence_sha256"], pins["evidence_artifact"]) == (closed.bundle.sha256, closed.bundle.artifact_id)
    kb_id, recorded = closed.made.database.value(
        "select json_build_array(kb_id, sha256) from cutter_governance.outbox where run_id = %s"
        " and subject = 'IG_closeout'",
        (closed.run_id,),
    )
    report = closed.made.deps[WorkerRole.CUTTER].kb.get(kb_id)
    assert sha256_hex(report) == recorded
    assert closed.bundle.sha256.encode() in report
    stored = closed.made.database.value(
        "select payload_sha256 from cutter_governance.action_receipt where run_id = %s and connector = 'evidence'",
        (closed.run_id,),
    )
    assert stored == closed.bundle.sha256
    state = json.loads((closed.made.settings.runs / closed.run_id / "state.json").read_text())
    path = {artifact["path"]: artifact["sha256"] for artifact in state["phases"]["closeout"]["artifacts"]}
    name = closed.bundle.artifact_id.removeprefix(f"{closed.run_id}/")
    assert path[name] == closed.bundle.sha256
    assert sha256_hex((closed.made.settings.runs / closed.run_id / name).read_bytes()) == closed.bundle.sha256


def test_a_bundle_that_is_gone_is_made_again_to_the_byte_whatever_was_recorded_since(closed: Closed) -> None:
    file = closed.made.settings.runs / closed.bundle.artifact_id
    closed.made.database.run(
        "select cutter_governance.fn_refusal_record(%s, null, 'submit_approval', 'late', 'after the end')",
        (closed.run_id,), role="cutter_read",
    )  # fmt: skip
    closed.made.database.run(
        "select cutter_governance.fn_audit(%s, 'later', '{}')", (closed.run_id,), role="cutter_owner"
    )
    file.unlink()
    try:
        again, sealed, _ = exported(closed.made.settings, closed.run_id)
        assert sealed
        assert again.data == closed.bundle.data
    finally:
        file.write_bytes(closed.bundle.data)


def test_other_bytes_in_the_store_are_never_handed_out(closed: Closed) -> None:
    file = closed.made.settings.runs / closed.bundle.artifact_id
    file.write_bytes(closed.bundle.data[:-1] + b"x")
    try:
        with pytest.raises(Conflict, match="its closeout sealed"):
            exported(closed.made.settings, closed.run_id)
    finally:
        file.write_bytes(closed.bundle.data)


def test_it_holds_each_kind_of_record_that_a_run_leaves(closed: Closed) -> None:
    """Seed 003 §8: inputs, outputs, decisions, approvals, receipts of actions, costs, the chain of audit events."""
    rows = offline.Bundle(closed.bundle.data).rows
    assert {"run.json", "source.json", "outputs.json", "costs.json"} <= set(closed.members)
    assert {row["gate"] for row in rows("requests")} == {"SG_cut_authz", "SG_lifecycle_authz"}
    assert len(rows("consumptions")) == 2
    assert {row["connector"] for row in rows("actions")} >= {"kb", "backup"}
    assert [row["gate"] for row in rows("receipts")] == [gate.name for gate in GATES[:-1]]
    assert all(rows(name) for name in ("decisions", "verdicts", "audit"))


def test_every_side_effect_is_there_with_what_the_policy_said_of_it(closed: Closed) -> None:
    """Seed 003 §1.4."""
    rows = offline.Bundle(closed.bundle.data).rows("decisions")
    writes = {row["operation"] for row in rows if row["of"] == "receipt" and row["connector"] == "database"}
    assert writes == {"create_units", "record_cut", "record_verification", "enact_units"}
    assert {row["verdict"] for row in rows if row["of"] == "receipt"} == {"allow"}
    put = [row["target"] for row in rows if row["of"] == "action" and row["operation"] == "put"]
    assert set(put) >= {row["kb_id"] for row in offline.Bundle(closed.bundle.data).rows("documents")}
    assert {f"policies/{row['sha256']}.yaml" for row in rows} < set(closed.members)


def test_the_workers_own_key_has_signed_it(closed: Closed) -> None:
    signer = closed.made.deps[WorkerRole.CUTTER].signer()
    assert closed.signature is not None
    evidence = signer.gpg.verify_detached(closed.bundle.data, closed.signature)
    assert evidence.records[0].primary_fingerprint == signer.fingerprint


def test_no_word_of_the_law_is_in_it(closed: Closed) -> None:
    """Seed 003 §8."""
    count = "select count(*) from public.unit_version where body like %s"
    assert closed.made.database.value(count, (f"%{WORD}%",)) == 2
    for text in (WORD, "An Act to test", "Rule 1", "Preamble"):
        assert text.encode() not in closed.bundle.data


def test_a_run_that_is_not_closed_has_one_as_it_stands_and_no_run_has_none(closed: Closed) -> None:
    made = closed.made
    run_id = drive(made, law(2), until="IG_grant_probe").run_id
    made.approve(run_id, "SG_cut_authz")
    export, sealed, signature = exported(made.settings, run_id)
    assert (sealed, signature) == (False, None)
    assert exported(made.settings, run_id)[0].data == export.data
    assert refused(export.data, head=export.head, sha256=export.sha256, gpg=shutil.which("gpg")) == set()
    missing = run_id[:-1] + ("0" if run_id[-1] != "0" else "1")
    with pytest.raises(NotFound, match="no run"):
        exported(made.settings, missing)


def test_a_statement_of_a_signed_list_is_as_good_as_one_with_its_own_signature(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_a_list(settings: Settings, statement: Statement, signing: Signing, kb_id: str) -> str:
        others = [replace(statement, text=f"another one, {number}") for number in range(4)]
        signed = signing_desk.sign([*others[:2], statement, *others[2:]], signing)[2]
        return signing_desk.upload(settings, signed, kb_id)

    monkeypatch.setattr(signing_desk, "sign_and_upload", in_a_list)
    export, sealed, _ = exported(deployment.settings, drive(deployment, law(3)).run_id)
    assert sealed
    words = verdicts(export.data, sha256=export.sha256, gpg=shutil.which("gpg"))
    assert (words["approvals"], words["authorship"]) == (offline.OK, offline.OK)
    members = {name: body for name, body in offline.Bundle(export.data).members.items() if name != offline.MANIFEST}
    files = [name for name in members if name.startswith("signed/") and name.endswith(".asc")]
    assert len(files) == 2
    for name in files:
        assert members[name].startswith(b"cutter-list-signature/1\nplace: 3 of 5\n")
        for old, new in ((b"3 of 5", b"4 of 5"), (b"of 5", b"of 6"), (b"sibling", b"siblings"), (b"GP S", b"GP X")):
            bent = offline.sealed(members | {name: members[name].replace(old, new, 1)})
            assert "authorship" in refused(bent, gpg=shutil.which("gpg"))


# --- the closeout waits for what it needs ---------------------------------------------------------------------------


def test_a_closeout_waits_for_what_was_signed_the_store_and_its_own_workflow(closed: Closed) -> None:
    """Seed 000 §4. What was signed before the database kept it is read from the knowledge base."""
    made = closed.made
    driven = drive(made, law(2), until="IG_lifecycle_enact_execute")
    asked, deps = GateInput(run_id=driven.run_id), made.deps[WorkerRole.CUTTER]
    made.database.run(
        "alter table cutter_governance.signed_statement disable trigger user;"
        " truncate cutter_governance.signed_statement;"
        " alter table cutter_governance.signed_statement enable always trigger trg_signed_statement_append_only"
    )
    signed = made.settings.state / "kb" / driven.approvals["SG_lifecycle_authz"]
    kept = signed.read_bytes()
    signed.unlink()
    with pytest.raises(Unavailable, match="put it back") as refusal:
        closeout(deps, asked)
    assert refusal.value.what == "kb"
    signed.write_bytes(kept + b"and more\n")
    with pytest.raises(Unavailable, match="holds other bytes"):
        closeout(deps, asked)
    signed.write_bytes(kept)
    signature = signed.with_name(f"{signed.name}.asc")
    good = signature.read_bytes()
    signature.write_bytes(b"garbage")
    with pytest.raises(Unavailable, match="has other bytes than the judged signature"):
        closeout(deps, asked)
    signature.write_bytes(good)
    nowhere = deps.settings.model_copy(update={"artifacts_url": "file:///dev/null/x"})
    with pytest.raises(Unavailable) as refusal:
        closeout(replace(deps, settings=nowhere), asked)
    assert refusal.value.what == "artifacts"
    history = FrozenHistory(workflow_id="document/ANOTHER", execution_id="e", events=3, sha256="0" * 64)
    foreign = closeout(replace(deps, history=lambda: history), asked)
    assert (foreign.status, foreign.code) == ("out_of_order", "foreign_workflow")
    assert made.run_row(driven.run_id)["state"] == "lifecycle_enacted"
    own = replace(history, workflow_id=f"document/{driven.document_id}")
    assert closeout(replace(deps, history=lambda: own), asked).status == "passed"
    archive = offline.Bundle(exported(made.settings, driven.run_id)[0].data)
    tried = [row["outcome"] for row in archive.rows("attempts") if row["gate"] == "IG_closeout"]
    assert tried == [*["unavailable"] * 4, "out_of_order"]
    assert json.loads(archive.members["history.json"]) == own.as_json()


def documents(made: Deployment, run_id: str) -> list[str]:
    names: list[str] = made.database.value(
        "select array_agg(kb_id order by id) from cutter_governance.outbox where run_id = %s", (run_id,)
    )
    return names


def test_a_closeout_waits_for_documents_that_are_gone_or_altered_but_not_for_a_taken_name(closed: Closed) -> None:
    """Spec 01: never failed, since the law is enacted; once the documents are back, the run is closed. Seed 000 §4."""
    made = closed.made
    driven = drive(made, law(2), until="IG_lifecycle_enact_execute")
    run_id, deps = driven.run_id, made.deps[WorkerRole.CUTTER]
    kb, names = made.settings.state / "kb", documents(made, driven.run_id)
    gone, altered, linked = (kb / name for name in names[:3])
    waiting = f"{names[0].rpartition('/')[0]}/SG3-stop-route-report-by-a-test.md"
    gone.unlink()
    altered.write_bytes(altered.read_bytes() + b" ")
    linked.unlink()
    linked.symlink_to(kb / names[4])
    with pytest.raises(Unavailable, match=f"`cutter rebuild {run_id}`") as refusal:
        closeout(deps, GateInput(run_id=run_id))
    assert refusal.value.what == "kb"
    problems = (f"gone: {names[0]}", f"altered: {names[1]}", f"gone: {names[2]}")
    assert str(refusal.value).endswith(", ".join(problems))
    for path in (altered, linked):
        path.unlink()
    assert rebuild_run(replace(deps, settings=made.settings), run_id)["conflicts"] == []

    (kb / waiting).write_bytes(b"a stranger was here first\n")
    made.database.run(
        "select cutter_governance.fn_stop_route_record(%s, %s, 'a report')", (run_id, waiting), role="cutter_read"
    )
    assert made.run_row(run_id)["state"] == "lifecycle_enacted"
    assert closeout(deps, GateInput(run_id=run_id)).status == "passed"
    assert waiting.replace(".md", "-other2.md") in documents(made, run_id)
    assert (kb / waiting).read_bytes() == b"a stranger was here first\n"
    tried = "select array_agg(outcome order by n) from cutter_governance.gate_attempt where run_id = %s and gate = %s"
    assert made.database.value(tried, (run_id, "IG_closeout")) == ["unavailable", "passed"]


def test_a_closeout_waits_where_its_bundle_cannot_be_stored_as_it_is(closed: Closed) -> None:
    made = closed.made
    driven = drive(made, law(2), until="IG_lifecycle_enact_execute")
    deps, folder = made.deps[WorkerRole.CUTTER], made.settings.runs / driven.run_id
    target = folder.with_name(f"{driven.run_id}-elsewhere")
    folder.rename(target)
    folder.symlink_to(target)
    try:
        with pytest.raises(Unavailable, match="move the other object away") as refusal:
            closeout(deps, GateInput(run_id=driven.run_id))
    finally:
        folder.unlink()
        target.rename(folder)
    assert refusal.value.what == "artifacts"
    assert closeout(deps, GateInput(run_id=driven.run_id)).status == "passed"


def test_what_stands_in_the_knowledge_base_is_read_before_the_closeouts_transaction(closed: Closed) -> None:
    """A slow store would outlast the transaction's idle timeout."""
    made = closed.made
    driven = drive(made, law(2), until="IG_lifecycle_enact_execute")
    deps = made.deps[WorkerRole.CUTTER]
    reads: dict[str, int] = {}

    class Watched(Store):
        def get(self, name: str, **given: int) -> bytes:
            reads[name] = open_gates(made)
            return super().get(name, **given)

    put_before = documents(made, driven.run_id)
    assert closeout(replace(deps, kb=Watched(deps.kb.url)), GateInput(run_id=driven.run_id)).status == "passed"
    assert set(put_before) < set(reads)
    assert reads.keys().isdisjoint(driven.approvals.values()), "the database has what was signed"
    assert set(reads.values()) == {0}


# --- the check ------------------------------------------------------------------------------------------------------


def test_a_whole_bundle_holds_and_what_the_file_cannot_show_is_said(closed: Closed) -> None:
    blind = verdicts(closed.bundle.data)
    assert set(blind.values()) == {offline.OK, offline.NOT_CHECKED}
    open_questions = {"sha256", "head", "authorship", "history", "policy", "workers", "the law"}
    assert {what for what, verdict in blind.items() if verdict == offline.NOT_CHECKED} == open_questions
    given = verdicts(
        closed.bundle.data, head=closed.bundle.head, sha256=closed.bundle.sha256, gpg=shutil.which("gpg")
    )  # fmt: skip
    assert {what for what, verdict in given.items() if verdict == offline.NOT_CHECKED} == {
        "history",
        "policy",
        "workers",
        "the law",
    }
    assert set(given.values()) == {offline.OK, offline.NOT_CHECKED}


def test_the_head_that_status_names_verifies_the_bundle_and_the_newest_event_is_not_in_it(closed: Closed) -> None:
    """Seed 003 §8."""
    view = view_of(closed.made.settings, closed.run_id)
    assert view.audit_head == closed.bundle.head != view.newest_event
    assert verdicts(closed.bundle.data, head=view.audit_head)["head"] == offline.OK
    assert refused(closed.bundle.data, head=view.newest_event) == {"audit chain"}
    whole = audit_export(closed.made.settings, closed.run_id)
    assert audit.verify(whole, head=view.newest_event).anchored == "all events"
    assert audit.verify(whole, head=view.audit_head).anchored.startswith("events 1 to ")


def test_a_head_that_was_noted_while_the_run_was_open_still_verifies(closed: Closed) -> None:
    """Seed 003 §8."""
    driven = drive(closed.made, law(2), until="IG_grant_probe")
    noted = view_of(closed.made.settings, driven.run_id).audit_head
    drive(closed.made, run_id=driven.run_id, document_id=driven.document_id)
    data = exported(closed.made.settings, driven.run_id)[0].data
    lines = [why for what, word, why in offline.check(data, head=noted) if (what, word) == ("head", offline.OK)]
    assert len(lines) == 1
    assert lines[0].startswith("covers events 1 to ")


def test_one_changed_byte_anywhere_is_seen_without_anything_from_outside(closed: Closed) -> None:
    data, dice = closed.bundle.data, Dice(1, "bytes")
    places = {dice.below(len(data)) for _ in range(BYTES_TRIED)}
    at = 0
    for body in offline.Bundle(data).members.values():
        # The header's fields, the body's ends, its padding.
        places |= {at + field for field in (0, 99, 104, 128, 140, 150, 156, 258, 340)}
        places |= {at + 511, at + 512, at + 511 + len(body)}
        at += 512 + -(-len(body) // 512) * 512
    places |= {at, len(data) - 1}
    for place in sorted(places):
        changed = bytearray(data)
        changed[place] ^= 1 + dice.below(255)
        assert refused(bytes(changed)), f"byte {place}"


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\0", lambda data: data * 2, len])
def test_bytes_that_are_cut_off_or_added_are_seen(closed: Closed, change: Callable[[bytes], bytes]) -> None:
    data = change(closed.bundle.data)
    assert refused(data if isinstance(data, bytes) else b"")


def edited(name: str, change: Callable[[list[Json]], object]) -> Callable[[Members], None]:
    """Change the rows of a member of JSON lines."""

    def forge(members: Members) -> None:
        rows = [json.loads(line) for line in members[name].splitlines()]
        change(rows)
        members[name] = "".join(canonical_json_of(row) + "\n" for row in rows).encode()

    return forge


def canonical_json_of(value: Json) -> str:
    return offline.canonical(value)


def invented(event_type: str) -> Callable[[list[Json]], object]:
    """One event more of a kind that the chain has."""

    def add(rows: list[Json]) -> None:
        rows.append(next(row for row in reversed(rows) if row["event_type"] == event_type) | {"to_state": "voided"})

    return add


def of_moves(rows: list[Json]) -> None:
    """As many lines as before: the first says less, and so fits every move; the others are invented."""
    moves = [row for row in rows if row["event_type"] == "document_run_state_transition"]
    for number, row in enumerate(moves):
        kept = {"event_type": row["event_type"]}
        rows[rows.index(row)] = kept | ({"to_state": "voided"} if number else {})


def of_receipt(rows: list[Json]) -> None:
    """The cutplan planned something else, and every receipt after it follows."""
    previous = rows[2]["prev_hash"]
    rows[2]["sealed_body"] = rows[2]["sealed_body"].replace('"ok": true', '"ok": false', 1)
    for row in rows[2:]:
        row["prev_hash"], row["receipt_hash"] = previous, chain(previous, row["sealed_body"])
        previous = row["receipt_hash"]


def of_tuple(rows: list[Json]) -> None:
    rows[0]["tuple"]["writer_digest"] = "0" * 64
    rows[0]["challenge"] = sha256_hex(canonical_json(rows[0]["tuple"]))


def other_statement(members: Members) -> None:
    name = next(name for name in members if name.endswith(".md"))
    members[name] = members[name].replace(b"decision: approve", b"decision: reject")


def swapped_signatures(members: Members) -> None:
    first, other = (name for name in members if name.startswith("signed/") and name.endswith(".asc"))
    members[first], members[other] = members[other], members[first]


def without(suffix: str, prefix: str = "") -> Callable[[Members], None]:
    def forge(members: Members) -> None:
        del members[next(name for name in members if name.startswith(prefix) and name.endswith(suffix))]

    return forge


def other_epoch(members: Members) -> None:
    name = next(name for name in members if name.startswith("epochs/"))
    members[name] = members[name].replace(b"succession: 1", b"succession: 2")


def every(**changed: object) -> Callable[[list[Json]], object]:
    """The same change of each row."""
    return lambda rows: [row.update(changed) for row in rows]


def ahead(**changed: object) -> Callable[[list[Json]], object]:
    """A forged copy of the first row before it: whoever reads by name sees the real one last."""
    return lambda rows: rows.insert(0, rows[0] | changed)


def of_denied_copy(rows: list[Json]) -> None:
    """The first gate was denied, says a receipt before its own."""
    ahead(sealed_body=rows[0]["sealed_body"].replace('"allow"', '"deny"'))(rows)


def of_other_tuple_copy(rows: list[Json]) -> None:
    """The request was for another digest, says one of the same id before it."""
    ahead(tuple=rows[0]["tuple"] | {"writer_digest": "0" * 64})(rows)


def said_twice(name: str, place: int, first: bytes) -> Callable[[Members], None]:
    """A line says one thing to whoever reads it from the front, and the right one to a parser."""

    def forge(members: Members) -> None:
        lines = members[name].splitlines(keepends=True)
        lines[place] = b"{" + first + b"," + lines[place][1:]
        members[name] = b"".join(lines)

    return forge


def swapped(members: Members) -> None:
    """The first request is gone: the second stands in its place too."""
    edited("requests.jsonl", lambda rows: rows[0].update(rows[1]))(members)


def second_chain(members: Members) -> None:
    """The global chain may speak of any run: one that is added to a bundle tells of another starter."""
    events = [json.loads(line) for line in members["audit.jsonl"].splitlines()[:-1]]
    last = {"run_head": events[-1]["hash"], "run_seq": events[-1]["seq"]}
    body = json.dumps(json.loads(events[0]["body"]) | last | {"starter": "mallory"})
    start = sha256_hex(offline.GLOBAL)
    own = {"chain": offline.GLOBAL, "body": body, "prev_hash": start, "hash": chain(start, body)}
    members["audit.jsonl"] = audit.export([events[0] | own, *events])
    edited("run.json", every(starter="mallory"))(members)


FORGED: dict[str, tuple[Callable[[Members], None], str]] = {
    "a receipt left out": (edited("receipts.jsonl", lambda rows: rows.pop(3)), "receipts"),
    "a receipt rewritten with those after it": (edited("receipts.jsonl", of_receipt), "receipts"),
    "a receipt of another gate": (edited("receipts.jsonl", lambda rows: rows[1].update(gate="IG_cutplan")), "receipts"),
    "another run": (edited("run.json", lambda rows: rows[0].update(run_id="ictr-other")), "receipts"),
    "a request for other digests": (edited("requests.jsonl", of_tuple), "approvals"),
    "a request's document": (edited("requests.jsonl", lambda r: r[0].update(request_sha256="0" * 64)), "approvals"),
    "a consumption left out": (edited("consumptions.jsonl", lambda rows: rows.pop()), "approvals"),
    "a consumption by another request": (
        edited("consumptions.jsonl", lambda r: r[0].update(request_id=r[1]["request_id"])), "approvals"),
    "another signer": (edited("verdicts.jsonl", lambda rows: rows[0].update(fingerprint="0" * 40)), "approvals"),
    "another approver": (edited("verdicts.jsonl", lambda rows: rows[0].update(approver="mallory")), "approvals"),
    "a refused verdict": (edited("verdicts.jsonl", lambda rows: rows[0].update(accepted=False)), "approvals"),
    "another statement": (other_statement, "approvals"),
    "a statement left out": (without(".md"), "approvals"),
    "a signature left out": (without(".asc", "signed/"), "authorship"),
    "a key left out": (without(".asc", "keys/"), "approvals"),
    "another policy epoch": (other_epoch, "approvals"),
    "signatures swapped": (swapped_signatures, "authorship"),
    "a policy left out": (without(".yaml", "policies/"), "receipts"),
    "a transition left out": (edited("transitions.jsonl", lambda rows: rows.clear()), "receipts"),
    "a transition invented": (edited("transitions.jsonl", invented("document_run_state_transition")), "receipts"),
    "an approval's end invented": (edited("transitions.jsonl", invented("approval_state_transition")), "receipts"),
    "transitions that say less": (edited("transitions.jsonl", of_moves), "receipts"),
    "an event of the chain": (
        edited("audit.jsonl", lambda r: r[4].update(body=r[4]["body"].replace('"at"', '"AT"'))), "audit chain"),
    "other people consumed": (
        edited("consumptions.jsonl", every(approver="mallory", fingerprint="F" * 40)), "approvals"),
    "another policy epoch consumed": (edited("consumptions.jsonl", every(policy_sha256="0" * 64)), "approvals"),
    "another document consumed": (edited("consumptions.jsonl", every(document_id="ICX-OTHER")), "approvals"),
    "another version consumed": (edited("consumptions.jsonl", every(source_version_id=None)), "approvals"),
    "another digest consumed": (edited("consumptions.jsonl", every(writer_digest="0" * 64)), "approvals"),
    "more units consumed": (edited("consumptions.jsonl", every(candidate_count=4)), "approvals"),
    "another run consumed": (edited("consumptions.jsonl", every(run_id="ictr-other")), "approvals"),
    "another challenge consumed": (edited("consumptions.jsonl", every(challenge="0" * 64)), "approvals"),
    "another decision consumed": (edited("consumptions.jsonl", every(review_decision_id=None)), "approvals"),
    "a receipt twice, once denied": (edited("receipts.jsonl", of_denied_copy), "receipts"),
    "a verdict twice, once by another": (edited("verdicts.jsonl", ahead(approver="mallory")), "approvals"),
    "a verdict that was refused, invented": (
        edited("verdicts.jsonl", ahead(accepted=False, code="signature_wrong")), "approvals"),
    "a verdict left out": (edited("verdicts.jsonl", lambda rows: rows.pop(0)), "approvals"),
    "a verdict of another decision": (edited("verdicts.jsonl", every(decision="reject")), "approvals"),
    "a verdict of another document": (edited("verdicts.jsonl", every(kb_id="elsewhere.md")), "approvals"),
    "a request twice, once for other digests": (edited("requests.jsonl", of_other_tuple_copy), "approvals"),
    "a request left out": (edited("requests.jsonl", lambda rows: rows.pop(0)), "approvals"),
    "a request in another's place": (swapped, "approvals"),
    "another starter": (edited("run.json", every(starter="mallory")), "receipts"),
    "another starter by a second chain": (second_chain, "receipts"),
    "another mode": (edited("run.json", every(mode="dryrun")), "receipts"),
    "another document": (edited("run.json", every(document_id="ICX-OTHER")), "receipts"),
    "decisions that say other than the receipts": (edited("decisions.jsonl", every(verdict="deny")), "receipts"),
    "a decision of a receipt left out": (edited("decisions.jsonl", lambda rows: rows.pop(0)), "receipts"),
}  # fmt: skip
"""What somebody changes who knows the format and makes the manifest anew → the check that must refuse it."""


@pytest.mark.parametrize("name", FORGED)
def test_an_edit_with_a_fitting_manifest_contradicts_the_rest(closed: Closed, name: str) -> None:
    forge, check = FORGED[name]
    members = closed.members
    forge(members)
    data = offline.sealed(members)
    assert data != closed.bundle.data
    failures = {what: why for what, word, why in offline.check(data, gpg=shutil.which("gpg")) if word == offline.FAILED}
    assert check in failures
    assert "manifest" not in failures.get("archive", "")


ADDED: dict[str, tuple[Callable[[Members], None], str]] = {
    "a page of a stranger": (lambda m: m.update({"zz-approval-by-minister.md": b"approved"}), "zz-approval-by-min"),
    "a statement that nobody judged": (lambda m: m.update({f"signed/{'0' * 64}.md": b"approved"}), "signed/0000"),
    "a key that no epoch names": (lambda m: m.update({f"keys/{'0' * 64}.asc": b"key"}), "keys/0000"),
    "an epoch that judged nothing": (lambda m: m.update({f"epochs/{'0' * 64}.yaml": b"epoch"}), "epochs/0000"),
    "a policy that decided nothing": (lambda m: m.update({f"policies/{'0' * 64}.yaml": b"policy"}), "policies/0000"),
    "a starter twice": (said_twice("run.json", 0, b'"starter":"mallory"'), "run.json line 1"),
    "an approver twice": (said_twice("consumptions.jsonl", 1, b'"approver":"mallory"'), "consumptions.jsonl line 2"),
    "a name twice inside": (
        lambda m: m.update({"requests.jsonl": m["requests.jsonl"].replace(b'"tuple":{', b'"tuple":{"nonce":"0",', 1)}),
        "requests.jsonl line 1"),
    "a state twice in a transition": (said_twice("transitions.jsonl", 2, b'"to_state": "voided"'), "transitions.jsonl"),
    "a cost twice": (said_twice("costs.json", 0, b'"total":0'), "costs.json line 1"),
}  # fmt: skip
"""What somebody adds who makes the manifest anew → the member, and its line, that the archive's check must name."""


@pytest.mark.parametrize("name", ADDED)
def test_what_was_added_is_named_though_the_manifest_has_it(closed: Closed, name: str) -> None:
    forge, member = ADDED[name]
    members = closed.members
    forge(members)
    data = offline.sealed(members)
    failures = {what: why for what, word, why in offline.check(data, head=closed.bundle.head) if word == offline.FAILED}
    assert member in failures["archive"]


def test_no_member_can_be_left_out(closed: Closed) -> None:
    members = closed.members
    for name in {*members} - {"run.json", "audit.jsonl"}:  # without those no manifest can be made
        data = offline.sealed({other: body for other, body in members.items() if other != name})
        assert refused(data, head=closed.bundle.head), name


def test_each_forged_row_is_named(closed: Closed) -> None:
    members = closed.members
    edited("consumptions.jsonl", lambda rows: rows[1].update(approver="mallory"))(members)
    edited("verdicts.jsonl", ahead(approver="mallory"))(members)
    why = {what: why for what, _, why in offline.check(offline.sealed(members))}["approvals"]
    assert "verdicts.jsonl is not what the rest says: {" in why
    assert 'consumptions.jsonl is not what the rest says: {"approver":"mallory"' in why


def of_denial(rows: list[Json]) -> None:
    """Leg A was denied, and every receipt from it on follows."""
    written = rows[len(PLANNED) :]
    previous = written[0]["prev_hash"]
    written[0]["sealed_body"] = written[0]["sealed_body"].replace('"verdict": "allow"', '"verdict": "deny"', 1)
    for row in written:
        row["prev_hash"], row["receipt_hash"] = previous, chain(previous, row["sealed_body"])
        previous = row["receipt_hash"]


def test_a_gate_that_was_sealed_against_its_policy_is_named(closed: Closed) -> None:
    members = closed.members
    edited("receipts.jsonl", of_denial)(members)
    reasons = {what: why for what, _, why in offline.check(offline.sealed(members))}
    assert "the policy that decided about IG_cut_leg_a_execute is missing, or denied it" in reasons["receipts"]


def test_what_the_chain_does_not_cover_is_covered_by_the_digest_alone(closed: Closed) -> None:
    members = closed.members
    edited("attempts.jsonl", lambda rows: rows[0].update(outcome="unavailable"))(members)
    data = offline.sealed(members)
    assert refused(data, head=closed.bundle.head, gpg=shutil.which("gpg")) == set(), "the reason for --sha256"
    assert refused(data, sha256=closed.bundle.sha256) == {"sha256"}


def test_a_chain_that_was_rewritten_with_everything_else_needs_a_head_from_outside(closed: Closed) -> None:
    """The control: whoever rewrites all of it deceives a check that is given nothing, which says so."""
    members = closed.members
    events = [json.loads(line) for line in members["audit.jsonl"].splitlines()[:-1]]
    previous = sha256_hex(closed.run_id)
    for event in events:
        event["body"] = event["body"].replace('"starter": "olga"', '"starter": "oleg"')
        event["prev_hash"], event["hash"] = previous, chain(previous, event["body"])
        previous = event["hash"]
    members["audit.jsonl"] = audit.export(events)
    edited("run.json", every(starter="oleg"))(members)
    data = offline.sealed(members)
    assert refused(data, gpg=shutil.which("gpg")) == set()
    assert verdicts(data)["head"] == offline.NOT_CHECKED
    assert refused(data, head=closed.bundle.head) == {"audit chain"}
    assert refused(data, sha256=closed.bundle.sha256) == {"sha256"}


def test_the_frozen_history_is_compared_with_the_events_that_are_given(closed: Closed) -> None:
    events = [{"eventId": str(number), "eventType": "T"} for number in range(1, 5)]
    frozen = {"events": 3, "sha256": sha256_hex("".join(canonical_json(event) + "\n" for event in events[:3]))}
    members = closed.members
    members["history.json"] = (canonical_json(frozen) + "\n").encode()
    data = offline.sealed(members)
    assert verdicts(data, history=json.dumps({"events": events}).encode())["history"] == offline.OK
    for other in ([events[1], events[0], *events[2:]], events[:2], [events[0] | {"eventType": "U"}, *events[1:]]):
        assert refused(data, history=json.dumps({"events": other}).encode()) == {"history"}


def test_the_stored_artifact_is_the_one_that_was_sealed(closed: Closed) -> None:
    """By another way than the command's own. Seed 003 §8."""
    store = Store(closed.made.settings.artifacts, id_rule=bundle.artifact_id_rule, what="artifacts")
    assert store.get(closed.bundle.artifact_id) == closed.bundle.data
