"""Pure parts of a backup: records, the data script, the bare schema."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from cutter.backup import archiver
from cutter.backup.bare_schema import bare_statements
from cutter.backup.companion import header as companion
from cutter.backup.record import SEGMENT_RECORD_VERSION, BackupRecord, BackupRefusal, from_json, to_json
from cutter.backup.scratch import schema_sql
from cutter.backup.script import Load, Rows, ScriptRefused, events
from cutter.backup.segments.header import HeaderRefused
from cutter.backup.tables import BACKUP_TABLES, SEGMENT_TABLES
from cutter.domain import restore_point
from cutter.errors import InvalidInput, Unavailable
from cutter.storage.sql_text import plain
from tests.unit.gates.passing import POINT

RECORD = BackupRecord(
    artifact_id="run/pre_write.gpg",
    sha256="a" * 64,
    size_bytes=1,
    taken_utc="2026-11-21T09:00:00Z",
    content_fingerprint="b" * 64,
    row_counts=dict.fromkeys(BACKUP_TABLES, 0),
    pg_dump_version="18.4",
    server_version="18.4",
    recipient="A" * 40,
)


def test_the_nine_tables_are_the_nine_of_the_mutation_surface() -> None:
    assert [table.split(".")[1] for table in BACKUP_TABLES] == [
        *("cut_change_set", "cut_change_set_affected_row", "dot_pair_signature", "manifest_envelope"),
        *("manifest_unit_block", "review_decision", "information_unit", "iu_lifecycle_log", "unit_version"),
    ]


@given(st.dictionaries(st.sampled_from(BACKUP_TABLES), st.integers(0, 10**9)), st.integers(1, 10**12))
def test_a_record_comes_back_from_its_json(counts: dict[str, int], size: int) -> None:
    record = replace(RECORD, row_counts=dict(RECORD.row_counts) | counts, size_bytes=size)
    assert from_json(to_json(record)) == record


SEGMENT = replace(
    RECORD, version=SEGMENT_RECORD_VERSION, row_counts=dict.fromkeys(SEGMENT_TABLES, 0), base="c" * 64,
    oldest_verification_seconds=86_400,
)  # fmt: skip


@pytest.mark.parametrize("age", [None, 0, 86_400])
def test_a_segment_says_its_tree_and_the_age_of_its_oldest_verification(age: int | None) -> None:
    record = replace(SEGMENT, oldest_verification_seconds=age)
    assert from_json(to_json(record)) == record


@pytest.mark.parametrize("record", [RECORD, SEGMENT], ids=["full", "segment"])
def test_a_record_names_its_restore_point(record: BackupRecord) -> None:
    assert "restore_point" not in to_json(record)
    with_point = replace(record, restore_point=POINT)
    assert from_json(to_json(with_point)) == with_point


@pytest.mark.parametrize(
    "point", [None, "x", [], {}, POINT.as_json() | {"timeline": "1"}, POINT.as_json() | {"name": None},
              POINT.as_json() | {"waiting_files": True}]
)  # fmt: skip
def test_a_record_with_a_malformed_restore_point_is_refused(point: object) -> None:
    with pytest.raises(InvalidInput):
        from_json(json.dumps(json.loads(to_json(SEGMENT)) | {"restore_point": point}))
    assert restore_point.recorded(point) is None


@pytest.mark.parametrize("pins", [{}, {"restore_point_name": 5}, {"restore_point_name": None}])
def test_a_receipt_without_a_restore_point_has_no_line_of_it(pins: dict[str, object]) -> None:
    assert restore_point.line_of_pins(pins) is None


def test_the_line_of_a_restore_point_says_where_and_when() -> None:
    line = restore_point.line_of_pins(POINT.as_pins())
    assert line == f"{POINT.name} at 0/3000060 on timeline 1, {POINT.created_utc}"


@pytest.mark.parametrize("code", sorted(archiver.PROBLEMS))
def test_each_problem_with_the_archive_says_what_to_do(code: str) -> None:
    answer = {"problem": code, "failed_wal": "0001", "waiting_files": 3, "waiting_seconds": 900}
    try:
        refusal = archiver.judged(answer)
        assert isinstance(refusal, BackupRefusal)
        message, named = refusal.message, refusal.code.value
        assert "CUTTER_BACKUP_RESTORE_POINT=false" in message
    except Unavailable as problem:
        message, named = str(problem), problem.code
    assert named == code
    assert "{" not in message
    assert len(message) < limits.REASON_CHARACTERS_MAX


def test_the_records_of_the_first_segments_named_no_tree() -> None:
    record = replace(SEGMENT, base="", oldest_verification_seconds=None)
    assert "base" not in to_json(record)
    assert from_json(to_json(record)) == record


@pytest.mark.parametrize(
    "change",
    [
        {"base": ""}, {"base": None}, {"base": "C" * 64}, {"oldest_verification_seconds": -1},
        {"oldest_verification_seconds": True}, {"oldest_verification_seconds": "1"}, {"version": "backup/1"},
    ],
)  # fmt: skip
def test_a_segment_with_another_tree_or_age_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        from_json(json.dumps(json.loads(to_json(SEGMENT)) | change))


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_companion_comes_back_from_its_header_and_its_record(rows: int, value: int) -> None:
    table = companion.Table(columns=(("id", "bigint"), ("name", "text")), rows=rows, digest="d" * 64)
    header = companion.Header(
        artifact="backups/1.gpg", sha256="e" * 64, tables={"public.one": table}, sequences={"public.s": value}
    )
    assert companion.from_line(companion.to_line(header).removesuffix(b"\n")) == header
    record = companion.CompanionRecord(
        artifact_id="backups/1.companion.gpg", backup="backups/1.gpg", sha256="f" * 64, size_bytes=value,
        taken_utc="2026-11-21T09:00:00Z", recipient="A" * 40,
    )  # fmt: skip
    text = companion.to_json(record)
    assert companion.from_json(text) == record
    for change in ({"sha256": None}, {"backup": 1}, {"size_bytes": True}, {"version": "companion/2"}, {"more": 1}):
        with pytest.raises(InvalidInput):
            companion.from_json(json.dumps(json.loads(text) | change))


@pytest.mark.parametrize("line", [b"", b"-- {}", b'-- {"version": "companion-header/1"}', b"\xff", b"-- []"])
def test_another_line_is_no_header_of_a_companion(line: bytes) -> None:
    with pytest.raises(HeaderRefused):
        companion.from_line(line)


@pytest.mark.parametrize("text", ["", "[]", "{}", to_json(RECORD), to_json(SEGMENT)])
def test_another_text_is_no_record_of_a_companion(text: str) -> None:
    with pytest.raises(InvalidInput):
        companion.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        {"version": "backup/2"},
        {"sha256": "A" * 64},
        {"size_bytes": 0},
        {"size_bytes": True},
        {"size_bytes": 1.5},
        {"row_counts": {}},
        {"row_counts": []},
        {"row_counts": dict.fromkeys(BACKUP_TABLES, -1)},
        {"recipient": None},
        {"more": 1},
    ],
)
def test_a_record_that_is_not_ours_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        from_json(json.dumps(json.loads(to_json(RECORD)) | change))


@pytest.mark.parametrize("text", ["", "[]", "1", "{", "[" * 100_000, to_json(RECORD)[:-1]])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        from_json(text)


def script(bodies: dict[str, list[bytes]]) -> bytes:
    parts = [b"--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET statement_timeout = 0;\n"]
    parts.append(b"SELECT pg_catalog.set_config('search_path', '', false);\n")
    for table in BACKUP_TABLES:
        parts.append(f"COPY {table} (id, at) FROM stdin;\n".encode())
        parts.extend(row + b"\n" for row in bodies.get(table, []))
        parts.append(b"\\.\n\n")
    return b"".join([*parts, b"\\unrestrict abc\n"])


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def read(data: bytes, size: int = 10_000) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    table = ""
    for event in events(pieces(data, size)):
        if isinstance(event, Load):
            table = event.table
            contents[table] = b""
            assert event.columns == ("id", "at")
        else:
            contents[table] += event.data
    return contents


# A row of COPY text: any bytes but a raw line feed, and never the end mark.
ROW = st.binary(max_size=40).map(lambda row: row.replace(b"\n", b"")).filter(lambda row: row != b"\\.")


@given(st.dictionaries(st.sampled_from(BACKUP_TABLES), st.lists(ROW, max_size=5)), st.integers(1, 200))
def test_rows_come_out_of_a_script_as_they_went_in(bodies: dict[str, list[bytes]], size: int) -> None:
    expected = {table: b"".join(row + b"\n" for row in bodies.get(table, [])) for table in BACKUP_TABLES}
    assert read(script(bodies), size) == expected


@given(st.integers(0, 5000))
def test_a_script_that_ends_early_is_refused(end: int) -> None:
    whole = script({table: [b"1\tx", b"2\ty"] for table in BACKUP_TABLES})
    last_table_closed = whole.rindex(b"\\.\n") + 3
    with pytest.raises(ScriptRefused):
        read(whole[: min(end, last_table_closed - 1)])


@pytest.mark.parametrize(
    "line",
    [
        b"DROP TABLE public.unit_version;",
        b"COPY public.vocabulary (id) FROM stdin;",
        b"COPY public.unit_version (id) FROM PROGRAM 'id';",
        b"COPY public.unit_version (id, at) FROM stdin;",
        b"SET role = 'x'; DROP TABLE x;",
        b"\\! id",
        b"SELECT 1;",
        b"\xff",
    ],
)
def test_a_line_that_is_no_load_of_the_nine_tables_is_refused(line: bytes) -> None:
    with pytest.raises(ScriptRefused):
        read(script({}) + line + b"\n")


def test_a_row_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutter.limits.BACKUP_LINE_BYTES_MAX", 1000)
    with pytest.raises(ScriptRefused, match="longer than"):
        list(events([b"COPY public.unit_version (id) FROM stdin;\n", *[b"x" * 100] * 20]))


def test_rows_of_one_chunk_are_one_event() -> None:
    whole = script({"public.unit_version": [b"1", b"2", b"3"]})
    assert [event for event in events([whole]) if isinstance(event, Rows)] == [Rows(data=b"1\n2\n3\n")]


def test_tables_types_and_columns_are_kept_and_nothing_else() -> None:
    schema = """
        -- create table commented (n int);
        /* create table commented; */
        create schema s;
        CREATE TABLE s.t (a text DEFAULT 'x;y''z', b text DEFAULT $q$;$q$, "c;d" int);
        create  table s.u (
            n int -- ; in a comment
        );
        create function f() returns void language sql as $$ create table no(); $$;
        create unique index i on s.t (a);
        alter table s.t add constraint k foreign key (a) references s.u;
        alter table s.t add column e int;
        alter table s.t alter column e set default 1;
        alter table s.t enable always trigger g;
        drop table s.u;
        grant select on s.t to someone;
        insert into s.t values ('create table x');
        create trigger g before insert on s.t execute function f();
    """
    assert [" ".join(statement.split()[:3]).lower() for statement in bare_statements(schema)] == [
        "create schema s",
        "create table s.t",
        "create table s.u",
        "alter table s.t",
        "alter table s.t",
        "drop table s.u",
    ]
    assert "'x;y''z'" in bare_statements(schema)[1]


def test_a_schema_that_is_cut_off_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1: the statement has no semicolon"):
        bare_statements("create table x (n int); create table y (n")


def test_a_check_that_a_later_migration_drops_is_dropped_in_the_bare_tables_too() -> None:
    """A backup may hold rows that the dropped check refuses."""
    drop, add = "alter table t drop constraint t_n_check;", "alter table t add constraint c check (n > 1);"
    kept = bare_statements(f"create table t (n int check (n > 0)); {drop} {add}")
    assert [" ".join(statement.split()[:4]) for statement in kept] == ["create table t (n", "alter table t drop"]


def test_only_the_named_tables_are_made_and_not_those_to_which_they_refer() -> None:
    schema = (
        "create schema s; create table a (n int primary key); create table s.b (n int references a);"
        " create table s.c (n int references s.b); create table other (n int references s.c);"
        " alter table other add column m int; alter table s.c add column m int; alter table a add column m int;"
    )
    assert bare_statements(schema, ["s.c"]) == (
        "create schema s", "create table s.c (n int )", "alter table s.c add column m int",
    )  # fmt: skip
    assert len(bare_statements(schema)) == 8


def test_the_migrations_make_no_foreign_key_in_a_bare_table() -> None:
    made = bare_statements(schema_sql())
    assert [statement for statement in made if {"references", "foreign"} & set(plain(statement)[1].split())] == []


def test_a_comment_before_an_action_does_not_hide_it() -> None:
    assert bare_statements("alter table t -- why\n  /* how */\n  add column n int;") == (
        "alter table t add column n int",
    )


def words(statement: str) -> list[str]:
    return re.sub(r"([(),])", r" \1 ", statement).split()


def bare(statement: str) -> list[str]:
    (made,) = bare_statements(f"{statement};")
    return words(made)


NAMES = st.sampled_from(["b", "s.b", '"B, (b"', '"s" . "references x"', "a$references"])
COLUMNS = st.sampled_from(["", "(n)", ' ("N)", m)', " /* ) */ (n)"])
ACTION = st.sampled_from(["cascade", "restrict", "no action", "set null", "set default", "SET  NULL (n)"])
OPTIONS = st.lists(
    st.sampled_from(
        ["match full", "MATCH\nSIMPLE", "deferrable", "not deferrable", "initially deferred", "initially immediate",
         "not enforced"]
    ) | st.builds("on {} {}".format, st.sampled_from(["delete", "-- as below\n update"]), ACTION), max_size=4,
).map(" ".join)  # fmt: skip
NAMED = st.sampled_from(["", "constraint k ", 'CONSTRAINT "references" ', 'constraint"k"'])
REFERENCE = st.builds("{}references {}{} {}".format, NAMED, NAMES, COLUMNS, OPTIONS)
OF_COLUMN = st.sampled_from(
    ["d int {}", "d int not null {}", "d int unique {} not null", "d int {} check (n > 0)",
     "d int {} unique deferrable", "d text default 'references b' {}", "d int constraint z not null {}",
     "d int {} constraint z not null"]
)  # fmt: skip
KEY = st.builds(
    "{}foreign key {} references {}{} {}".format,
    NAMED, st.sampled_from(["(n)", '("N)", m)']), NAMES, COLUMNS, OPTIONS,
)  # fmt: skip
OTHERS = st.sampled_from(["c int", "primary key (n)", "constraint u unique (n, m)", '"x, y" text'])
ITEMS = st.lists(
    st.tuples(OTHERS, st.just("")) | st.tuples(OF_COLUMN, REFERENCE) | st.tuples(st.just("{}"), KEY), max_size=5
)
"""Columns and constraints with their foreign keys: a form, and the foreign key that belongs into it."""


@given(ITEMS)
def test_a_table_is_made_with_everything_but_its_foreign_keys(items: list[tuple[str, str]]) -> None:
    written = ", ".join(form.format(key) for form, key in items)
    kept = ", ".join(form.format("") for form, _ in items if form != "{}")
    assert bare(f"create table t ({written})") == words(f"create table t ({kept})")


@given(ITEMS)
def test_a_table_is_changed_with_everything_but_its_foreign_keys(items: list[tuple[str, str]]) -> None:
    """A statement that adds a named constraint is left out as a whole."""
    columns = [(form, key) for form, key in items if form != "{}" or not key.lower().startswith("constraint")]
    written = ", ".join(("add {}" if form == "{}" else f"add column {form}").format(key) for form, key in columns)
    kept = "".join(f", add column {form.format('')}" for form, _ in columns if form != "{}")
    assert bare(f"alter table t {written}{', ' * bool(written)}add column first int") == words(
        f"alter table t {kept[2:]}{', ' * bool(kept)}add column first int"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "create table t (a text default 'x references b')",
        "create table t (a text default e'\\' references b', c int)",
        "create table t (a text default $q$ references b $q$, c int)",
        'create table t ("references" int, "foreign key (a) references b" int)',
        "create table t (references_b int, b_references int, a$references int)",
        "create table t (a s.c check ((a).references is null and (a). references is null))",
        "create table t (a int constraint xreferences check (a > 1))",
        "create table t (foreign_key int check (foreign_key > 1), deferrable_at int)",
        "create table t (a int unique deferrable initially deferred)",
    ],
)
def test_what_only_looks_like_a_foreign_key_stays(statement: str) -> None:
    assert bare_statements(f"{statement};") == (statement,)


def test_a_comment_that_speaks_of_a_foreign_key_ends_no_statement_early() -> None:
    written = "create table t (a int, -- references b\n /* foreign key (a) references b, */ c int)"
    assert bare(written) == words("create table t (a int, c int)")


def test_a_foreign_key_that_a_later_migration_drops_need_not_exist() -> None:
    schema = (
        "create table t (a int references b); alter table t drop constraint t_a_fkey, drop constraint if exists k,"
        " alter column a set default length('drop constraint x');"
    )
    assert bare_statements(schema)[1] == (
        "alter table t drop constraint IF EXISTS t_a_fkey, drop constraint if exists k,"
        " alter column a set default length('drop constraint x')"
    )
