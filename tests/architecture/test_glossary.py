"""docs/glossary.md: each of its terms is used. A test of the migrations finds the tables and columns that it names."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in GLOSSARY.splitlines()
    if line.startswith("| **")
]
TERMS = [term for row in ROWS for term in re.findall(r"\*\*(.+?)\*\*", row[0])]
TABLES = sorted(set(re.findall(r"\| `((?:public\.)?[a-z_]+(?:\.[a-z_0-9]+)?)` \|", GLOSSARY)))


@cache
def prose() -> str:
    """All code and all other pages, in lower case."""
    files = [
        file for top in ("cutter", "workflows", "activities", "starter", "docs") for file in (ROOT / top).rglob("*")
    ]
    kinds = (".py", ".sql", ".md", ".yaml")
    texts = [file.read_text(encoding="utf-8") for file in files if file.suffix in kinds and file.name != "glossary.md"]
    return "\n".join(texts).lower().replace("_", " ")


def test_the_glossary_has_the_size_of_a_glossary() -> None:
    assert 45 <= len(ROWS) <= 70
    assert len(TERMS) == len(set(TERMS))


def test_each_term_of_the_glossary_is_used() -> None:
    assert [term for term in TERMS if not is_used(term, prose())] == []


def is_used(term: str, text: str) -> bool:
    """Whether a text has the term as words of their own, also in the plural."""
    last = "(?:y|ies)" if term.endswith("y") else re.escape(term[-1])
    return re.search(rf"\b{re.escape(term[:-1].lower())}{last.lower()}(?:e?s)?\b", text) is not None


def test_a_part_of_a_word_is_no_use_of_a_term() -> None:
    assert is_used("gate", "the gates of a run")
    assert is_used("policy", "two policies")
    assert not is_used("gate", "a delegate")
