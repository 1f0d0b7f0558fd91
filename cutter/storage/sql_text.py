"""Pure: splits SQL text into statements with their lines, and finds the functions that a text names.

This module understands quotes, dollar quotes and comments. The body of a function must be quoted or a single `return`
expression, because a semicolon inside `begin atomic … end` would end the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
    --[^\n]*
  | /\*.*?\*/
  | [eE]'(?:[^'\\]|\\.|'')*'
  | '(?:[^']|'')*'
  | "(?:[^"]|"")*"
  | \$(?P<tag>[A-Za-z_]\w*|)\$.*?\$(?P=tag)\$
  | ;
  | [A-Za-z_][\w$]*
  | .
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = ("--", "/*")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement without its semicolon, and the line of its first word."""

    line: int
    text: str


def statements(sql: str) -> Iterator[Statement]:
    """The statements of a file in order, without the comments before them.

    Raises ValueError if the last one is open.
    """
    start: int | None = None
    for token in TOKEN.finditer(sql):
        text = token[0]
        if text == ";":
            if start is not None:
                yield Statement(line_of(sql, start), sql[start : token.start()])
            start = None
        elif start is None and not text.isspace() and not text.startswith(_COMMENT):
            start = token.start()
    if start is not None:
        raise ValueError(f"line {line_of(sql, start)}: the statement has no semicolon")


def line_of(sql: str, offset: int) -> int:
    """The number of the line that holds this character, from 1."""
    return sql.count("\n", 0, offset) + 1


def functions_named(sql: str) -> frozenset[str]:
    """Every `schema.fn_name` outside comments, including those inside a quoted body."""
    plain = re.sub(r"--[^\n]*", "", sql)
    return frozenset(re.findall(r"\b(?:public|cutter_governance)\.fn_\w+", plain))
