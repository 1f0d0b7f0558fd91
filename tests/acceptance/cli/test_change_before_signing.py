"""What an approver sees of a change of law before signing: the words, the text that ends, and a newer version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.cli.conftest import Cutter
from tests.integration.living_law.texts import FIRST, SECOND
from tests.support.stack import Stack
from tests.workflow.test_living_law import DOCUMENT, enacted_first


@pytest.mark.promise
async def test_every_form_shows_the_changed_words_and_a_newer_version(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    async with stack.workers():
        home = ("--approver", "alice", "--gpg-home", str(stack.kit.alice.home))
        await enacted_first(stack)
        stack.register(DOCUMENT, SECOND.encode())
        run = await stack.start(DOCUMENT)
        for gate in ("SG_cut_authz", "SG_lifecycle_authz"):
            await run.until_requested(gate)
            page = tmp_path / f"{gate}.html"
            assert (await cutter("request", DOCUMENT, "--out", str(page))).code == 0
            asked = await cutter("approve", DOCUMENT, *home, typed="n\n")
            (tmp_path / f"{gate}.txt").write_text(asked.err)
            forms = {
                "page": page.read_text().partition('id="difference"')[2].partition('id="findings"')[0],
                "md": (await cutter("request", DOCUMENT, "--form", "md")).out.partition("## Findings")[0],
                "prompt": asked.err.partition("finding")[0],
            }
            assert "<del>" in forms["page"]
            assert "<ins>" in forms["page"]
            assert "~~" in forms["md"]
            assert "[-" in forms["prompt"]
            assert "{+" in forms["prompt"]
            assert all("3 units kept, without a change" in form for form in forms.values())
            view = json.loads((await cutter("request", DOCUMENT, "--form", "json")).out)["view"]
            assert sum(change["change"] == "revised" for change in view["difference"]) == 1
            if gate == "SG_cut_authz":
                assert "newer version" not in asked.err
                stack.register(DOCUMENT, f"{SECOND}\nmore\n".encode())
                newer = "version 3 was registered"
                for answer in (
                    await cutter("request", DOCUMENT, "--form", "md"),
                    await cutter("request", DOCUMENT, "--form", "json"),
                    await cutter("approve", DOCUMENT, *home, typed="n\n"),
                    await cutter("status", DOCUMENT),
                    await cutter("inbox"),
                ):
                    assert newer in answer.out + answer.err, answer
                await run.approve(gate)


async def test_a_repeal_shows_the_text_that_ends_and_asks_for_the_document_id(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    async with stack.workers():
        await enacted_first(stack)
        repealed = await cutter("repeal", DOCUMENT, "--effective", "2099-01-01", "--reason", "replaced by another law")
        assert repealed.code == 0, repealed
        run = await stack.start(DOCUMENT)
        await run.until_requested("SG_cut_authz")
        page = tmp_path / "repeal.html"
        assert (await cutter("request", DOCUMENT, "--out", str(page))).code == 0
        assert "Request to repeal (SG_1)" in page.read_text()
        home = ("--approver", "alice", "--gpg-home", str(stack.kit.alice.home))
        refused = await cutter("approve", DOCUMENT, *home, typed="y\n")
        (tmp_path / "repeal.txt").write_text(refused.err)
        assert refused.code != 0
        assert "REPEAL: the whole law ends on 2099-01-01" in refused.err
        last = next(line for line in reversed(FIRST.splitlines()) if line.strip())
        assert last in refused.err
        assert f"Type {DOCUMENT} to sign it" in refused.err
        markdown = (await cutter("request", DOCUMENT, "--form", "md")).out
        assert markdown.startswith(f"# Request to repeal (SG_1): {DOCUMENT}")
        assert (await cutter("approve", DOCUMENT, *home, typed=f"{DOCUMENT}\n")).code == 0
