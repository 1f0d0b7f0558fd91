"""`cutter request`: three forms of one request, and what it says when the request is not what this machine computes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutter.domain.markdown import escape
from starter.approver import signing_desk
from starter.console.terminal import ExitCode
from tests.acceptance.cli.conftest import Cutter
from tests.support.stack import DOCUMENT, Run, Stack

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"


@pytest.mark.promise
async def test_the_three_forms_name_one_digest_and_show_the_same_units(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = (await cutter("request", DOCUMENT, "--json")).json
        page = Path(answer["file"]).read_text(encoding="utf-8")
        markdown = (await cutter("request", DOCUMENT, "--form", "md")).out
        data = json.loads((await cutter("request", run.run_id, "--form", "json")).out)
        digest = answer["view_digest"]
        assert data["view_digest"] == digest
        assert digest in page
        assert digest in markdown
        titles = [unit["title"] for unit in data["view"]["units"]]
        assert len(titles) == data["request"]["candidate_count"]
        assert all(title in page and escape(title) in markdown for title in titles)
        assert Path(answer["file"]).stat().st_mode & 0o777 == 0o600

        mine = tmp_path / "mine.html"
        assert (await cutter("request", DOCUMENT, "--out", str(mine))).code == 0
        assert mine.read_text(encoding="utf-8") == page

        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        second = (await cutter("request", DOCUMENT, "--json")).json
        assert (second["gate"], second["view_digest"] == digest) == (LIFECYCLE, False)
        assert "IG_structural_verify" in Path(second["file"]).read_text(encoding="utf-8")


async def test_a_wrong_use_is_refused_with_what_to_type(stack: Stack, cutter: Cutter, tmp_path: Path) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        nowhere = await cutter("request", DOCUMENT, "--out", str(tmp_path / "no" / "page.html"))
        assert (nowhere.code, "name a file in a folder that exists" in nowhere.err) == (ExitCode.USAGE, True)
        mixed = await cutter("request", DOCUMENT, "--form", "md", "--open")
        assert (mixed.code, "leave out --form md" in mixed.err) == (ExitCode.USAGE, True)
        unknown = await cutter("request", "ICX-NOBODY", "--json")
        assert unknown.code == ExitCode.FAILED
        assert unknown.json["code"]


async def test_a_request_or_a_text_that_was_changed_is_not_shown(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        request, snapshot = files(stack, run)
        for file, code in ((request, "request_altered"), (snapshot, "snapshot_differs")):
            body = file.read_bytes()
            file.chmod(0o600)
            file.write_bytes(body.replace(b"Article 2", b"Article 3"))
            answer = await cutter("request", DOCUMENT, "--json")
            file.write_bytes(body)
            assert (answer.code, answer.json["code"]) == (ExitCode.STOPPED, code), answer.err
        assert (await cutter("request", DOCUMENT, "--json")).code == 0


def files(stack: Stack, run: Run) -> tuple[Path, Path]:
    """The request document of a run and the snapshot that it names, in the knowledge base."""
    kb = stack.settings.state / "kb"
    request = signing_desk.open_request(stack.settings, run.run_id)
    document, _ = signing_desk.read_request(stack.settings, run.run_id, request)
    return kb / request, kb / document.snapshot_kb_id
