"""writer_digest and the canonical form of a request's tuple: the same in Python and in SQL, for any text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from cutter.domain.digests import canonical_json, sha256_hex, writer_digest, writer_line
from tests.support.database import Connection, TestCluster
from tests.support.gate_calls import one

# PostgreSQL's text has no U+0000 and UTF-8 no surrogates; the fields of a line hold neither LF nor U+001F.
ANY_TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=60)
FIELD = ANY_TEXT.map(lambda text: text.replace("\n", "␊").replace("\x1f", "␟"))
SEGMENT = st.text("ABCXYZabcxyz0129~._-", min_size=1, max_size=8)

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""The database is the slow part, and how slow is the machine's affair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    address: str
    title: str = "t"
    body: str = "b"
    section_type: str = "article"
    publication_type: str | None = None
    owner: str = "legislature"
    parent: int | None = None

    def line(self, rows: list[Unit]) -> str:
        return writer_line(
            address=self.address,
            unit_kind="law_unit",
            section_type=self.section_type,
            publication_type=self.publication_type,
            owner=self.owner,
            title=self.title,
            body_sha256=sha256_hex(self.body),
            parent_address=rows[self.parent].address if self.parent is not None else None,
        )


@st.composite
def units(draw: st.DrawFn) -> list[Unit]:
    addresses = draw(st.lists(st.lists(SEGMENT, min_size=1, max_size=3).map("/".join), unique=True, max_size=8))
    return [
        Unit(
            address=f"P-1/{address}",
            title=draw(FIELD),
            body=draw(ANY_TEXT),
            section_type=draw(st.sampled_from(["article", "section", "principle"])),
            publication_type=draw(st.sampled_from(["law", None])),
            owner=draw(st.sampled_from(["legislature", "government"])),
            parent=draw(st.none() | st.integers(0, number - 1)) if number else None,
        )
        for number, address in enumerate(addresses)
    ]


@pytest.fixture(scope="module")
def superuser(cluster: TestCluster) -> Iterator[Connection]:
    """A database whose unit tables take rows as they are: the digest is looked at, not the gateway."""
    with cluster.database() as database:
        connection = database.connect("postgres")
        connection.execute("alter table public.information_unit disable trigger all")
        connection.execute("alter table public.unit_version disable trigger all")
        connection.commit()
        yield connection


def store(connection: Connection, rows: list[Unit]) -> None:
    identities = [one(connection, "select gen_random_uuid()::text") for _ in rows]
    for identity, row in zip(identities, rows, strict=True):
        profile = {
            "title": row.title,
            "primary_section_type_ref": row.section_type,
            "owner_lookup_ref": row.owner,
            "publication_type_ref": row.publication_type,
        }
        parent = identities[row.parent] if row.parent is not None else None
        connection.execute(
            "insert into public.information_unit (id, canonical_address, unit_kind, owner_ref, parent_or_container_ref,"
            " version_anchor_ref, identity_profile, created_by, updated_by)"
            " values (%s, %s, 'law_unit', %s, %s, %s, jsonb_strip_nulls(%s), 'x', 'x')",
            (identity, row.address, row.owner, parent, identity, Jsonb(profile)),
        )
        connection.execute(
            "insert into public.unit_version (id, unit_id, body, content_hash, version_seq, created_by,"
            " source_version_id, document_order, title, unit_kind, section_type, publication_type, owner_ref,"
            " parent_unit_id)"
            " values (%s, %s, %s, %s, 1, 'x', gen_random_uuid(), 1, %s, 'law_unit', %s, %s, %s, %s)",
            (
                identity,
                identity,
                row.body,
                sha256_hex(row.body),
                row.title,
                row.section_type,
                row.publication_type,
                row.owner,
                parent,
            ),
        )


def digest_of(connection: Connection) -> str:
    """fn_writer_digest of what was stored, which is then forgotten."""
    answer: str = one(connection, "select cutter_governance.fn_writer_digest('P-1')")
    connection.rollback()
    return answer


def withdraw(connection: Connection, address: str) -> None:
    connection.execute(
        "update public.information_unit set deleted_at = now(), withdrawn_reason = 'x' where canonical_address = %s",
        (address,),
    )


@EXAMPLES
@given(rows=units())
def test_writer_digest_is_the_same_in_python_and_in_sql(superuser: Connection, rows: list[Unit]) -> None:
    store(superuser, rows)
    assert digest_of(superuser) == writer_digest([row.line(rows) for row in rows])


@EXAMPLES
@given(rows=units(), number=st.integers(0, 7))
def test_a_withdrawn_row_is_in_no_digest(superuser: Connection, rows: list[Unit], number: int) -> None:
    kept = [row for row in rows if row.parent is None]
    gone = Unit(address="P-1/GONE") if not kept else kept.pop(number % len(kept))
    store(superuser, [*kept, gone])
    withdraw(superuser, gone.address)
    assert digest_of(superuser) == writer_digest([row.line(kept) for row in kept])


def test_a_parent_that_was_withdrawn_is_not_the_parent_that_was_approved(superuser: Connection) -> None:
    store(superuser, [Unit(address="P-1/A"), Unit(address="P-1/A/B", parent=0)])
    withdraw(superuser, "P-1/A")
    assert digest_of(superuser) == writer_digest([Unit(address="P-1/A/B").line([])])


ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40)
RECORD = st.dictionaries(
    st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=12),
    ASCII | st.integers(-(2**31), 2**31) | st.none(),
    min_size=1,
    max_size=14,
)


@EXAMPLES
@given(record=RECORD)
def test_a_request_tuple_has_the_same_bytes_in_python_and_in_sql(
    superuser: Connection, record: dict[str, str | int | None]
) -> None:
    in_sql = one(superuser, "select cutter_governance.fn_canonical_flat(%s)", (Jsonb(record),))
    superuser.rollback()
    assert in_sql == canonical_json(record)


@EXAMPLES
@given(text=ANY_TEXT)
def test_content_hash_is_the_same_in_python_and_in_sql(superuser: Connection, text: str) -> None:
    in_sql = one(superuser, "select public.fn_content_hash(%s)", (text,))
    superuser.rollback()
    assert in_sql == sha256_hex(text)
