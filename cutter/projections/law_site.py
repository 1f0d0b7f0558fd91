"""Pure: enacted law as static pages: one list, and one page for each version of each law.

A page needs no script and asks nothing of any other server. It shows no state of a day, only the days themselves, so
that it stays true until a later version is enacted. Every text is escaped by the template engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cutter.domain.timestamps import readable
from cutter.law.law_text import LawText, LawVersion
from cutter.law.views import legal_time
from cutter.projections.report import template

PAGE, LIST, PARTS, STYLE = "law.html.j2", "laws.html.j2", "law_parts.html.j2", "request.css"


def pages(laws: Mapping[str, Sequence[LawText]]) -> dict[str, bytes]:
    """Path → page, for the versions of each law in order, by document id."""
    newest = [texts[-1].version for _, texts in sorted(laws.items()) if texts]
    listed = template(LIST, PARTS, STYLE).render(
        laws=newest, file=lambda law: f"{law.document}/{file_of(law)}", time=legal_time
    )
    made = {"index.html": listed.encode()}
    for document, texts in laws.items():
        versions = [text.version for text in texts]
        for text in texts:
            page = template(PAGE, PARTS, STYLE).render(
                law=text.version, versions=versions, units=text.units, below=text.below, signers=text.signers,
                file=file_of, time=legal_time, moment=readable,
            )  # fmt: skip
            made[f"{document}/{file_of(text.version)}"] = page.encode()
    return made


def file_of(version: LawVersion) -> str:
    return f"version-{version.version}.html"
