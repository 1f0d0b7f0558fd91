"""IO: a database that has been at work for long: every row of its finished runs again, thousands of times.

    fill(database, 3_000)

Each copy is of another document: its ids, digests, names and times differ from the first ones'. PostgreSQL's triggers
are off meanwhile, so the rows need no gate; its constraints hold. The database must have no open run, request or queue
entry, because a copy of it would wait for people as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import LiteralString

from psycopg import sql

from tests.support.database import Connection, Database

SCHEMAS = ("public", "cutter_governance")

BOUNDED = frozenset(
    f"{schema}.{name}"
    for schema, names in {
        "public": ("vocabulary",),
        "cutter_governance": (
            "gate_catalogue", "lane", "schema_baseline", "definition_snapshot", "definition_cache", "policy_epoch",
            "governing_policy", "effect_policy", "tenant_cap", "notification_channel", "worker_heartbeat",
        ),
    }.items()
    for name in names
)  # fmt: skip
"""Tables that runs do not grow. Of ended workers each role keeps a thousand. Any other table, also a later one, counts
as growing."""

PREFIX = "ICX-"
"""Every document of the first rows begins with it; those of copy 7 begin with `G7-`."""

STEP = 1_000_000
"""Copy n of row 5 of a table with numbered rows has the number 5 + n times this."""

COLUMNS: LiteralString = """
select n.nspname || '.' || c.relname, jsonb_agg(jsonb_build_array(a.attname, format_type(a.atttypid, null))
    order by a.attnum)
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
where c.relkind = 'r' and n.nspname = any (%s)
group by 1 order by 1
"""

TRIGGERS: LiteralString = """
select c.relnamespace::regnamespace || '.' || c.relname, t.tgname, t.tgenabled = 'A'
from pg_trigger t join pg_class c on c.oid = t.tgrelid
where not t.tgisinternal and c.relnamespace::regnamespace::text = any (%s)
"""

IDS: LiteralString = """
select run_id from cutter_governance.run union select batch_id from cutter_governance.batch order by 1
"""

SHARED_CHAINS = "'global', 'workers', 'tenants', 'vocabulary'"
"""Chains of the audit that belong to no run and no batch."""

NUMBERED = (
    "left({column}, -6) || "
    "lpad(to_hex((('x' || right({column}, 6))::bit(24)::integer + m.n::integer) & 16777215), 6, '0')"
)
"""The id of a copy: the last six hex digits count on from those of the first row. So no copy has its first row's id."""

DERIVED = {
    "public.source_snapshot.bytes": "convert_to(t.sha256 || m.n, 'UTF8')",
    "public.source_snapshot.sha256": "encode(sha256(convert_to(t.sha256 || m.n, 'UTF8')), 'hex')",
    "public.source_version.content_checksum": "encode(sha256(convert_to(t.content_checksum || m.n, 'UTF8')), 'hex')",
    "public.source_version.profile_sha256": "t.profile_sha256",
    "public.source_version.profile_body": "t.profile_body",
    "public.unit_search.words": "array_to_tsvector(array['copy' || m.n])",
    "public.unit_search.grams": "array['copy' || m.n]",
    "public.search_word.word": "t.word || 'copy' || m.n",
    "public.search_word.near": "array[t.word || 'copy' || m.n]",
    "public.unit_version.body": "t.body",
    "public.unit_version.content_hash": "t.content_hash",
    "cutter_governance.action_receipt.request_metadata": "t.request_metadata",
    # Each copy is of another time, as each timestamp is. Else an index that begins with this time would have one value.
    "cutter_governance.action_receipt.response_metadata": """case when not t.response_metadata ? 'taken_utc'
        then t.response_metadata else t.response_metadata || jsonb_build_object('taken_utc', to_char(
            (t.response_metadata ->> 'taken_utc')::timestamptz at time zone 'UTC' - m.n * interval '5 minutes',
            'YYYY-MM-DD"T"HH24:MI:SS"Z"')) end""",
    "cutter_governance.outbox.body": "t.body",
    "cutter_governance.gate_receipt.before_pins": "t.before_pins",
    "cutter_governance.gate_receipt.after_pins": "t.after_pins",
    "cutter_governance.gate_receipt.policy": "t.policy",
    "cutter_governance.gate_receipt.prev_hash": "t.prev_hash",
    "cutter_governance.gate_receipt.sealed_body": "t.sealed_body",
    "cutter_governance.gate_receipt.receipt_hash": "t.receipt_hash",
    "cutter_governance.audit_event.body": "t.body",
    "cutter_governance.audit_event.prev_hash": "t.prev_hash",
    "cutter_governance.audit_event.hash": "t.hash",
    "cutter_governance.audit_event.seq": f"t.seq + m.n * {{step}} * (t.chain in ({SHARED_CHAINS}))::integer",
    "cutter_governance.dot_pair_signature.payload": "t.payload",
    "cutter_governance.dot_pair_signature.payload_hash": "t.payload_hash",
    "cutter_governance.approval_consumption.policy_sha256": "t.policy_sha256",
    "cutter_governance.approval_verdict.policy_sha256": "t.policy_sha256",
    "cutter_governance.batch_queue.left_at": "coalesce(t.left_at, t.entered_at)",
    "cutter_governance.notification.created_at": "t.created_at - m.n * interval '5 minutes'",
}
"""Columns of a copy that are no plain renaming of the first row's: those that a constraint derives from others, the
words of a search, because a copy must not be found by the words of the first row, and long texts that no index has."""


BATCH = "01a209c2-51eb-75a6-a427-3458bd6fab88"
DIGEST = "5" * 64

RARE: LiteralString = """
insert into cutter_governance.batch (batch_id, queue_sha256, mode, policy, unattended, lanes, hard_cap_seconds, caps,
    created_by, starter, ended_at)
values (%(batch)s, %(digest)s, 'live', 'default', true, 1, 60, '{}', 'olga', 'olga', now());
insert into cutter_governance.batch_item (batch_id, document_id, position, priority, tenant)
values (%(batch)s, %(document)s, 1, 100, 'default');
insert into cutter_governance.batch_queue (batch_id, document_id, run_id, queue, state, code, reason, kb_id, left_at)
values (%(batch)s, %(document)s, %(run)s, 'error_queue', 'failed_mark', 'a', 'b', 'knowledge/dev/icx-queue.md', now());
insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)
values (%(digest)s, %(run)s, 'resume', 'alice', 'F');
insert into cutter_governance.drift_acknowledgement (run_id, statement_sha256, after_pins, pin_seq)
values (%(run)s, %(digest)s, '{}', 1);
insert into cutter_governance.void_record (run_id, statement_sha256, reason, closed_at)
values (%(run)s, %(digest)s, 'r', now());
insert into cutter_governance.message_refusal (run_id, message, code, reason) values (%(run)s, 'm', 'c', 'r');
insert into cutter_governance.prepared_decision (review_decision_id, batch_id, document_id, actor, created_by)
values (gen_random_uuid(), %(batch)s, %(document)s, 'a', 'olga');
insert into cutter_governance.approval_revocation (approval_sha256, revocation_sha256, approver, kb_id)
values (%(digest)s, %(digest)s, 'alice', 'knowledge/dev/icx-revocation.md');
insert into cutter_governance.revision_row (run_id, address, document_order, operation, unit_id, version_id)
values (%(run)s, 'A/b', 1, 'create', gen_random_uuid(), gen_random_uuid());
insert into cutter_governance.unsigned_decision (run_id, gate, stop, tier, decision, approver, account)
values (%(run)s, 'IG_mark', %(run)s, 'low', 'approve', 'alice', 'A');
"""
"""One row of each kind that a run without trouble does not have. Some contradict the run; nothing looks at them."""


def add_rare_rows(database: Database, run_id: str, document_id: str) -> None:
    """Give an ended run one row in each table that an untroubled run leaves empty, so that `fill` copies it too."""
    values = {"run": run_id, "document": document_id, "batch": BATCH, "digest": DIGEST}
    with database.connect("postgres") as connection, without_triggers(connection):
        for statement in RARE.strip().rstrip(";").split(";\n"):
            connection.execute(statement.encode(), values)


def growing(connection: Connection) -> dict[str, list[tuple[str, str]]]:
    """Each growing table with its columns and their types."""
    rows = connection.execute(COLUMNS, (list(SCHEMAS),)).fetchall()
    return {table: [(name, kind) for name, kind in columns] for table, columns in rows if table not in BOUNDED}


def fill(database: Database, copies: int, *, tables: Collection[str] | None = None) -> None:
    """Copy what the database has, or only these tables, into that many documents' worth of rows.

    Afterwards PostgreSQL counts the rows, so the planner knows of them.
    """
    with database.connect("postgres") as connection:
        connection.execute("set statement_timeout = 0")
        ids = [name for (name,) in connection.execute(IDS).fetchall()]
        with without_triggers(connection):
            for table, columns in growing(connection).items():
                if tables is None or table in tables:
                    connection.execute(_copy(table, columns, ids), {"copies": copies})
        connection.execute("select setval('cutter_governance.pin_seq', %s)", (STEP * (copies + 1),))
    database.run("vacuum analyze")


@contextmanager
def without_triggers(connection: Connection) -> Iterator[None]:
    """Foreign keys and triggers are off inside, also those that fire always; then each is as it was."""
    triggers = connection.execute(TRIGGERS, (list(SCHEMAS),)).fetchall()
    connection.execute("set local session_replication_role = replica")
    _switch(connection, triggers, "disable trigger", "disable trigger")
    yield
    _switch(connection, triggers, "enable always trigger", "enable trigger")
    connection.commit()


def _switch(
    connection: Connection, triggers: list[tuple[str, str, bool]], always: LiteralString, else_: LiteralString
) -> None:
    for table, name, fires_always in triggers:
        connection.execute(
            sql.SQL("alter table {} {} {}").format(
                sql.Identifier(*table.split(".")), sql.SQL(always if fires_always else else_), sql.Identifier(name)
            )
        )


def _copy(table: str, columns: list[tuple[str, str]], ids: list[str]) -> sql.Composed:
    names = sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns)
    values = sql.SQL(", ").join(_value(table, name, kind, ids) for name, kind in columns)
    return sql.SQL(
        "insert into {table} ({names}) overriding system value select {values} from {table} t,"
        " (select n, 'G' || n || '-' as prefix from generate_series(1, %(copies)s::bigint) n) m"
        " where {first}"
    ).format(table=sql.Identifier(*table.split(".")), names=names, values=values, first=_first(table))


def _first(table: str) -> sql.SQL:
    """Only rows that a copy may stand beside: a shared chain has one head."""
    return sql.SQL(f"t.chain not in ({SHARED_CHAINS})" if table.endswith(".audit_head") else "true")  # type: ignore[arg-type]


def _value(table: str, name: str, kind: str, ids: list[str]) -> sql.Composable:
    """What a column of a copy holds."""
    derived = DERIVED.get(f"{table}.{name}")
    if derived is not None:
        return sql.SQL(derived.format(step=STEP))  # type: ignore[arg-type]
    column = sql.SQL("t.{}").format(sql.Identifier(name))
    if kind in ("text", "jsonb", "uuid"):
        return sql.SQL("{}::{}").format(_renamed(sql.SQL("{}::text").format(column), ids), sql.SQL(kind))  # type: ignore[arg-type]
    if kind == "timestamp with time zone":
        return sql.SQL("{} - m.n * interval '5 minutes'").format(column)
    if kind == "bigint" and (name in ("id", "pin_seq") or name.endswith("_id")):
        return sql.SQL("{} + m.n * {}").format(column, sql.Literal(STEP))
    if kind == "xid8":
        return sql.SQL("({}::text::bigint + m.n::bigint * {} * 1000)::text::xid8").format(column, sql.Literal(STEP))
    return column


def _renamed(column: sql.Composable, ids: list[str]) -> sql.Composable:
    """A text of the copy: a uuid or a digest has another end; in any other text the ids and the documents differ."""
    named = column
    for original in ids:
        copied = sql.SQL(NUMBERED).format(column=sql.Literal(original))
        named = sql.SQL("replace({}, {}, {})").format(named, sql.Literal(original), copied)
    return sql.SQL(
        "case when {column} ~ '^[0-9a-f-]{{36}}$|^[0-9a-f]{{64}}$' then {copied}"
        " else replace(replace({named}, {prefix}, m.prefix), lower({prefix}), lower(m.prefix)) end"
    ).format(column=column, copied=sql.SQL(NUMBERED).format(column=column), named=named, prefix=sql.Literal(PREFIX))
