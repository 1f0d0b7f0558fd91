"""IO: `cutter profile suggest` writes a profile that fits a text, without a server; `words` adds words for profiles.

Exit 0 with the profile, 4 if the text cannot be read, 2 if the command line or a correction is wrong.
"""

from __future__ import annotations

import getpass
import re
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from psycopg.types.json import Jsonb
from rich.console import Console

from cutter import plain_yaml, sources
from cutter.catalogue import Role
from cutter.domain.amounts import counted
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput
from cutter.limits import FINDINGS_OF_A_KIND_SHOWN, TREE_ROWS_SHOWN, VOCABULARY_BYTES_MAX
from cutter.marking import Marking, MarkRefusal, Options
from cutter.marking.page_lines import without_pages
from cutter.marking.suggestion import Suggestion, suggest
from cutter.plain_yaml import FieldReader, Scalar, Wrong
from cutter.settings import Settings, load
from cutter.storage.gate_transaction import call
from cutter.storage.pools import session
from starter.commands import mark
from starter.console import terminal
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, line, say, show, table

app = typer.Typer(
    help="Marking profiles: suggest one for a text, add words that they may use.",
    no_args_is_help=True,
    add_completion=False,
)

_NO_LEVELS = "no levels: no word with a number begins a unit, so each line with # begins one"

WHY = {
    "text": "with a word and a number, or with #",
    "outstanding": "bold or in capitals, without a number",
    "code_block": "in code blocks and comments",
}
"""Kinds of lines that look like headings but begin no unit."""


@app.command("suggest")
def suggest_command(
    file: Annotated[Path, typer.Argument(help="The law's text, as it would be pinned.")],
    output: Annotated[
        Path | None, typer.Option(help="Where the profile is written; default: FILE's name with .profile.yaml, here")
    ] = None,
    refine: Annotated[
        list[str] | None,
        typer.Option(help="A correction, such as 'line 12 is a chapter' or 'word Rule is text'; may be repeated"),
    ] = None,
    docprefix: mark.DocPrefix = None,
    nesting: mark.Nesting = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that has another content.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a profile that fits a text; show the tree, the left-out headings, the confidence and alternative profiles.

    Example: cutter profile suggest law.md --refine "line 12 is a chapter"
    """
    data = sources.read(file)
    path = output or Path(f"{file.stem}.profile.yaml")
    if path.suffix not in sources.PROFILE_FILES:
        raise InvalidInput(f"--output {path}: a profile's name ends in .yaml, such as {path.with_suffix('.yaml')}")
    chosen = Options(nesting=cast(Any, nesting)).nesting
    # The profile's id is the file's name in the letters that an id may have.
    slug = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")
    name = f"suggested-{slug}"[:48].rstrip("-")
    suggestion = suggest(
        data, docprefix=docprefix or sources.PREVIEW_PREFIX, name=name, refine=tuple(refine or ()), nesting=chosen
    )
    if isinstance(suggestion, MarkRefusal):
        refused = as_failure(
            {"refused": asdict(suggestion)}, code=suggestion.code, message=suggestion.message,
            next_command=suggestion.then,
        )  # fmt: skip
        words = f"refused ({suggestion.code}): {suggestion.message}"
        show(refused, as_json=as_json, render=lambda _: say(words))
        end(ExitCode.STOPPED)
        return
    if not force and path.exists() and sources.read(path) != suggestion.body:
        raise Conflict(f"{path} exists with other content: give --force to replace it, or --output FILE.yaml")
    with terminal.output(path, "--output"):
        path.write_bytes(suggestion.body)
    if isinstance(suggestion.result, MarkRefusal):
        # Nothing can be cut yet, so the command is typed again after the text was corrected.
        again = shlex.join(["cutter", "profile", "suggest", str(file), "--output", str(path), "--force"])
    else:
        needs = " ".join(suggestion.needs).split()
        again = shlex.join(["cutter", "mark", str(file), "--profile", str(path), *needs])
    answer = _as_json(file, path, data, suggestion) | {"next": again}
    show(answer, as_json=as_json, render=lambda out: _show(out, path, suggestion, again))
    pages = sum(removal.kind in ("page_line", "page_number") for removal in without_pages(data).removed)
    if pages and not as_json:
        clean = shlex.join(["cutter", "mark", str(file), "--normalise", "pages", "--out", f"clean-{file.name}"])
        say(f"heads, feet or numbers of pages in the text: {counted(pages, 'line')}. `{clean}` shows and removes them")


@app.command("words")
def words_command(
    file: Annotated[Path, typer.Argument(help="A YAML file with the lists owner, publication_type and unit_kind.")],
    as_json: AsJson = False,
) -> None:
    """Add owners, publication types and unit kinds that profiles may use. A word can never be removed.

    Example: cutter profile words words.yaml
    """
    wanted = parse_words(sources.read(file))
    new = extend(load(), wanted)
    words = [f"{family} {code}" for family, code in new]
    text = f"added: {', '.join(words)}" if words else "every word is known already"
    show({"file": file.name, "added": words}, as_json=as_json, render=lambda out: out.print(line(text), soft_wrap=True))


def _as_json(file: Path, path: Path, data: bytes, suggestion: Suggestion) -> dict[str, Any]:
    units = suggestion.result.candidates if isinstance(suggestion.result, Marking) else ()
    refused = None if isinstance(suggestion.result, Marking) else asdict(suggestion.result)
    return {
        "file": file.name,
        "sha256": sha256_hex(data),
        "profile": {"id": suggestion.profile_id, "path": str(path), "sha256": sha256_hex(suggestion.body)},
        "yaml": suggestion.body.decode(),
        "confidence": suggestion.confidence,
        "reasons": list(suggestion.reasons),
        "needs": list(suggestion.needs),
        "levels": [asdict(level) for level in suggestion.levels],
        "tree": [
            {"address": unit.address, "parent": unit.parent_address, "title": unit.title, "line": unit.line}
            for unit in units
        ],
        "refused": refused,
        "red": [asdict(finding) | {"name": finding.name} for finding in suggestion.red],
        "unused": [asdict(heading) for heading in suggestion.unused],
        "alternatives": [asdict(alternative) for alternative in suggestion.alternatives],
    }


def _show(out: Console, path: Path, suggestion: Suggestion, again: str) -> None:
    levels = [(level.name, level.form, ", ".join(level.words), ", ".join(level.numbers), level.lines,
               f"{level.first_line}: {level.example}") for level in suggestion.levels]  # fmt: skip
    if levels:
        out.print(table(("level", "form", "words", "numbers", "lines", "first line"), levels))
    else:
        out.print(line(_NO_LEVELS), soft_wrap=True)
    units = suggestion.result.candidates if isinstance(suggestion.result, Marking) else ()
    for unit in units[:TREE_ROWS_SHOWN]:
        out.print(line(f"{'  ' * unit.level}{unit.address.rpartition('/')[2]}  {unit.title}"), soft_wrap=True)
    if len(units) > TREE_ROWS_SHOWN:
        out.print(line(f"… and {counted(len(units) - TREE_ROWS_SHOWN, 'unit')} more (--json has them all)"))
    for why, what in WHY.items():
        left = [heading for heading in suggestion.unused if heading.why == why]
        if left:
            out.print(line(f"{counted(len(left), 'line')} not used, {what}:"), soft_wrap=True)
        for heading in left[:FINDINGS_OF_A_KIND_SHOWN]:
            out.print(line(f"  line {heading.line}: {heading.title}"), soft_wrap=True)
    out.print(line(f"confidence: {suggestion.confidence}"))
    for reason in suggestion.reasons:
        out.print(line(f"  {reason}"), soft_wrap=True)
    for finding in suggestion.red:
        out.print(line(f"  red {finding.name}: {finding.message}"), soft_wrap=True)
    if suggestion.needs:
        out.print(line(f"the text needs {' '.join(suggestion.needs)} in every command that marks it"), soft_wrap=True)
    shared: dict[tuple[object, ...], list[str]] = {}  # other profiles with the same result share a row
    for other in suggestion.alternatives:
        result = (other.refused or other.units, other.red, other.nested_otherwise, other.left_out)
        shared.setdefault(result, []).append(other.profile)
    columns = ("units", "red findings", "nested otherwise", "headings left out", "with another profile")
    out.print(table(columns, [(*result, ", ".join(names)) for result, names in shared.items()]))
    if isinstance(suggestion.result, MarkRefusal) and suggestion.result.code == "no_candidates":
        out.print(line("first: put `# ` before each line that begins a unit"))
    out.print(line(f"{path} is written; next: {again}"), soft_wrap=True)


SCHEMA = "cutter-words/1"
FAMILIES = ("owner", "publication_type", "unit_kind")
"""The vocabularies that an operator may extend. The types of sections are fixed, because the marking gives them."""

_WORD = re.compile(r"[a-z][a-z0-9_-]{0,47}")

Words = dict[str, tuple[str, ...]]


def parse_words(data: bytes) -> Words:
    """The words of each vocabulary in a file. Raises InvalidInput with the line and the field."""
    node = plain_yaml.load(data, bytes_max=VOCABULARY_BYTES_MAX)
    try:
        root = FieldReader(node, "words", ("schema", *FAMILIES), path="words")
        root.text("schema", re.compile(re.escape(SCHEMA)), SCHEMA)
        families: Words = {}
        for family in filter(root.has, FAMILIES):
            for item in root.items(family):
                if not isinstance(item, Scalar) or not _WORD.fullmatch(item.text):
                    root.fail(family, "each word has a-z, 0-9, '_' and '-', at most 48, a letter first")
                families[family] = (*families.get(family, ()), item.text)
        return families
    except Wrong as problem:
        raise InvalidInput(f"words {problem}") from None


def extend(settings: Settings, words: Words) -> tuple[tuple[str, str], ...]:
    """Add the words as the operator. Return the new pairs of vocabulary and word."""
    with session(settings, Role.OPERATOR) as connection:
        answer = call(
            connection, dict, "select cutter_governance.fn_vocabulary_extend(%s, %s)",
            (Jsonb({family: list(codes) for family, codes in words.items()}), getpass.getuser()),
        )  # fmt: skip
    return tuple((family, code) for family, code in answer["added"])
