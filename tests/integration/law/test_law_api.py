"""The schema `api`: what a client such as PostgREST reads of enacted law, and that it reads nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.rows import dict_row

from cutter import limits
from cutter.domain.digests import sha256_hex, writer_digest, writer_line
from cutter.storage.roles import declared_grants
from tests.integration.law.conftest import ACT, BEGUN, DRAFT, RULES, VIETNAMESE, Corpus
from tests.support.runs import law

VIEWS = ("change", "law", "law_version", "signature", "unit", "unit_history", "unit_of_version")


@contextmanager
def client(corpus: Corpus, role: str = "cutter_api") -> Iterator[psycopg.Connection[dict[str, Any]]]:
    """One request of PostgREST: a read-only transaction of the authenticator, which takes the role for its length."""
    with psycopg.connect(corpus.database.url(role), row_factory=dict_row) as connection:
        connection.execute("set transaction read only")
        connection.execute(f"set local role {role}")  # type: ignore[arg-type]
        connection.execute("select set_config('search_path', 'api', true), set_config('request.method', 'GET', true)")
        yield connection


def rows(corpus: Corpus, query: LiteralString, *parameters: object) -> list[dict[str, Any]]:
    with client(corpus) as connection:
        return connection.execute(query, parameters).fetchall()


@pytest.mark.parametrize("role", ["cutter_api", "directus", "cutter_operator"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.promise
def test_each_view_answers_its_readers(corpus: Corpus, role: str, view: str) -> None:
    with client(corpus, role) as connection:
        assert connection.execute(f"select * from {view} limit 5").fetchall()  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["cutter_api", "directus"])
@pytest.mark.parametrize(
    "table",
    ["public.information_unit", "public.unit_version", "public.source_snapshot", "cutter_governance.run",
     "cutter_governance.approval_consumption", "api.source", "public.enactment", "public.source_version"],
)  # fmt: skip
def test_a_reader_reads_no_table_and_no_source(corpus: Corpus, role: str, table: str) -> None:
    with client(corpus, role) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(f"select * from {table}")  # type: ignore[arg-type]


def test_the_role_of_the_api_has_nothing_but_the_views_and_functions_of_its_schema() -> None:
    cells = {cell for cell in declared_grants().cells if cell.role == "cutter_api"}
    assert {cell.object.split(".")[0] for cell in cells} == {"api"}
    assert {cell.verb for cell in cells} == {"SELECT", "EXECUTE"}


@pytest.mark.parametrize("view", VIEWS)
def test_a_reader_changes_nothing(corpus: Corpus, view: str) -> None:
    with psycopg.connect(corpus.database.url("cutter_api")) as connection:
        for statement in (f"delete from api.{view}", f"insert into api.{view} default values"):
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)):
                connection.execute(statement)  # type: ignore[arg-type]
            connection.rollback()


@pytest.mark.parametrize("words", ["a " * 251, '"' + "b" * 10**6 + '"'], ids=["just too long", "a megabyte"])
def test_a_search_with_more_words_than_the_limit_is_refused_at_once(corpus: Corpus, words: str) -> None:
    with client(corpus) as connection:
        connection.execute("set local statement_timeout = '1s'")
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="at most 500 characters"):
            connection.execute("select * from api.search(%s)", (words,))
    assert limits.SEARCH_WORDS_CHARACTERS_MAX == 500
    assert rows(corpus, "select * from search(%s)", "article " + " " * 492)


def test_a_law_shows_its_version_in_force(corpus: Corpus) -> None:
    laws = {row["document"]: row for row in rows(corpus, "select * from law")}
    assert set(laws) == {ACT, RULES}
    act = laws[ACT]
    assert (act["title"], act["status"], act["version"], act["units"]) == ("An Act to test", "in_force", 1, 4)
    assert laws[RULES]["title"] == "QUY CHẾ THƯ VIỆN CỘNG ĐỒNG"


@pytest.mark.promise
def test_drafts_are_in_no_view(corpus: Corpus) -> None:
    for view in VIEWS:
        for word in (DRAFT, "secret draft"):
            assert not rows(corpus, f"select 1 from {view} where strpos(to_jsonb({view})::text, %s) > 0", word)  # type: ignore[arg-type]


def test_the_units_are_the_text_in_document_order(corpus: Corpus) -> None:
    units = rows(corpus, "select * from unit where document = %s order by document_order", ACT)
    assert [row["document_order"] for row in units] == [1, 2, 3, 4]
    assert "\n\n".join(row["body"] for row in units) == law(4).rstrip("\n")
    assert all(sha256_hex(row["body"]) == row["content_sha256"] for row in units)


def test_document_order_is_not_the_order_of_the_addresses(corpus: Corpus) -> None:
    addresses = [row["address"] for row in rows(
        corpus, "select address from unit where document = %s order by document_order", RULES)]  # fmt: skip
    assert addresses != sorted(addresses)
    lines = [VIETNAMESE.index(row["body"].strip()) for row in rows(
        corpus, "select body from unit where document = %s order by document_order", RULES)]  # fmt: skip
    assert lines == sorted(lines)


def test_the_units_of_a_version_give_the_digest_that_its_approvers_signed(corpus: Corpus) -> None:
    (version,) = rows(corpus, "select * from law_version where document = %s", ACT)
    units = rows(corpus, "select * from unit_of_version where document = %s and version = 1", ACT)
    lines = [
        writer_line(
            address=unit["address"], unit_kind=unit["unit_kind"], section_type=unit["section_type"],
            publication_type="law", owner="incomex_council", title=unit["title"],
            body_sha256=unit["content_sha256"], parent_address=unit["parent"],
        )
        for unit in units
    ]  # fmt: skip
    assert writer_digest(lines) == version["writer_digest"]


@pytest.mark.parametrize(("days", "units"), [(-1, 0), (0, 4), (400, 4)])
def test_a_day_has_the_units_that_are_in_force_on_it(corpus: Corpus, days: int, units: int) -> None:
    units_in_force = rows(
        corpus, "select * from unit_in_force(%s) where document = %s", BEGUN + timedelta(days=days), ACT
    )  # fmt: skip
    assert len(units_in_force) == units


def test_the_feed_goes_on_after_a_cursor(corpus: Corpus) -> None:
    every = rows(corpus, 'select * from change order by "cursor"')
    assert len(every) == 4 + len(rows(corpus, "select 1 from unit where document = %s", RULES))
    later = rows(corpus, 'select * from change where "cursor" > %s order by "cursor"', every[2]["cursor"])
    assert later == every[3:]
    first = every[0]
    assert (first["document"], first["change"], first["ended_unit_version"]) == (ACT, "create", None)


def test_the_keys_that_answer_for_a_version_are_named(corpus: Corpus) -> None:
    signatures = rows(corpus, "select * from signature where document = %s order by role", ACT)
    assert [(row["role"], row["name"]) for row in signatures] == [
        ("approver of the cut", "alice"), ("approver of the enactment", "alice"), ("executor", "DOT-991"),
        ("verifier", "DOT-992"),
    ]  # fmt: skip
    assert all(len(row["fingerprint"]) == 40 for row in signatures)


@pytest.mark.parametrize(
    ("words", "document", "address"),
    [
        ("thủ thư", RULES, "DIEU-2"), ("thu thu", RULES, "DIEU-2"), ("NGUYÊN TẮC", RULES, "DIEU-3"),
        ("rule 3", ACT, "ARTICLE-3"), ('"text of article"', ACT, "ARTICLE-1"), ("article -preamble", ACT, "ARTICLE-1"),
    ],
)  # fmt: skip
def test_search_finds_titles_and_texts_without_accents_and_case(
    corpus: Corpus, words: str, document: str, address: str
) -> None:
    hits = rows(corpus, "select * from search(%s)", words)
    assert any(row["document"] == document and address in row["address"] for row in hits), hits
    assert "secret" not in str(hits)


def test_search_finds_nothing_for_words_of_a_draft(corpus: Corpus) -> None:
    assert rows(corpus, "select * from search('secret')") == []


def test_every_view_and_column_has_a_comment_for_the_clients(corpus: Corpus) -> None:
    without = corpus.database.value(
        "select array_agg(c.relname || '.' || a.attname) from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relnamespace = 'api'::regnamespace and c.relkind = 'v' and c.relname not like 'base%%'"
        " and a.attnum > 0 and (col_description(c.oid, a.attnum) is null or obj_description(c.oid) is null)"
    )
    assert without is None
