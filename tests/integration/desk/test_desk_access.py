"""Who gets an answer of `cutter desk`, and that neither it nor its database role can change anything."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest

from cutter import limits
from cutter.storage.roles import declared_grants
from tests.integration.desk.conftest import LAW, Office
from tests.support import desks, forked
from tests.support.desks import ROOT, Desk, environment

HEADER = "X-Auth-Request-User"
REFUSALS = (
    psycopg.errors.InsufficientPrivilege, psycopg.errors.WrongObjectType,
    psycopg.errors.ObjectNotInPrerequisiteState,
)  # fmt: skip
"""How PostgreSQL refuses to write into a table or a view."""


@pytest.fixture(scope="module")
def proxied(office: Office) -> Iterator[Desk]:
    """A server that trusts a proxy on this machine."""
    with desks.desk(
        office.made.settings, CUTTER_DESK_USER_HEADER=HEADER, CUTTER_DESK_PROXIES='["127.0.0.1/32"]',
        CUTTER_DESK_HOSTS='["desk.example.org"]',
    ) as made:  # fmt: skip
        yield made


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}", ""]
)
def test_a_foreign_host_is_refused(office: Office, host: str) -> None:
    answer = office.desk.ask("/laws", Host=host.format(port=office.desk.port))
    assert answer.status == 421
    assert LAW not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_every_name_of_this_machine_is_answered(office: Office, host: str) -> None:
    assert office.desk.ask("/laws", Host=host.format(port=office.desk.port)).status == 200


GET = "GET /assets/desk.css HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"


@pytest.mark.parametrize("begin", ["", "G", GET, f"{GET}Content-Length: 9\r\n\r\n", f"{GET}\r\n"],
                         ids=["nothing", "byte", "head", "body", "between requests"])  # fmt: skip
@pytest.mark.thorough
def test_silent_callers_keep_no_reader_out_and_are_disconnected(office: Office, begin: str) -> None:
    address = ("127.0.0.1", office.desk.port)
    with ExitStack() as open_:
        silent = [open_.enter_context(socket.create_connection(address, timeout=20)) for _ in range(limits.SENDERS_MAX)]
        for caller in silent:
            caller.sendall(begin.format(port=office.desk.port).encode())
        assert office.desk.ask("/laws").status == 200
        for caller in silent:
            with suppress(ConnectionError):
                while caller.recv(65536):
                    pass


def test_a_request_with_two_lengths_is_refused_and_nothing_after_it_is_read(office: Office) -> None:
    """A proxy that counts by Content-Length would take the second request for the body of the first one."""
    host = f"Host: 127.0.0.1:{office.desk.port}\r\n"
    second = f"GET /laws HTTP/1.1\r\n{host}\r\n"
    body = f"0\r\n\r\n{second}"
    head = f"GET /laws HTTP/1.1\r\n{host}Content-Length: {len(body)}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", office.desk.port), timeout=20) as caller:
        caller.sendall(f"{head}{body}".encode())
        answer = b""
        while piece := caller.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "path", ["/laws/%00", f"/laws/{LAW}/units/%00", "/laws/%00/text", "/search?document=%00", "/search?words=a%00b",
             "/runs/%00", "/batches/%00", "/queues/%00", "/requests/%00", "/laws?at=%00", "/%00"]
)  # fmt: skip
def test_a_nul_in_an_address_is_answered_in_json(office: Office, path: str) -> None:
    plain, mark, query = path.partition("?")
    answer = office.desk.ask(f"{plain}.json{mark}{query}")
    assert answer.status in (400, 404), answer
    assert answer.json["message"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(office: Office, origin: str) -> None:
    assert office.desk.ask("/laws.json", Origin=origin).status == 403
    assert office.desk.ask("/laws.json", Origin=office.desk.url).status == 200


def test_another_site_may_link_to_a_page_and_not_embed_it(office: Office) -> None:
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert office.desk.ask("/laws", Sec_Fetch_Dest="document", **link).status == 200
    for destination in ("iframe", "script", "empty", "image"):
        assert office.desk.ask("/laws", Sec_Fetch_Dest=destination, **link).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_no_method_that_could_change_something_is_answered(office: Office, method: str) -> None:
    answer = office.desk.ask("/laws", method=method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_without_the_proxys_header_nobody_is_answered(proxied: Desk) -> None:
    for address in ("/laws", "/laws.json", "/assets/desk.css", "/openapi.json", "/nothing"):
        assert proxied.ask(address).status == 401
    for names in ([], [""], [" "], ["alice", "bob"], ["a" * 300]):
        assert proxied.ask_with([(HEADER, name) for name in names], "/laws").status == 401
    assert proxied.ask("/laws", X_Forwarded_User="alice").status == 401


def test_the_user_whom_the_proxy_names_is_shown_and_known_in_the_inbox(proxied: Desk) -> None:
    asked = [(HEADER, "alice"), ("Host", "desk.example.org")]
    assert "signed in as alice" in proxied.ask_with(asked, "/inbox").text
    assert "evil" not in proxied.ask_with([*asked, ("Origin", "https://evil.example")], "/inbox").text
    assert proxied.ask_with([*asked, ("Origin", "https://desk.example.org")], "/inbox").status == 200


def test_a_peer_that_is_no_proxy_is_refused_whatever_its_headers_say(office: Office) -> None:
    elsewhere = {"CUTTER_DESK_USER_HEADER": HEADER, "CUTTER_DESK_PROXIES": '["10.9.8.7"]'}
    with desks.desk(office.made.settings, **elsewhere) as made:
        for forwarded in ([], [("X-Forwarded-For", "10.9.8.7"), ("Forwarded", "for=10.9.8.7")]):
            answer = made.ask_with([(HEADER, "alice"), *forwarded], "/laws")
            assert answer.status == 403
            assert LAW not in answer.text


def test_without_the_setting_a_header_names_nobody(office: Office) -> None:
    assert "signed in" not in office.desk.ask("/inbox", X_Auth_Request_User="alice", X_Forwarded_User="alice").text


@pytest.mark.parametrize(
    ("host", "more", "problem"),
    [
        ("0.0.0.0", {}, "no loopback address"),
        ("127.0.0.1", {"CUTTER_DESK_USER_HEADER": HEADER}, "CUTTER_DESK_PROXIES"),
        ("127.0.0.1", {"CUTTER_DESK_PROXIES": '["nonsense"]'}, "CUTTER_DESK_PROXIES"),
        ("127.0.0.1", {"CUTTER_DESK_HOSTS": '["a b"]'}, "CUTTER_DESK_HOSTS"),
    ],
)
def test_an_unsafe_server_does_not_start(office: Office, host: str, more: dict[str, str], problem: str) -> None:
    ours = environment(office.made.settings, more)
    done = forked.run(("desk", "--port", "0", "--host", host), ours, cwd=ROOT)
    assert (done.returncode, problem in done.stderr) == (2, True), done.stderr


def test_a_port_that_is_taken_is_named(office: Office) -> None:
    done = forked.run(("desk", "--port", str(office.desk.port)), environment(office.made.settings, {}), cwd=ROOT)
    assert done.returncode == 5
    assert f"127.0.0.1:{office.desk.port} cannot be listened on" in done.stderr


def test_an_interrupt_ends_it_cleanly(office: Office) -> None:
    with desks.desk(office.made.settings) as made:
        assert made.ask("/laws").status == 200
        made.process.send_signal(signal.SIGINT)
        assert made.process.wait(desks.SECONDS) == 0
        assert made.process.stdout is not None
        assert made.process.stdout.read() == ""


def test_a_database_that_is_away_is_said(office: Office, tmp_path: Path) -> None:
    away = office.made.settings.model_copy(update={"database_url": "postgresql://127.0.0.1:1/cutter"})
    with desks.desk(away) as made:
        answer = made.ask("/laws.json")
        assert (answer.status, answer.json["code"]) == (503, "UNAVAILABLE")
    assert list(tmp_path.iterdir()) == []


# --- the role ---------------------------------------------------------------------------------------------------------


def test_the_role_selects_and_calls_only_functions_that_change_nothing(office: Office) -> None:
    cells = {cell for cell in declared_grants().cells if cell.role == "cutter_desk"}
    assert {cell.verb for cell in cells} == {"SELECT", "EXECUTE"}
    called = [cell.object for cell in cells if cell.verb == "EXECUTE"]
    volatile = office.made.database.value(
        "select coalesce(array_agg(p.oid::regprocedure::text), '{}') from pg_proc p"
        " join pg_namespace n on n.oid = p.pronamespace"
        " where n.nspname || '.' || p.proname = any (%s) and p.provolatile = 'v'",
        (called,),
    )
    assert volatile == []
    assert called


def test_the_role_writes_to_no_table_even_outside_a_page(office: Office) -> None:
    tables = office.made.database.value(
        "select array_agg(format('%I.%I', n.nspname, c.relname)) from pg_class c"
        " join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname in ('public', 'cutter_governance', 'api') and c.relkind in ('r', 'v', 'p')"
    )
    assert len(tables) > 40
    with psycopg.connect(office.made.database.url("cutter_desk"), autocommit=True) as connection:
        for table in tables:
            for statement in (f"delete from {table}", f"insert into {table} default values", f"truncate {table}"):
                with pytest.raises(REFUSALS):
                    connection.execute(statement)  # type: ignore[arg-type]
        for statement in ("create table public.mine ()", "create schema mine", "create temporary table mine ()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


@pytest.mark.parametrize(
    "table", ["cutter_governance.notification", "cutter_governance.prepared_decision", "api.source"]
)
def test_the_role_reads_no_more_than_the_pages_show(office: Office, table: str) -> None:
    connection = office.made.database.connect("cutter_desk")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(f"select * from {table}")  # type: ignore[arg-type]


def test_a_page_changes_nothing_in_the_database(office: Office) -> None:
    changes = "select sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint from pg_stat_user_tables"
    before = office.made.database.value(changes)
    for address in ("/inbox", f"/laws/{LAW}", f"/requests/{office.asked}", f"/runs/{office.asked}", "/queues"):
        assert office.desk.ask(address).status == 200
    assert office.made.database.value(changes) == before


def test_the_link_to_json_keeps_the_encoding_of_its_address(office: Office) -> None:
    assert 'href="/runs/%3Cimg%20src%3Dx%3E.json"' in office.desk.ask("/runs/%3Cimg%20src%3Dx%3E").text
