"""IO: the control arm: documents that are lost or doubled on purpose, which the same checks must find."""

from __future__ import annotations

from collections.abc import Callable
from typing import LiteralString

from cutter.types import Json
from tests.hosts.database import Server
from tests.hosts.maintenance import PLANTED

BYPASS: LiteralString = "".join(
    f"alter table {table} disable trigger all; "
    for table in (
        "public.information_unit", "public.enactment", "cutter_governance.run", "cutter_governance.gate_receipt",
        "cutter_governance.approval_consumption",
    )
) + "drop index public.information_unit_address_key; "  # fmt: skip
"""Without triggers, foreign keys and the unique address, as only the owner of the database can write."""

PLANTS: dict[str, LiteralString] = {
    "a unit that is no longer enacted":
        "update public.information_unit set lifecycle_status = 'draft' where canonical_address like '{}/%'",
    "a unit that is missing":
        "delete from public.information_unit where id = (select id from public.information_unit"
        " where canonical_address like '{}/%' limit 1)",
    "a unit that is there twice":
        "insert into public.information_unit select (jsonb_populate_record(u, jsonb_build_object('id',"
        " gen_random_uuid()))).* from public.information_unit u where canonical_address like '{}/%' limit 1",
    "an enactment that is missing": "delete from public.enactment where source_document_ref = '{}'",
    "a receipt that is missing":
        "delete from cutter_governance.gate_receipt where gate = 'IG_closeout' and run_id = (select run_id"
        " from cutter_governance.run where document_id = '{}')",
    "an approval that was consumed twice":
        "insert into cutter_governance.approval_consumption select (jsonb_populate_record(c, jsonb_build_object("
        "'approval_sha256', repeat('0', 64), 'slot', 2, 'approver', 'other', 'fingerprint', repeat('0', 40),"
        " 'review_decision_id', null))).* from cutter_governance.approval_consumption c"
        " where document_id = '{}' limit 1",
    "a run that is open":
        "update cutter_governance.run set state = 'pending', ended_at = null, outcome = null where document_id = '{}'",
}  # fmt: skip


Look = Callable[[str], list[Json]]
Judge = Callable[[list[Json]], list[str]]


def unseen(server: Server, document: str, look: Look, judge: Judge) -> list[str]:
    """The plants that the checks did not find. Each is in a copy of the restored database, where all else is right."""
    problems = judge(look(PLANTED))
    missed = [f"the restored copy is wrong before anything was planted: {problems[0]}"] if problems else []
    for name, statement in PLANTS.items():
        server.rows("create database control template planted")
        server.rows(BYPASS + statement.replace("{}", document), database="control")
        missed += [] if judge(look("control")) else [name]
        server.rows("drop database control")
    return missed
