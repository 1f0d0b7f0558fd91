"""IO: the states of a law that changed, what people type to read it, and their mistakes about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.acceptance.cli.conftest import Cutter
from tests.cases.printed_mistakes import helped
from tests.cases.printed_states import LIFECYCLE, Ask, Builder, World, enacted, looking, waiting_at_the_cut
from tests.support.stack import Stack

LATER = f"{datetime.now(UTC).date() + timedelta(days=30)}"
"""A day on which a version takes effect that is enacted now."""
UNIT = "ARTICLE-1"
PLAIN = ("--profile", "generic-markdown")
ADD = (*PLAIN, "--force")


async def changed(stack: Stack, cutter: Cutter, *words: str) -> World:
    """An enacted law whose next version was registered by this command and is enacted too."""
    world = await enacted(stack, cutter)
    first = world.run_id
    answer = await cutter(*(word.replace("<document>", world.document) for word in words))
    assert answer.code == 0, answer.err
    answer = await cutter("run", world.document, "--json")
    assert answer.code == 0, answer.err
    world.run_id = answer.json["run_id"]
    for gate in ("SG_cut_authz", LIFECYCLE):
        await world.run.until_requested(gate)
        assert (await world.typed("approve", world.run_id)).code == 0
    await world.run.result()
    world.asks = reading(world.document, first, world.run_id)
    return world


def reading(document: str, first: str, run_id: str) -> list[Ask]:
    """What people type to read a law, and to see how its newest run stands."""
    today = f"{datetime.now(UTC).date()}"
    laws: list[Ask] = [
        ("law", "show"), ("law", "show", "--at", LATER), ("law", "show", document), ("law", "tree", document),
        ("law", "show", document, "--at", today), ("law", "tree", document, "--at", LATER),
        ("law", "history", document), ("law", "history", document, UNIT), ("law", "diff", document),
        ("law", "diff", document, "--from", "1", "--version", "2"), ("law", "search", "text", "--document", document),
        ("law", "export", document), ("law", "export", document, "--form", "json", "--at", LATER),
        ("evidence", "export", run_id, "--with-law"),
        ("evidence", "export", first, "--with-law"),
    ]  # fmt: skip
    return [*laws, *((*ask, "--json") for ask in laws), *looking(run_id, document)]


async def revised(stack: Stack, cutter: Cutter) -> World:
    return await changed(stack, cutter, "source", "add", *text_of(stack, 1), "--document-id", "<document>", *ADD)


async def corrected(stack: Stack, cutter: Cutter) -> World:
    return await changed(
        stack, cutter, "source", "add", *text_of(stack, 2), "--document-id", "<document>", *ADD, "--correction",
        "--reason", "a wrong word",
    )  # fmt: skip


async def not_yet_in_force(stack: Stack, cutter: Cutter) -> World:
    return await changed(
        stack, cutter, "source", "add", *text_of(stack, 3), "--document-id", "<document>", *ADD, "--effective", LATER
    )


async def repealed(stack: Stack, cutter: Cutter) -> World:
    world = await changed(stack, cutter, "repeal", "<document>", "--reason", "no longer needed")
    world.asks += [("law", "show", world.document, UNIT), ("repeal", world.document, "--reason", "again"),
                   ("law", "export", world.document, "--form", "csv")]  # fmt: skip
    return world


def text_of(stack: Stack, number: int) -> tuple[str, ...]:
    """A file with a next text: one article is changed, one is new and one is gone."""
    file = stack.settings.state / f"next-{number}.md"
    file.write_text(f"# Act changed\n\n## Article 1. Scope 1\n\nText of version {number}.\n\n"
                    "## Article 2. Another\n\nA new text.\n\n## Article 3. Last\n\nThe end.\n")  # fmt: skip
    return (str(file),)


async def mistakes_about_law(stack: Stack, cutter: Cutter) -> World:
    """What people mistype about a law that has two versions."""
    world = await revised(stack, cutter)
    document, near = world.document, world.document[:-1]
    show = ("law", "show", document)
    world.asks = [
        ("law",), ("law", "shwo", document), ("law", "show"), ("law", "show", "NOPE-1"), ("law", "show", near),
        ("law", "show", document.lower()), (*show, "ARTICLE-9"), (*show, "ARTCLE-1"), (*show, "1"),
        (*show, "--at", "2020-01-01"), (*show, "--at", "yesterday"), (*show, "--at", "2026-02-30"),
        (*show, "--version", "9"), (*show, "--version", "0"), (*show, "--version", "1", "--at", LATER),
        ("law", "tree", document, "--at", "2020-01-01"), ("law", "tree", near), ("law", "history", near),
        ("law", "history", document, "ARTICLE-9"), ("law", "history", document, "--at", "2020-01-01"),
        ("law", "diff", document, "--version", "1"), ("law", "diff", document, "--from", "9"),
        ("law", "diff", document, "--from", "2", "--version", "1"), ("law", "diff", document, "ARTICLE-9"),
        ("law", "diff", document, "--at", "2020-01-01"), ("law", "search"), ("law", "search", "…"),
        ("law", "search", "zqxj"), ("law", "search", "text", "--version", "1"), ("law", "show", "--at", "2020-01-01"),
        ("law", "search", "text", "--document", near), ("law", "export", near),
        ("law", "export", document, "--at", "2020-01-01"), ("law", "export", document, "--country", "Vietnam"),
        ("verify", str(world.file)), ("verify", "none.json"),
        ("repeal", near, "--reason", "x"), ("repeal", document), ("evidence", "export", near, "--with-law"),
        ("repeal", document, "--effective", "2020-01-01", "--reason", "x"),
        ("repeal", document, "--effective", "soon", "--reason", "x"),
        ("source", "add", str(world.file), "--document-id", document, *PLAIN, "--effective", "2020-01-01"),
        ("source", "add", str(world.file), "--document-id", document, *PLAIN, "--correction"),
        ("source", "add", str(world.file), "--document-id", "ICX-NEW-1", *PLAIN, "--correction", "--reason", "x"),
    ]  # fmt: skip
    world.asks += [(*ask, "--json") for ask in list(world.asks)]
    return world


async def mistakes_about_no_law(stack: Stack, cutter: Cutter) -> World:
    """What people type about a document that is not enacted yet."""
    world = await waiting_at_the_cut(stack, cutter)
    document = world.document
    world.asks = [
        ("law", "show", document), ("law", "tree", document), ("law", "history", document), ("law", "diff", document),
        ("law", "export", document),
        ("law", "search", "text", "--document", document), ("repeal", document, "--reason", "x"),
        ("evidence", "export", world.run_id, "--with-law"),
    ]  # fmt: skip
    world.asks += [(*ask, "--json") for ask in list(world.asks)]
    return world


async def law_with_files(stack: Stack, cutter: Cutter) -> World:
    """A law that changed, with the files and names that the examples of the help pages mention."""
    world = await revised(stack, cutter)
    answer = await world.type("law", "export", world.document, "--form", "json", "-o", "law.json")
    assert answer.code == 0, answer.err
    today = f"{datetime.now(UTC).date()}"
    world.stand_ins = {"ARTICLE-3": UNIT, "2026-07-01": today, "2027-01-01": LATER}
    return world


LAWS: tuple[Builder, ...] = (
    revised, corrected, not_yet_in_force, repealed, mistakes_about_law, mistakes_about_no_law,
    helped(
        law_with_files, "law", "law show", "law tree", "law history", "law search", "law diff", "law export", "repeal",
    ),
)  # fmt: skip
