"""IO: `cutter law site`: writes enacted law as static pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cutter.catalogue import Role
from cutter.law.law_text import LawText
from cutter.projections.law_site import pages
from cutter.settings import load
from cutter.storage import enacted_law
from cutter.storage.pools import session
from starter.console.output_file import output
from starter.console.terminal import AsJson, fields, show


def site(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; it is made, and files in it are replaced")],
    documents: Annotated[list[str] | None, typer.Argument(help="Only these laws; default: all")] = None,
    as_json: AsJson = False,
) -> None:
    """Write enacted law as static pages: one a version, with outline, text, versions and signers.

    Example: cutter law site -o site
    """
    with session(load(), Role.OPERATOR) as connection:
        wanted = documents or [law.document for law in enacted_law.laws(connection)]
        laws = {
            document: [
                enacted_law.text_of(connection, version) for version in enacted_law.versions(connection, document)
            ]
            for document in wanted
        }
    written = write(out, laws)
    answer = {"folder": str(out.absolute()), "index": str((out / "index.html").absolute()), "pages": written}
    show(answer, as_json=as_json, render=lambda console: console.print(fields(answer), soft_wrap=True))


def write(out: Path, laws: dict[str, list[LawText]]) -> int:
    """Write the pages of laws into a folder, and return their number."""
    made = pages(laws)
    with output(out):
        for path, page in made.items():
            file = out / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(page)
    return len(made)
