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
    made = {"index.html": _list([texts[-1].version for _, texts in sorted(laws.items()) if texts])}
    for document, texts in laws.items():
        versions = [text.version for text in texts]
        made |= {f"{document}/{file_of(text.version)}": _page(text, versions) for text in texts}
    return made


def file_of(version: LawVersion) -> str:
    """The name of a version's page."""
    return f"version-{version.version}.html"


def _list(newest: Sequence[LawVersion]) -> bytes:
    shown = template(LIST, PARTS, STYLE).render(
        laws=newest, file=lambda law: f"{law.document}/{file_of(law)}", time=legal_time, kind=_kind
    )
    return shown.encode()


def _kind(law: LawVersion) -> str:
    return f"{law.version}, {law.operation.replace('_', ' ')}"


def _page(text: LawText, versions: Sequence[LawVersion]) -> bytes:
    shown = template(PAGE, PARTS, STYLE).render(
        law=text.version, versions=versions, units=text.units, below=text.below, signers=text.signers, file=file_of,
        time=legal_time, moment=readable,
    )  # fmt: skip
    return shown.encode()
