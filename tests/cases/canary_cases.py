"""Pure: the inputs of P22: laws, approvals and mistakes, each with words in it that stand nowhere else (canaries).

A name in braces is a canary: in the law that passes, one in every place of a text; in the others, in what is refused.
"""

from __future__ import annotations

import re

from cutter.domain.digests import sha256_hex

LAW = "CANARY-LAW"
_LONG = " and so on" * 40

TEXT = (
    "---\ntitle: {front matter}\nnote: [{front matter list}]\n---\n<!-- {comment} -->\n"
    "# Act {act heading}\n\n{preamble}\n\n"
    "## Chapter 1 {chapter heading}\n\n{chapter text}\n\n### Article 1. {article heading}\n\n{article body}\n\n"
    "- {list item}\n  1. {nested item}\n\n> {quotation}\n\n"
    "| a | {table head} |\n| --- | --- |\n| b | {table cell} |\n\n"
    "```\n{fenced code}\n```\n\n    {indented code}\n\n"
    "### Article 2. [{linked heading}](https://example.org/{link of heading})\n\n"
    "See [{link text}](https://example.org/{link target}), ![{image text}](x.png), **{bold}**, *{italic}*, "
    "`{code}`.[^1]\n\n[^1]: {footnote}\n\n<div title='{html attribute}'>{html text}</div>\n\n"
    "### Article 3. {long heading}" + _LONG + " {end of long heading}\n\nHidden\u200b {beside zero width}\n\n##\n\n"
    "{under bare heading}\n\n### Article 4. {empty heading}\n\n### Article 5. {first of two}\n\n{text of first}\n\n"
    "### Article 5. {second of two}\n\n{text of second}\n\n"
    "{carriage return}\r\n{form feed}\f{line separator}\u2028 end\n\n"
    "{last line}"
)
TEXT_OPTIONS = (
    "--duplicates", "ordinal", "--empty", "heading_only",
    "--accept", f"number_repeated:{LAW}/CHAPTER-1/ARTICLE-5~2", "--because", "printed twice",
)  # fmt: skip

REFUSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "REPEATED": ("# Act\n\n## Article 1. {repeated heading}\n\nA.\n\n## Article 1. {repeated again}\n\nB.\n", ()),
    "EMPTY": ("# Act\n\nText.\n\n## Article 1. {heading alone}\n\n## Article 2. B\n\nText.\n", ()),
    "BIDI": ("# Act\n\nText.\n\n## Article 1. {bidi heading}\u202e\n\nText.\n", ()),
    "PLAIN": ("{text without heading}\n", ()),
    "MANY": ("# Act {one too many}\n\nText.\n\n## Article 1. B\n\nText.\n", ("--max-candidates", "1")),
    "FORBIDDEN": ("# Act\n\nText.\n\n## Article 7. {forbidden heading}\n\nText.\n", ("--forbid", "ARTICLE-7")),
    "DECOMPOSED": ("# Act\n\nCafe\u0301 {decomposed text}\n", ()),
    "NUL": ("# Act\n\nText\x00 {beside a nul}\n", ()),
    "SENTINEL": ("<!-- cutter:begin -->\n# Điều 1 {half a region}\n", ("--profile", "incomex-constitution")),
}
"""Laws that are refused, by the command or by a gate: text and options."""

ACCEPTED = ("text of an approval", "comment in the armor of an approval")
BAD_APPROVALS = (
    "unknown field", "broken front matter", "text behind the signature", "clear signature", "oversized statement",
    "statement in latin", "what is no signature",
)  # fmt: skip
SECRETS = ("password in an address", "password in a queue")


def word(name: str) -> str:
    """The canary of that name."""
    return f"zq{sha256_hex(name)[:10]}"


def names_in(text: str) -> tuple[str, ...]:
    """The names in a text's braces."""
    return tuple(re.findall(r"\{([^}]+)\}", text))


def filled(text: str) -> bytes:
    """The text with its canaries."""
    return re.sub(r"\{([^}]+)\}", lambda name: word(name[1]), text).encode()


LAWS = frozenset((*names_in(TEXT), *(name for text, _ in REFUSED.values() for name in names_in(text))))
APPROVALS = frozenset((*ACCEPTED, *BAD_APPROVALS))
CANARIES = {word(name).encode(): name for name in (*LAWS, *APPROVALS, *SECRETS)}
"""Word → name; the passwords of the stack come to them."""
