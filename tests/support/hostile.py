"""Texts that outsiders write, and what of them must never reach a person: in a terminal, a document or a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from markdown_it import MarkdownIt

TERMINAL = {
    "escape": "\x1b[2J\x1b[1;1Hall is well",
    "conceal": "shown\x1b[8mconcealed",
    "clipboard": "\x1b]52;c;Y3VybCBldmlsLmV4YW1wbGV8c2g=\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "title": "\x1b]0;root@host\x07",
    "one byte CSI": "\x9b31mred",
    "one byte OSC": "\x9d52;c;eA==\x9c",
    "next line": "a\x85b",
    "bell": "\x07\x08\x08\x7f",
    "carriage return": "refused\raccepted",
    "bidi override": "a\u202egnp.exe\u202c",
    "bidi isolate": "a\u2066b\u2069\u200f\u061c",
    "tags": "a" + "".join(chr(0xE0000 + ord(character)) for character in "sign it"),
    "fillers": "a\u034f\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5b",
    "selectors": "a\ufe0f\U000e0101\u180b\u180fb",
    "zero width": "a\u200b\u200d\u2060\ufeff\u00ad\u206a\ufff9b",
    "separators": "a\u2028b\u2029c",
    "private": "a\ue000\U000f0000b",
    "unassigned": "a\u0378\U000e0fffb",
}
"""What a terminal obeys or a reader cannot see."""

SURROGATE = "a\ud800b"
"""PostgreSQL and Temporal take none; names of files and Python's own texts may hold one."""

MARKUP = {
    "image": "![](http://evil.example/pixel.png)",
    "link": "[sign here](http://evil.example)",
    "bare link": "see http://evil.example now",
    "www": "see www.evil.example now",
    "mail": "write to evil@example.org",
    "reference": "[sign]: http://evil.example",
    "autolink": "<http://evil.example>",
    "tag": "<script>alert(1)</script><b>bold</b>",
    "entity": "&lt;b&gt; &#x202e;",
    "heading": "# All is well",
    "setext": "===",
    "rule": "---",
    "item": "- [x] signed",
    "numbered": "1. first",
    "quotation": "> said",
    "emphasis": "**strong** _weak_ ~~gone~~ __strong__",
    "code": "`code` ```",
    "fence": "```\n# out of it\n```",
    "table": "a | b | c",
    "lines": "one\n\n# two\nnext: cutter approve evil",
    "backslash": "a\\",
    "indented": "     code",
    "rich": "[bold red]red[/] [link=http://evil.example]here[/link] :warning: [/nothing]",
    "template": "{{ run }} {% raw %}",
}
"""What a reader of Markdown or HTML, or the library that prints, would take for more than letters."""

STRINGS = {**TERMINAL, **{f"markup: {name}": text for name, text in MARKUP.items()}}

_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def leaks(text: str) -> list[str]:
    """The codes of what a reader could not see, beside line feeds. Written apart from the product's own rule."""
    return sorted({f"U+{ord(character):04X}" for character in text if character != "\n" and _hidden(character)})


def _hidden(text: str) -> bool:
    category = unicodedata.category(text)
    return category[0] == "C" or category in ("Zl", "Zp") or _IGNORABLE.match(text) is not None


READER = MarkdownIt("gfm-like", {"html": True, "linkify": False}).disable("linkify")
_LIVE = frozenset(("link_open", "image", "html_inline", "html_block"))


def live(document: str) -> list[str]:
    """What is active in a Markdown document: links, images and HTML, with what they hold."""
    return [
        f"{child.type} {child.content or child.attrs}"
        for token in READER.parse(document)
        for child in (token, *(token.children or ()))
        if child.type in _LIVE
    ]


def shape(document: str) -> list[str]:
    """The document without its texts: what it is built of, in order."""
    return [
        child.type
        for token in READER.parse(document)
        for child in (token, *(token.children or ()))
        if child.type not in ("text", "text_special")
    ]


def bare_addresses(lines: Iterable[str]) -> list[str]:
    """Lines outside code blocks and code spans with an address that some readers turn into a link by themselves."""
    offenders, fence = [], ""
    for line in lines:
        mark = re.match(r"`{3,}", line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[0]
        elif not fence and re.search(r"https?://|www\.\w", re.sub(r"(?<!\\)`[^`]*`", "", line)):
            offenders.append(line)
    return offenders
