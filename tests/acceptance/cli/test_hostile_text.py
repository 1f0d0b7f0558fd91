"""What strangers write (signals, identities, tables, files) reaches commands, prompts and documents as letters."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from psycopg import sql

from cutter.messages import RunInput
from temporal import runs
from tests.acceptance.cli.conftest import Cutter, Told
from tests.support import batch as support
from tests.support.hostile import MARKUP, STRINGS, TERMINAL, bare_addresses, leaks, live
from tests.support.stack import DOCUMENT, Run, Stack

CUT = "SG_cut_authz"
NAME = "".join(TERMINAL[name] for name in ("conceal", "clipboard", "bidi override", "tags", "next line", "fillers"))
CONTROLS = " ".join(TERMINAL.values())
LINKS = " ".join(MARKUP[name] for name in ("image", "link", "autolink", "www", "tag", "emphasis", "rich", "template"))
ESCAPE = "⟨U+001B⟩"


def check(answer: Told) -> str:
    """Both streams of a command, in which nothing is hidden."""
    assert leaks(answer.out) == [], answer.out
    assert leaks(answer.err) == [], answer.err
    return answer.out + answer.err


def check_documents(stack: Stack) -> int:
    """How many of our documents the knowledge base holds; in none is a text of others active or hidden."""
    folder = Path(str(stack.settings.kb).removeprefix("file://"))
    paths = [path for path in folder.rglob("*.md") if "snapshot" not in path.name]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert leaks(text) == [], path
        assert live(text) == [], path
        assert bare_addresses(text.split("\n")) == [], path
    return len(paths)


async def started_by(stack: Stack, starter: str, document_id: str = DOCUMENT) -> Run:
    """A run whose starter says what they like, as anybody who reaches Temporal may."""
    handle = await runs.start(stack.client, RunInput(document_id=document_id, mode="live", starter=starter))
    run = Run(stack=stack, run_id="", document_id=document_id, handle=handle)
    run.run_id = str((await run.until_requested(CUT))["run_id"])
    return run


async def look_everywhere(cutter: Cutter, run_id: str) -> dict[str, str]:
    """What every command that only looks says, for people and for programs."""
    commands: tuple[tuple[str, ...], ...] = (
        ("status",), ("status", run_id), ("status", run_id, "--as", "run"), ("status", run_id, "--as", "request"),
        ("inbox",), ("queues",), ("workers",), ("workers", "--all"), ("report", run_id),
        ("reconcile", "--grace-seconds", "600"), ("rebuild", run_id), ("tenants",), ("law", "show"),
        ("policy", "explain"), ("doctor",), ("evidence", run_id),
    )  # fmt: skip
    texts = {}
    for command in commands:
        for more in ((), ("--json",)):
            answer = await cutter(*command, *more)
            texts[" ".join((*command[:1], *more))] = check(answer)
            if more and answer.out.strip():
                json.loads(answer.out)
    return texts


async def test_what_strangers_tell_a_run_is_letters_for_everybody(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await started_by(stack, NAME)
        stack.database.run(
            "select cutter_governance.fn_worker_beat(%s, %s, 10, '[]', 'initializing')", (NAME[:90], NAME[:90]),
            role="cutter_verify",
        )  # fmt: skip
        await run.handle.signal(NAME, {"reason": CONTROLS})
        await run.handle.signal("submit_approval", f"knowledge/{NAME}.md")
        await run.handle.signal("stop", {"reason": f"{CONTROLS} {LINKS}"[:500]})
        await run.until_shown("stopped_stop")
        texts = await look_everywhere(cutter, run.run_id)
        assert ESCAPE in texts["status"]
        assert ESCAPE in texts["workers"]
        asked = await cutter(
            "approve", run.run_id, "--decision", "resume", "--reason", "fine", "--approver", "alice", "--gpg-home",
            str(stack.kit.alice.home), typed="n\n",
        )  # fmt: skip
        assert (asked.code, "sign resume as alice?" in check(asked), ESCAPE in asked.err) == (4, True, True)
        pages = list(Path(stack.settings.state).rglob("*.html"))
        assert pages
        assert all(leaks(page.read_text(encoding="utf-8")) == [] for page in pages)
        assert check_documents(stack) >= 5
        watched = await cutter("void", run.run_id, "--reason", CONTROLS, typed="n\n")
        assert watched.code != 0
        check(watched)


async def test_the_prompt_of_drift_shows_names_of_the_database_as_letters(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        with stack.database.connect("postgres", autocommit=True) as connection:
            for name in ("conceal", "clipboard", "bidi override", "tags"):
                table = sql.Identifier(TERMINAL[name])
                connection.execute(sql.SQL("create table public.{} (a integer)").format(table))
            path = sql.Literal(TERMINAL["escape"] + TERMINAL["conceal"])
            connection.execute(
                sql.SQL("alter role directus in database {} set search_path = {}").format(
                    sql.Identifier(stack.database.name), path
                )
            )
        await run.approve(CUT)
        await run.until_shown("stopped_drift_tables")
        asked = await cutter(
            "approve", run.run_id, "--decision", "acknowledge_drift", "--reason", "ours", "--approver", "alice",
            "--gpg-home",
            str(stack.kit.alice.home), typed="n\n",
        )  # fmt: skip
        text = check(asked)
        assert (asked.code, "sign acknowledge_drift as alice?" in text) == (4, True)
        assert f"shown{ESCAPE}[8mconcealed" in text, text
        assert "fingerprint" in text
        await look_everywhere(cutter, run.run_id)
        check_documents(stack)


async def test_what_is_refused_of_a_batch_is_letters_for_everybody(stack: Stack, cutter: Cutter) -> None:
    stack.register(
        DOCUMENT, f"# Act\n\n## Article 1. {MARKUP['image']} a\x1b[2Jb\n\nOne.\n\n## Article 1. x\n\nT.\n".encode()
    )
    queue = stack.settings.state / "queue.yaml"
    queue.write_bytes(support.queue_yaml([{"document_id": DOCUMENT}]))
    async with stack.workers():
        answer = await cutter("orchestrate", "batch", "--queue", str(queue), "--quarantine", "--wait", "--json")
        check(answer)
        batch_id = answer.json["batch_id"]
        stop = await cutter("stop", batch_id, "--reason", f"{CONTROLS} {LINKS}"[:500])
        check(stop)
        for command in (("status", batch_id), ("queues",), ("queues", "show", DOCUMENT), ("report", batch_id)):
            for more in ((), ("--json",)):
                check(await cutter(*command, *more))
        check_documents(stack)


async def test_files_of_others_are_named_and_quoted_as_letters(cutter: Cutter, stack: Stack, tmp_path: Path) -> None:
    law = tmp_path / "a\x1b[2J\u202eb.md"
    law.write_text("# Act\n\n## Article 1. a\x9b31mb\u200b\n\nOne.\n", encoding="utf-8")
    queue = tmp_path / "q\x1b]52;c;eA==\x07.yaml"
    for text in (STRINGS["fillers"], STRINGS["tags"], "\x1b[8m", "\u202e", MARKUP["fence"]):
        queue.write_text(f"schema_version: 1\ncreated_by: '{text}'\n# {text}\n", encoding="utf-8")
        checked = await cutter("orchestrate", "batch", "--queue", str(queue), "--check")
        assert checked.code == 2
        check(checked)
    commands: list[tuple[Any, ...]] = [
        ("mark", law), ("mark", law, "--json"), ("source", "add", law, "--document-id", NAME),
        ("source", "add", law, "--document-id", "ICX-H-1", "--profile", NAME), ("verify", law),
        ("run", NAME), ("status", NAME), ("queues", "show", NAME),
        ("approve", NAME), ("stop", NAME, "--reason", CONTROLS), ("inbox", "--approver", NAME),
        ("approvers", "propose", "--approver", f"{NAME}={law}"), ("report", NAME),
    ]  # fmt: skip
    for command in commands:
        answer = await cutter(*(str(word).replace("\x00", "") for word in command))
        check(answer)
    await asyncio.to_thread(check_documents, stack)
