"""IO: hooks of the site that `make docs` builds: more pages, links to the repository, diagrams, no foreign requests."""

from __future__ import annotations

import html
import logging
import os
import re
from pathlib import Path
from typing import Any

import mmdr
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LOG = logging.getLogger("mkdocs.hooks.site")
ROOT = Path(__file__).resolve().parents[1]

PAGES = {
    "ARCHITECTURE.md": "internals/architecture.md",
    "CONTRIBUTING.md": "internals/contributing.md",
    "STYLE.md": "internals/style.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "tests/README.md": "internals/tests.md",
    "benchmarks/README.md": "internals/benchmarks.md",
}
"""Pages of the site that have their place elsewhere in the repository."""

SITE_OF = {**PAGES, "README.md": "index.md"}
SOURCE_OF = {uri: path for path, uri in PAGES.items()}

LINK = re.compile(r"(!?)\[(`[^`\n]*`|(?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
FOREIGN = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs."""
    for path, uri in PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Point every link at the site. A link to a source file becomes its text; a link to nothing fails the build."""
    uri = page.file.src_uri
    source = SOURCE_OF.get(uri, f"docs/{uri}")
    parts = FENCE.split(markdown)
    return "".join(part if part.startswith("```") else _linked(part, source, uri) for part in parts)


def _linked(text: str, source: str, uri: str) -> str:
    def link(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or "://" in target or target.startswith("mailto:"):
            return match[0]
        full = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if not (ROOT / full).exists():
            LOG.warning("%s links to %s, which does not exist", source, target)
        shown = full.startswith("docs/") and not full.endswith((".py", ".yaml")) and (ROOT / full).is_file()
        to = SITE_OF.get(full) or (full.removeprefix("docs/") if shown else None)
        if to is None:
            return words
        there = os.path.relpath(to, os.path.dirname(uri) or ".")
        return f"{mark}[{words}]({there}{'#' + anchor if anchor else ''})"

    return LINK.sub(link, text)


def diagram(source: str, _language: str, _css_class: str, _options: Any, _md: Any, **_: Any) -> str:
    """A mermaid fence as an SVG in the page, so that no script has to draw it."""
    svg = mmdr.render(source).svg()
    return f'<div class="diagram" role="img" aria-label="State diagram: {html.escape(_summary(source))}">{svg}</div>'


def _summary(source: str) -> str:
    return "; ".join(line.strip() for line in source.splitlines() if "-->" in line)


def on_post_build(config: MkDocsConfig) -> None:
    """Fail if a page would load anything from another host."""
    for file in sorted(Path(config.site_dir).rglob("*.html")):
        if match := FOREIGN.search(file.read_text(encoding="utf-8")):
            raise PluginError(f"{file} loads from elsewhere: {match[0]}")
