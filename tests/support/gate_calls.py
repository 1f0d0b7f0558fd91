"""IO: the gate functions of the database themselves, for tests that go where an activity would not."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from cutter.catalogue import BY_NAME
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.policy.command import operations_at
from cutter.types import Json
from tests.support.database import Connection, Database


def one(connection: Connection, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
    """The first column of the first row."""
    row = connection.execute(statement, parameters).fetchone()
    return row[0] if row else None


def attempt(connection: Connection, gate: str, run_id: str) -> int:
    """Register an attempt and commit it; its number, or 0 before the gate's turn."""
    answer = one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 'test', 60)", (run_id, gate))
    connection.commit()
    assert answer["status"] in ("registered", "predecessor_not_sealed"), answer
    return int(answer.get("attempt", 0))


def payload(connection: Connection, gate: str, run_id: str) -> str:
    """The payload digest that the product would send for this gate now."""
    previous = one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 'test', 60)", (run_id, gate))
    connection.rollback()
    return canonical_digest({"run_id": run_id, "gate": gate, "prev_hash": previous["prev_hash"] or ""})


POLICY = "rules: of a test\n"


def allowed(gate: str, verdict: str = "allow", tier: str | None = None) -> Json:
    """What a worker records of a policy that says so to everything that the gate does."""
    decision = {"verdict": verdict, "tier": tier, "rule": "all", "line": 3, "why": "so"}
    return {
        "sha256": sha256_hex(POLICY.encode()),
        "text": POLICY,
        "decisions": [
            {"connector": operation.connector, "operation": operation.name, **decision}
            for operation in operations_at(gate)
        ],
    }


def open_gate(
    connection: Connection,
    gate: str,
    run_id: str,
    *,
    number: int | None = None,
    approvals: Sequence[Json] = (),
    rehearse: bool = False,
    payload_sha256: str | None = None,
    policy: Json | None = None,
) -> Json:
    """fn_gate_open in the connection's transaction, after registering an attempt (unless `number` names one)."""
    if number is None:
        number = attempt(connection, gate, run_id)
    digest = payload_sha256 or payload(connection, gate, run_id)
    answer: Json = one(
        connection,
        "select cutter_governance.fn_gate_open(%s, %s, %s, %s, %s, %s, %s)",
        (run_id, gate, number, digest, Jsonb(list(approvals)), rehearse, Jsonb(policy or allowed(gate))),
    )
    return answer | {"attempt": number}


def close_gate(connection: Connection, gate: str, run_id: str, number: int, pins: Json) -> Json:
    """fn_gate_close with these pins; nothing is committed."""
    answer: Json = one(
        connection,
        "select cutter_governance.fn_gate_close(%s, %s, %s, %s, %s)",
        (
            run_id,
            gate,
            number,
            Jsonb({"gate": gate, "invariants": [], "pins": pins, "notes": []}),
            f"a-{run_id[-12:]}/{BY_NAME[gate].report}-x.md",
        ),
    )
    return answer


@contextmanager
def meanwhile(waiting: Connection, work: Callable[[], Any]) -> Iterator[Future[Any]]:
    """Run `work` on that connection in a thread; the block starts when it waits for a lock. Answers a future."""
    pid = waiting.info.backend_pid
    with ThreadPoolExecutor(1) as pool, psycopg.connect(waiting.info.dsn, password=waiting.info.password) as watcher:
        watcher.autocommit = True
        future = pool.submit(work)
        while not future.done():
            row = watcher.execute("select cardinality(pg_blocking_pids(%s)) > 0", (pid,)).fetchone()
            if row and row[0]:
                break
        yield future


_VERDICT = """
insert into cutter_governance.approval_verdict (run_id, gate, kb_id, approval_sha256, accepted, code, reason, decision,
    approver, fingerprint, challenge, writer_digest, review_decision_id, not_after, policy_sha256, statement)
select %s, %s, %s, v.approval_sha256, v.accepted, v.code, v.reason, v.decision, v.approver, v.fingerprint, v.challenge,
    v.writer_digest, v.review_decision_id, v.not_after, v.policy_sha256, v.statement
from jsonb_populate_record(null::cutter_governance.approval_verdict, %s) v
"""
_HEARD = "select cutter_governance.fn_audit(%s, 'verdict', %s)"
_IN_THE_CHAIN = ("accepted", "code", "approval_sha256", "fingerprint")


def store_verdict(database: Database, run_id: str, gate: str, kb_id: str, row: dict[str, Any]) -> None:
    """A verdict as the owner can store it: unlike fn_verdict_record, without its bytes and whatever it says."""
    database.run(_VERDICT, (run_id, gate, kb_id, Jsonb(row)))
    heard = {"gate": gate, "kb_id": kb_id, **{name: row[name] for name in _IN_THE_CHAIN}}
    database.run(_HEARD, (run_id, Jsonb(heard)))


RECORD = "select cutter_governance.fn_verdict_record(%s, %s, %s, %s, %s, %s)"


def another_accepted(database: Database, **changed: Any) -> tuple[str, str, str, Jsonb, bytes, bytes]:
    """What RECORD takes to accept one more statement like the newest accepted one, some fields of the verdict changed.

    The statement differs by a line of free text, so its signature is not good.
    """
    row = database.value(
        "select to_jsonb(v) || jsonb_build_object('body', encode(s.body, 'base64'),"
        " 'file', encode(s.signature, 'base64'))"
        " from cutter_governance.approval_verdict v join cutter_governance.signed_statement s on s.verdict_id = v.id"
        " order by v.id desc limit 1"
    )
    body, signature = b64decode(row["body"]) + b"\nonce more\n", b64decode(row["file"])
    verdict = {**row, "not_after": row["statement"]["not_after"], "approval_sha256": sha256_hex(body), **changed}
    return row["run_id"], verdict["gate"], row["kb_id"], Jsonb(verdict), body, signature


def stop_report(run_id: str) -> str:
    """A name that a report about a stop of the run may have."""
    return f"a-{run_id[-12:]}/SG3-stop-route-report-x.md"
