"""Every page of `cutter desk` and its JSON, on real laws, runs and batches."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from tests.integration.desk.conftest import ASKED, HOSTILE, LAW, QUEUED, Office
from tests.support import forked
from tests.support.desks import ROOT, environment

PAGES = {
    "inbox": "/inbox",
    "requests": "/requests",
    "a request": "/requests/{asked}",
    "a request to enact": "/requests/{drafted}",
    "laws": "/laws",
    "laws on a day": "/laws?at=2099-01-01",
    "a law": f"/laws/{LAW}",
    "a version": f"/laws/{LAW}?version=1",
    "a hostile law": f"/laws/{HOSTILE}",
    "a text": f"/laws/{LAW}/text",
    "a hostile text": f"/laws/{HOSTILE}/text",
    "a unit": f"/laws/{LAW}/units/ARTICLE-2?version=2",
    "a hostile unit": f"/laws/{HOSTILE}/units/ARTICLE-1",
    "a history": f"/laws/{LAW}/history",
    "a diff": f"/laws/{LAW}/diff?from=1&version=2",
    "an empty search": "/search",
    "a search": "/search?words=article+text&document=&at=&version=",
    "a hostile search": "/search?words=%3Cscript%3Equoted",
    "runs": "/runs",
    "a run": "/runs/{amended}",
    "a waiting run": "/runs/{asked}",
    "batches": "/batches",
    "a batch": "/batches/{batch}",
    "queues": "/queues",
    "a queue entry": "/queues/{queued}",
}


def path(office: Office, name: str) -> str:
    return PAGES[name].format(
        asked=office.asked, drafted=office.drafted, amended=office.amended.run_id, batch=office.batch_id,
        queued=office.queued,
    )  # fmt: skip


def as_json(address: str) -> str:
    before, mark, query = address.partition("?")
    return f"{before}.json{mark}{query}"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.promise
def test_each_address_answers_a_page_and_the_same_as_json(office: Office, name: str) -> None:
    address = path(office, name)
    page = office.desk.ask(address, Accept="text/html,*/*;q=0.8")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8"), page.text
    by_ending, by_header = office.desk.ask(as_json(address)), office.desk.ask(address, Accept="application/json")
    assert (by_ending.status, by_header.status) == (200, 200), by_ending.text
    assert by_ending.json == by_header.json


@pytest.mark.parametrize("name", PAGES)
def test_no_page_loads_from_elsewhere_or_shows_a_text_as_markup(office: Office, name: str) -> None:
    answer = office.desk.ask(path(office, name))
    assert not re.search(r"<script>window|<img|<iframe|https?://|url\(|@import|\sstyle=|\son\w+=\"|\u202e", answer.text)
    policy = answer.headers["content-security-policy"]
    assert not re.search(r"unsafe|sha256", policy), "the policy permits no script or style that a page contains"
    assert not re.search(r"<style|<script(?! src=\"/assets/)", answer.text)
    for part in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"):
        assert part in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "49" not in re.findall(r"'([^']{2,12})'", answer.text), "no text is a template"


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_to_a_page_or_a_place_on_it(office: Office, name: str) -> None:
    page = office.desk.ask(path(office, name)).text
    places = set(re.findall(r'\sid="([^"]+)"', page))
    for link in set(re.findall(r'href="([^"]+)"', page)):
        link = link.replace("&amp;", "&")
        if link.startswith("#"):
            assert link[1:] in places, link
        else:
            assert office.desk.ask(link).status == 200, link


@pytest.mark.promise
def test_the_inbox_names_what_waits_with_the_command_to_type(office: Office) -> None:
    page, requests = office.desk.ask("/inbox").text, office.desk.ask("/inbox.json").json["waiting"]
    waiting = {request["document_id"]: request for request in requests}
    assert waiting[ASKED]["gate"] == "SG_cut_authz"
    assert f'<code class="command">cutter approve {office.asked}</code>' in page.replace(ASKED, office.asked)
    assert {request["document_id"] for request in office.desk.ask("/requests.json").json["waiting"]} >= {ASKED}


def test_a_request_is_the_page_of_the_command(office: Office) -> None:
    page = office.desk.ask(f"/requests/{ASKED}").text
    assert f'To approve: <code class="command">cutter approve {office.asked}</code>' in page
    record = office.desk.ask(f"/requests/{office.asked}.json").json
    assert record["request"]["run_id"] == office.asked
    assert record["view_digest"] in page


def test_a_law_shows_outline_versions_and_signers_and_its_text_on_other_pages(office: Office) -> None:
    page, law = office.desk.ask(f"/laws/{LAW}").text, office.desk.ask(f"/laws/{LAW}.json").json
    assert (law["version"], [unit["depth"] for unit in law["tree"]]) == (2, [0, 0, 0, 0])
    for part in ("Article 3. Rule 3", "version=2", "alice", law["writer_digest"], f"/runs/{office.amended.run_id}"):
        assert part in page, part
    assert "The text of article 3" not in page
    assert "The text of article 3" in office.desk.ask(f"/laws/{LAW}/text").text


def test_a_day_and_a_number_choose_the_version_and_a_permalink_keeps_it(office: Office) -> None:
    old = f"/laws/{LAW}/units/ARTICLE-2?version=1"
    assert "The text of article 2." in office.desk.ask(old).text
    assert "The words of article 2 are new." in office.desk.ask(f"/laws/{LAW}/units/ARTICLE-2?at=2099-01-01").text
    assert office.desk.ask(f"/laws/{LAW}?at=1999-01-01").status == 404
    message = office.desk.ask(f"/laws/{LAW}.json?at=1.7.2026").json["message"]
    assert message == "at: 1.7.2026 is no day; write it as 2026-07-01"
    assert office.desk.ask(f"/laws/{LAW}?at=&version=1").status == 200


def test_a_unit_names_its_versions_and_who_signed_each(office: Office) -> None:
    unit = office.desk.ask(f"/laws/{LAW}/units/ARTICLE-2.json").json
    assert [unit_version["enacted_by_version"] for unit_version in unit["unit_versions"]] == [1, 2]
    roles = [{signer["role"] for signer in each["signers"]} for each in unit["unit_versions"]]
    assert all(
        {"approver of the cut", "approver of the enactment", "executor", "verifier"} <= role for role in roles
    ), roles
    whole = office.desk.ask(f"/laws/{LAW}/text.json").json
    assert [entry["order"] for entry in whole["text"]] == [1, 2, 3, 4]


def test_a_diff_shows_words(office: Office) -> None:
    page = office.desk.ask(f"/laws/{LAW}/diff").text
    assert "<del>text</del>" in page
    assert "<ins>words</ins>" in page
    assert office.desk.ask(f"/laws/{LAW}/diff?version=1").status == 404


def test_a_search_finds_units_by_their_permanent_addresses(office: Office) -> None:
    units = office.desk.ask("/search.json?words=%22are+new%22").json["found"]
    assert [unit["address"].rpartition("/")[2] for unit in units] == ["ARTICLE-2"]
    assert "ARTICLE-2?version=2" in office.desk.ask("/search?words=%22are+new%22").text


def test_a_batch_shows_its_timeline_and_a_queue_its_document(office: Office) -> None:
    batch = office.desk.ask(f"/batches/{office.batch_id}")
    assert "Timeline" in batch.text
    assert QUEUED in batch.text
    assert [batch["batch_id"] for batch in office.desk.ask("/batches.json").json["batches"]] == [office.batch_id]
    entry = office.desk.ask(f"/queues/{office.queued}.json").json
    assert (entry["queue"], entry["run_id"]) == ("error_queue", office.queued)
    assert "&lt;/pre&gt;&lt;script&gt;" in office.desk.ask(f"/queues/{office.queued}").text


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/laws/ICX-NONE", 404), ("/laws/ICX-ACT-1/units/ARTICLE-99", 404), ("/laws/ICX-ACT-1?version=9", 404),
        ("/laws?at=tomorrow", 400), ("/laws?part=2", 404), ("/laws?part=0", 400), ("/runs/nonsense", 400),
        ("/batches/nonsense", 400), ("/nothing", 404), ("/search?words=%2E", 400), ("/queues/ICX-ACT-1", 404),
        ("/runs/ICX-NONE", 404), ("/assets/other.js", 404), ("/laws/%3Cscript%3E", 404),
    ],
)  # fmt: skip
def test_an_error_is_a_page_or_json_with_the_same_sentence(office: Office, address: str, status: int) -> None:
    page, answer = office.desk.ask(address), office.desk.ask(address, Accept="application/json")
    assert (page.status, answer.status) == (status, status), page.text
    assert set(answer.json) == {"code", "message", "next"}
    assert "<script>" not in page.text
    assert "text/html" in page.headers["content-type"]


@pytest.mark.parametrize(
    "address",
    [
        "/runs/x%60{}%60", "/laws/x%60{}%60", "/laws/next:%20{}", "/laws?at=x%60{}%60", "/laws?at=next:%20{}",
        "/batches/x%60{}%60", "/queues/x%60{}%60", "/requests/x%60{}%60", "/laws/ICX-ACT-1/units/x%60{}%60",
    ],
)  # fmt: skip
def test_a_stranger_s_text_in_an_address_is_no_next_command(office: Office, address: str) -> None:
    void = "cutter void ICX-LAW-2026-001 --yes"
    answer = office.desk.ask(address.format(void.replace(" ", "%20")), Accept="application/json")
    assert void in answer.json["message"]
    quoted = [word for word in shlex.split(answer.json["next"] or "") if "void" in word]
    assert quoted in ([], [f"x`{void}`"])


@pytest.mark.parametrize(
    ("address", "step"),
    [
        ("/laws/ICX-NONE", "cutter law show"), ("/laws/ICX-ACT-1?version=9", "cutter law history ICX-ACT-1"),
        ("/laws/ICX-ACT-1/units/ZZZ", "cutter law tree ICX-ACT-1"), ("/laws?at=tomorrow", None),
    ],
)  # fmt: skip
def test_an_error_leads_on_by_its_own_command(office: Office, address: str, step: str | None) -> None:
    assert office.desk.ask(address, Accept="application/json").json["next"] == step


def test_open_api_describes_every_address(office: Office) -> None:
    described = office.desk.ask("/openapi.json").json
    known = {re.sub(r"\{[^}]+\}", "x", template) for template in described["paths"]}
    for address in ("/inbox", "/requests/x", "/laws/x", "/laws/x/units/x", "/laws/x/diff", "/search", "/batches/x"):
        assert address in known
    assert all(set(methods) == {"get"} for methods in described["paths"].values())


def test_a_head_has_the_headers_and_no_body(office: Office) -> None:
    answer = office.desk.ask("/laws", method="HEAD")
    assert (answer.status, answer.body) == (200, b"")


def test_the_first_address_is_the_inbox(office: Office) -> None:
    assert office.desk.ask("/").headers["location"] == "/inbox"
    assert office.desk.ask("/", Accept="application/json").headers["location"] == "/inbox.json"


@pytest.mark.parametrize(
    ("command", "address"),
    [
        (("inbox",), "/inbox"), (("queues",), "/queues"), (("status", LAW), f"/runs/{LAW}"),
        (("law", "show"), "/laws"),
        (("law", "diff", LAW), f"/laws/{LAW}/diff"), (("request", ASKED, "--form", "json"), f"/requests/{ASKED}"),
    ],
)  # fmt: skip
def test_a_command_says_what_its_page_says(office: Office, command: tuple[str, ...], address: str) -> None:
    more = () if "--form" in command else ("--json",)
    done = forked.run((*command, *more), environment(office.made.settings, {}), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    whole = json.loads(done.stdout)
    answer, shown = whole["laws"] if command == ("law", "show") else whole, office.desk.ask(f"{address}.json").json
    assert _lasting(answer) == {name: member for name, member in _lasting(shown).items() if name in _lasting(answer)}


def _lasting(answer: Any) -> dict[str, Any]:
    """An answer without ages, and without who asks."""
    rows = answer if isinstance(answer, dict) else {"rows": answer}
    passing = ("age", "you_may_not", "signers")
    return {
        name: [{key: each for key, each in row.items() if key not in passing} for row in member]
        if isinstance(member, list) and all(isinstance(row, dict) for row in member) else member
        for name, member in rows.items()
    }  # fmt: skip


REPAIR = "the key of executor is away: type `cutter keys make --role executor`"
BLOCKED = """
insert into cutter_governance.worker_heartbeat (worker_id, owner, role, build_id, state, queues, beat_seconds)
values ('exec@host', 'cutter_exec', 'exec', 'b', 'initializing',
    jsonb_build_array(jsonb_build_object(
        'queue', 'q', 'slots', 4, 'used', 0, 'blocked', jsonb_build_array(%s::text))), 20)
"""


def test_the_inbox_names_a_worker_whose_host_needs_a_repair(office: Office) -> None:
    assert "needs a repair" not in office.desk.ask("/inbox").text
    office.made.database.run(BLOCKED, (REPAIR,))
    try:
        done = forked.run(("inbox", "--json"), environment(office.made.settings, {}), cwd=ROOT)
        shown = office.desk.ask("/inbox.json").json["blocked"]
        assert shown == json.loads(done.stdout)["blocked"]
        assert "the key of executor is away" in shown[0]["reason"]
        page = office.desk.ask("/inbox").text
        assert "the key of executor is away" in page
        assert "cutter keys make --role executor" in page
    finally:
        office.made.database.run("delete from cutter_governance.worker_heartbeat where worker_id = 'exec@host'")
