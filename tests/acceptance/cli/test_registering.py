"""`mark`, `source add` and `batch --check` agree with the run, and unknown names are told which was meant."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import uuid_utils

from tests.acceptance.cli.conftest import Cutter
from tests.support import batch as support
from tests.support.stack import DOCUMENT, Stack

PROFILE = ("--profile", "generic-markdown")
REFUSED = {
    "childless_heading": b"# Act\n\n## Article 1. Scope\n\n## Article 2. Terms\n\nTwo.\n",
    "bidi_in_heading": "# Act\n\n## Article 1. \u202eScope\n\nOne.\n".encode(),
    "duplicate_address": b"# Act\n\n## Article 1. Scope\n\nOne.\n\n## Article 1. Scope\n\nTwo.\n",
    "heading_absorbed": b"# Act\n\n## Article 1. Scope\n\nOne.\n\nArticle 2.\n\nTwo.\n",
    "no_candidates": b"Words without any heading.\n",
}
"""Texts that no run can mark, by the reason."""


@pytest.mark.parametrize("code", sorted(REFUSED))
@pytest.mark.promise
async def test_what_a_run_would_refuse_is_refused_before_it(cutter: Cutter, tmp_path: Path, code: str) -> None:
    file = tmp_path / "law.md"
    file.write_bytes(REFUSED[code])
    add = ("source", "add", str(file), "--document-id", "ICX-BAD-1", *PROFILE)
    shown, refused = await cutter("mark", str(file), "--json"), await cutter(*add, "--json")
    assert (shown.code, refused.code) == (4, 4)
    assert shown.json["code"] == refused.json["code"] == code
    assert "--force" in refused.json["message"]
    assert (await cutter(*add, "--force")).code == 0
    queue = tmp_path / "queue.yaml"
    queue.write_bytes(support.queue_yaml([{"document_id": "ICX-BAD-1"}], str(uuid_utils.uuid7())))
    checked = await cutter("orchestrate", "batch", "--queue", str(queue), "--check", "--json")
    assert (checked.code, checked.json["code"]) == (2, code)
    assert f"ICX-BAD-1 would be refused ({code})" in checked.json["message"]


async def test_the_options_that_mend_a_text_are_the_same_for_the_preview_and_the_register(
    cutter: Cutter, tmp_path: Path
) -> None:
    file = tmp_path / "law.md"
    file.write_text("# Act\n\n## Article 1. Ca\u0301c\n\n## Article 2. Terms\n\nTwo.\n", encoding="utf-8")
    options = ("--empty", "heading_only", "--normalise", "nfc")
    assert (await cutter("mark", str(file), *options)).code == 0
    answer = await cutter("source", "add", str(file), "--document-id", "ICX-NFC-1", *PROFILE, *options, "--json")
    assert (answer.code, answer.json["status"]) == (0, "registered")


async def test_direction_marks_are_removed_on_request_and_the_provenance_says_so(
    cutter: Cutter, stack: Stack, tmp_path: Path
) -> None:
    file = tmp_path / "law.md"
    file.write_text("# Act\n\n## Article 1. \u202eScope\n\nOne\u200e.\n", encoding="utf-8")
    add = ("source", "add", str(file), "--document-id", "ICX-BIDI-1", *PROFILE, "--json")
    assert (await cutter(*add)).json["code"] == "bidi_in_heading"
    answer = await cutter(*add, "--remove-direction-marks")
    assert (answer.code, answer.json["status"]) == (0, "registered")
    provenance = stack.database.value(
        "select provenance from public.source_version v join public.source_document d using (source_document_ref)"
        " where d.doc_code = 'ICX-BIDI-1'"
    )
    assert provenance["direction_marks_removed"] == 2
    assert provenance["marked_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert provenance["unmarked_sha256"] != provenance["marked_sha256"]


async def test_removed_parts_of_pages_are_in_the_provenance(cutter: Cutter, stack: Stack, tmp_path: Path) -> None:
    file = tmp_path / "law.md"
    articles = [f"# Article {page}. Aim\n\nthe {'x' * page} board {'y' * 500}.\n" for page in range(1, 6)]
    file.write_text("".join(f"{text}Page {page} of 5\n" for page, text in enumerate(articles, 1)))
    add = ("source", "add", str(file), "--document-id", "ICX-PAGES-1", *PROFILE, "--normalise", "pages", "--json")
    answer = await cutter(*add)
    assert (answer.code, answer.json["status"]) == (0, "registered")
    provenance = stack.database.value(
        "select provenance from public.source_version v join public.source_document d using (source_document_ref)"
        " where d.doc_code = 'ICX-PAGES-1'"
    )
    assert provenance["pages_removed"] == {"page_number": 5}
    assert provenance["paged_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert provenance["unpaged_sha256"] == answer.json["sha256"]


async def test_the_check_of_a_queue_marks_each_text_as_it_is_registered(cutter: Cutter, tmp_path: Path) -> None:
    file = tmp_path / "law.md"
    file.write_bytes(REFUSED["childless_heading"])
    add = ("source", "add", str(file), "--document-id", "ICX-CHECK-1", *PROFILE)
    assert (await cutter(*add, "--force")).code == 0
    queue = tmp_path / "queue.yaml"
    queue.write_bytes(support.queue_yaml([{"document_id": "ICX-CHECK-1"}], str(uuid_utils.uuid7())))
    check = ("orchestrate", "batch", "--queue", str(queue), "--json", "--check")
    assert (await cutter(*check)).json["code"] == "childless_heading"
    assert (await cutter(*add, "--empty", "heading_only")).code == 0
    answer = await cutter(*check)
    (row,) = answer.json["order"]
    assert (answer.code, row["units"], row["findings"]) == (0, 3, 1)


async def test_without_a_profile_the_preview_and_the_register_take_the_same_one(cutter: Cutter, tmp_path: Path) -> None:
    file = tmp_path / "law.md"
    file.write_text("# Act\n\n## Article 1. Scope\n\nOne.\n", encoding="utf-8")
    shown = await cutter("mark", str(file), "--json")
    added = await cutter("source", "add", str(file), "--document-id", "ICX-NONE-1", "--json")
    assert (added.code, added.json["profile"]) == (0, shown.json["profile"]["id"]), added


async def test_an_unknown_name_is_told_which_was_meant(cutter: Cutter) -> None:
    """Seed 000 §7."""
    near = DOCUMENT[:-2]
    for command in (("run", near), ("approve", near), ("status", near), ("stop", near, "--reason", "x")):
        answer = await cutter(*command, "--json")
        assert (answer.code, answer.json["code"], answer.json["next"]) == (
            1,
            "STOP_DOCUMENT_UNKNOWN",
            "cutter law show",
        )
        assert f"did you mean {DOCUMENT}?" in answer.json["message"]
        assert answer.err.rstrip().endswith("[STOP_DOCUMENT_UNKNOWN]")
    unknown = await cutter("status", "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b", "--json")
    assert (unknown.json["code"], unknown.json["next"]) == ("STOP_RUN_NOT_FOUND", "cutter status")


async def test_a_tenant_that_nobody_declared_is_refused_where_some_are(cutter: Cutter) -> None:
    assert (await cutter("tenants", "set", "north", "--weight", "2")).code == 0
    answer = await cutter("run", DOCUMENT, "--json", CUTTER_TENANT="norht")
    assert (answer.code, "did you mean north?" in answer.json["message"]) == (2, True)
    assert answer.json["next"] == "cutter tenants"


async def test_the_next_version_of_an_enacted_law_is_registered_with_its_terms(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    file = tmp_path / "law.md"
    file.write_bytes(support.law(7))
    add = ("source", "add", str(file), "--document-id", DOCUMENT, *PROFILE, "--json")
    async with stack.workers():
        assert (await cutter(*add, "--correction", "--reason", "too early")).json["code"] == "change_has_its_base"
        assert (await cutter("repeal", DOCUMENT, "--reason", "x", "--json")).json["code"] == "change_has_its_base"
        run = await stack.start()
        assert (await run.through()).state == "closeout_reported"
        early = await cutter(*add, "--effective", "2001-01-01")
        assert (early.code, early.json["code"]) == (4, "takes_effect_in_order")
        for wrong in (("--effective", "soon"), ("--correction",), ("--reason", "alone")):
            assert (await cutter(*add, *wrong)).code == 2
        later = await cutter(*add, "--effective", "2099-01-01")
        assert (later.code, later.json["status"], later.json["version_seq"]) == (0, "registered", 2)
        again = await cutter(*add, "--effective", "2099-01-01")
        assert again.json["status"] == "registered_before"
        ended = await cutter("repeal", DOCUMENT, "--effective", "2099-01-01", "--reason", "no use", "--json")
        assert (ended.code, ended.json["version_seq"], ended.json["size_bytes"]) == (0, 3, 0)


async def test_a_new_version_without_a_profile_is_told_which_one_the_law_has(cutter: Cutter, tmp_path: Path) -> None:
    file = tmp_path / "law.md"
    file.write_bytes(support.law(2))
    add = ("source", "add", str(file), "--document-id", "ICX-PROFILE-1")
    assert (await cutter(*add, "--profile", "german-law")).err == ""
    warned = "so generic-markdown reads the text; german-law read the version before: give --profile"
    assert warned in (await cutter(*add)).err
    assert (await cutter(*add)).err == "", "the newest version has the default profile now"
