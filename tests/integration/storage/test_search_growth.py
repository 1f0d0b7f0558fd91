"""A search reads the rows that it finds and no others, however much enacted law there is beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, LiteralString

import pytest
from psycopg import sql

from tests.support import grown
from tests.support.database import Connection, Database
from tests.support.runs import Stage

COPIES = 1_000
READ: LiteralString = """
select schemaname || '.' || relname, seq_scan, coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables
"""
WORDS: LiteralString = "select count(*) from api.search('preamble')"
QUESTIONS: dict[str, LiteralString] = {
    "words": WORDS,
    "words without an accent": "select count(*) from api.search('préàmblé')",
    "two words": "select count(*) from api.search('text article')",
    "part of a word": "select count(*) from api.search('reambl')",
    "a mistyped word": "select count(*) from api.search('preamlbe')",
    "nothing": "select count(*) from api.search('zebra')",
    "words of a law": "select count(*) from api.search('text', in_document => %(document)s)",
    "part of a word of a law": "select count(*) from api.search('reamb', in_document => %(document)s)",
    "words of a version": "select count(*) from api.search('text', in_document => %(document)s, in_version => 1)",
    "words of a moment": "select count(*) from api.search('preamble', recorded => now())",
    "a law as recorded": "select count(*) from api.law_version_recorded(now(), %(document)s)",
    "units as recorded": "select count(*) from api.unit_in_force(recorded => now(), in_document => %(document)s)",
}
FOUND = {"nothing": 0, "two words": 2, "words of a law": 2, "words of a version": 2, "units as recorded": 3}
INDEXES = {
    "unit_search_words": "words", "unit_search_grams": "part of a word", "search_word_near": "a mistyped word",
}  # fmt: skip


Reads = dict[str, tuple[int, int]]
"""By table that grows: scans, and rows by an index."""


def counters(connection: Connection) -> Reads:
    return {name: (scans, rows) for name, scans, rows in connection.execute(READ).fetchall()}


def since(before: Reads, connection: Connection) -> Reads:
    """What this transaction has read of the tables that grow since then."""
    after, tables = counters(connection), grown.growing(connection)
    earlier = {name: before.get(name, (0, 0)) for name in after}
    return {
        name: (scans - earlier[name][0], rows - earlier[name][1])
        for name, (scans, rows) in after.items()
        if name in tables
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """A database with a thousand laws more."""

    database: Database
    document: str

    def asked(self, question: str, *, without: str | None = None) -> tuple[int, Reads]:
        """The answer to a question, and what it read; nothing is committed."""
        with self.database.connect("postgres") as connection:
            if without is not None:
                connection.execute(sql.SQL("drop index {}").format(sql.Identifier("public", without)))
            before = counters(connection)
            (count,) = connection.execute(QUESTIONS[question], {"document": self.document}).fetchone() or (0,)
            reads = since(before, connection)
            connection.rollback()
        return int(count), reads

    def plan(self, statement: LiteralString, *parameters: Any) -> str:
        with self.database.connect("postgres") as connection:
            return "\n".join(line for (line,) in connection.execute("explain " + statement, parameters).fetchall())


@pytest.fixture(scope="module")
def old(enacted_stage: Stage) -> Iterator[Old]:
    with enacted_stage.clone() as database:
        grown.fill(database, COPIES)
        assert database.value("select count(*) from public.unit_search") > 3 * COPIES
        yield Old(database=database, document=enacted_stage.document_id)


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_a_question_scans_no_table_that_grows(old: Old, question: str) -> None:
    count, reads = old.asked(question)
    assert count == FOUND.get(question, 1)
    assert {name: scans for name, (scans, _) in reads.items() if scans} == {}
    assert max(rows for _, rows in reads.values()) < 100


@pytest.mark.parametrize("index", sorted(INDEXES))
def test_without_its_index_a_search_reads_the_whole_table(old: Old, index: str) -> None:
    _, reads = old.asked(INDEXES[index], without=index)
    assert any(scans or rows > COPIES for scans, rows in reads.values())


def test_the_plans_name_the_indexes(old: Old) -> None:
    plans = {
        "unit_search_words": old.plan(
            "select * from public.unit_search where words @@ to_tsquery('simple', %s)", "preamble"
        ),
        "unit_search_grams": old.plan(
            "select * from public.unit_search where grams @> cutter_governance.fn_search_grams(%s)", "reambl"
        ),
        "search_word_near": old.plan(
            "select * from public.search_word where near && cutter_governance.fn_search_near(%s)", "preamlbe"
        ),
    }
    for index, plan in plans.items():
        assert f"Bitmap Index Scan on {index}" in plan, plan
        assert "Seq Scan" not in plan, plan


def test_entering_a_law_reads_its_own_rows(old: Old) -> None:
    law: LiteralString = "select change_set from api.law_version where document = %s"
    with old.database.connect("postgres") as connection:
        (change_set,) = connection.execute(law, (old.document,)).fetchone() or (None,)
        connection.execute("""
            delete from public.unit_search s using cutter_governance.cut_change_set_affected_row a
            where a.change_set_id = %s and s.version_id = a.unit_version_id""", (change_set,))  # fmt: skip
        before = counters(connection)
        connection.execute("select cutter_governance.fn_search_enter(%s)", (change_set,))
        reads = since(before, connection)
        (entered,) = connection.execute(WORDS).fetchone() or (0,)
        connection.rollback()
    assert entered == 1
    assert {name: scans for name, (scans, _) in reads.items() if scans} == {}
    assert max(rows for _, rows in reads.values()) < 100
