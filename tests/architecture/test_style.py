"""STYLE.md, as far as a machine can check it: phrases, length of sentences, names of modules, the glossary in use."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cutter", "temporal", "workflows", "activities", "starter", "docs")
RECORDED = ("proof.md", "performance.md", "trace.md")
"""Pages that repeat results, or the names of code and tests."""

WORDS_MAX = 30
"""Words in a sentence; STYLE.md gives the same number."""

BANNED = {
    r"anew": "again",
    r"whoever|whomever": "everyone who, or the name of the actor",
    r"(?:stands?|stood)(?!-in| for\b)": "is",
    r"behind": "after",
    r"beside": "next to, with",
    r"besides": "also",
    r"shall": "must",
    r"no more(?! than\b)": "no longer, or not",
    r"for ever": "forever, or without end",
    r"for want of": "because … is missing",
    r"(?:is|are|was|were|been|be) told": "the actor and what it gets",
    r"(?:is|are|becomes?|became|was) law": "is enacted",
    r"(?:goes|go|went|gone|going) on": "continues",
    r"(?:is|are|was|were) away": "is unavailable",
    r"but for": "except",
    r"by then": "at that time",
    r"looks? after": "repairs, watches",
    r"takes? in again|taken in again": "includes again",
    r"sittings?": "signing session",
    r"as of (?:its|their)": "the time when …",
    r"(?:is|are) no law": "is not enacted",
    r"grew stale": "became stale",
    r"heed(?:s|ed)?": "react to",
    r"moves? (?:it|them) on": "continues it",
    r"speaks? of|spoken of": "names",
    r"for people to find": "people must find",
    r"for another day": "later",
}
"""Phrases of an older dialect, each with what to write instead."""

PHRASE = re.compile(r"\b(?:" + "|".join(BANNED) + r")\b", re.IGNORECASE)
PARTICIPLE = re.compile(r"(?:ing|ed)$")
NOUNS_IN_ING = frozenset({"keyring", "marking", "nesting", "numbering", "tracing"})
"""English nouns that end like a participle and name a thing or a technique here."""


@cache
def pages() -> tuple[Path, ...]:
    """Every page that people read, without the recorded ones."""
    outside = [*ROOT.glob("*.md"), ROOT / "tests" / "README.md", ROOT / "benchmarks" / "README.md"]
    inside = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name not in RECORDED]
    return (*sorted(outside), *inside)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """(Line, text) of each paragraph, list item, heading and table cell, without code, addresses and quotations."""
    text = re.sub(r"^( *)```.*?^\1```$", lambda match: "\n" * match[0].count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"`[^`]*`", "X", text)
    text = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r'"[^"]{1,200}"', "X", text)
    start, block = 0, ""
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        item = re.match(r"\s*(?:[-*] |\d+(?:\.\d+)*\.? |#+ |\|)", line)
        if not line.strip() or item:
            if block:
                yield start, block
            start, block = number, ""
        if line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            yield from ((number, cell) for cell in cells)
        elif line.strip():
            block = f"{block} {line.strip()}".strip()


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph. A colon before a list and a semicolon do not end one."""
    return [sentence for sentence in re.split(r"(?<=[.!?])[*_)]*\s+", text.strip("-*# ")) if sentence]


def vague(sentence: str) -> bool:
    """Whether a statement begins with a free relative in place of an actor."""
    return re.match(r"(Who|What|Whatever)\b", sentence) is not None and sentence.endswith(".")


def words(sentence: str) -> int:
    return len(re.findall(r"[\w’'.-]*\w[\w’'.-]*", sentence))


def advice(phrase: str) -> str:
    return next(what for pattern, what in BANNED.items() if re.match(rf"(?:{pattern})$", phrase, re.IGNORECASE))


def phrases(where: str, text: str) -> list[str]:
    """Each banned phrase in a text, with its place and what to write."""
    return [f"{where}: {match[0]!r}: write {advice(match[0])}" for match in PHRASE.finditer(text)]


def test_no_page_has_a_banned_phrase_or_a_long_sentence() -> None:
    faults = []
    for page in pages():
        for line, block in prose(page.read_text(encoding="utf-8")):
            place = f"{page.relative_to(ROOT)}:{line}"
            faults += phrases(place, block)
            faults += [
                f"{place}: {words(sentence)} words: {sentence}"
                for sentence in sentences(block)
                if words(sentence) > WORDS_MAX
            ]
            faults += [f"{place}: name the actor: {sentence}" for sentence in sentences(block) if vague(sentence)]
    assert faults == [], "\n".join(faults)


@cache
def modules() -> tuple[Path, ...]:
    return tuple(file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))


@cache
def sql_files() -> tuple[Path, ...]:
    """Every SQL file, without the migrations: an applied file never changes, and its bytes are in the ledger."""
    return tuple(file for file in sorted((ROOT / "cutter").rglob("*.sql")) if file.parent.name != "migrations")


def explained(source: str) -> Iterator[tuple[int, str]]:
    """(Line, text) of each docstring and comment of a module. The lines of a comment are one text."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                value = statement.value if isinstance(statement, ast.Expr) else None
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.lineno, value.value
    lines = {
        token.start[0]: (token.string.lstrip("# "), not token.line[: token.start[1]].strip())
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    yield from joined(lines)


def joined(lines: Mapping[int, tuple[str, bool]]) -> Iterator[tuple[int, str]]:
    """(First line, text) of each comment. Lines without code that follow each other are one comment."""
    start, text = 0, ""
    for number, (line, alone) in lines.items():
        if text and not (alone and start + text.count("\n") + 1 == number):
            yield start, text
            text = ""
        start, text = (start, f"{text}\n{line}") if text else (number, line)
        if not alone:
            yield start, text
            text = ""
    if text:
        yield start, text


def literals(source: str) -> Iterator[tuple[int, str]]:
    """(Line, text) of each text of several words in the code, such as messages and help texts. A value in it is X."""
    tree = ast.parse(source)
    outside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    outside |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = [part.value if isinstance(part, ast.Constant) else "X" for part in parts]
        if id(node) not in outside and isinstance(node, ast.JoinedStr | ast.Constant):
            text = "".join(text for text in texts if isinstance(text, str))
            if " " in text and not PATTERN.search(text):
                yield node.lineno, text


PATTERN = re.compile(r"\(\?|\[[^\]]*\][*+?{]")
"""A regular expression, which is no sentence."""


def plain(text: str) -> str:
    """A text without code in backquotes, without quotations and without lines that are laid out by hand."""
    text = re.sub(r"^ {4,}.*$", "", inspect.cleandoc(text), flags=re.M)
    return re.sub(r'`[^`]*`|"[^"\n]{1,120}"', "X", text)


def long_sentences(where: str, text: str) -> list[str]:
    """Each sentence of a text that has too many words. A paragraph or an item of a list ends a sentence."""
    blocks = re.split(r"\n\s*\n|\n\s*(?=[-*] |\d+\. )", text)
    return [
        f"{where}: {words(sentence)} words: {sentence}"
        for block in blocks
        for sentence in sentences(" ".join(block.split()))
        if words(sentence) > WORDS_MAX
    ]


def faults_of(where: str, text: str) -> list[str]:
    return phrases(where, plain(text)) + long_sentences(where, plain(text))


def test_docstrings_comments_and_messages_keep_to_the_style() -> None:
    faults = []
    for file in modules():
        source = file.read_text(encoding="utf-8")
        for line, text in [*explained(source), *literals(source)]:
            faults += faults_of(f"{file.relative_to(ROOT)}:{line}", text)
    assert faults == [], "\n".join(faults)


RAISED = re.compile(r"raise exception\s+'((?:[^']|'')*)'")


def test_comments_and_messages_in_sql_keep_to_the_style() -> None:
    faults = [fault for file in sql_files() for fault in faults_in_sql(file)]
    assert faults == [], "\n".join(faults)


def faults_in_sql(file: Path) -> list[str]:
    source = file.read_text(encoding="utf-8")
    lines = [line.partition("--") for line in source.splitlines()]
    comments = {number: (text.strip(), not code.strip()) for number, (code, dash, text) in enumerate(lines, 1) if dash}
    names = {number for number, (text, _) in comments.items() if text.startswith("name: ")}
    texts = [*joined({number: comment for number, comment in comments.items() if number not in names})]
    texts += [(source[: raised.start()].count("\n") + 1, raised[1]) for raised in RAISED.finditer(source)]
    return [fault for number, text in texts for fault in faults_of(f"{file.name}:{number}", text)]


def test_comments_in_our_yaml_keep_to_the_style() -> None:
    faults = []
    for file in sorted((ROOT / "cutter").rglob("*.yaml")):
        lines = [line.partition("# ") for line in file.read_text(encoding="utf-8").splitlines()]
        comments = {number: (text, not code.strip()) for number, (code, sign, text) in enumerate(lines, 1) if sign}
        faults += [fault for number, text in joined(comments) for fault in faults_of(f"{file.name}:{number}", text)]
    assert faults == [], "\n".join(faults)


def test_a_module_is_named_by_a_noun() -> None:
    names = {file.stem.split("_")[-1]: file for file in modules() if not file.stem.startswith("__")}
    assert [str(file) for word, file in names.items() if PARTICIPLE.search(word) and word not in NOUNS_IN_ING] == []


FORMER_NAMES = frozenset({
    "approving", "checks", "commands", "including", "known_runs", "looking_after", "registry", "sitting", "versions",
})  # fmt: skip
"""Names under which our modules were imported when they had other names."""


def test_a_module_is_imported_by_its_own_name_or_a_clear_one() -> None:
    aliases = {
        f"{file.relative_to(ROOT)}: {name.asname}"
        for file in [*modules(), *(ROOT / "tests").rglob("*.py")]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.asname in FORMER_NAMES
    }
    assert aliases == set()


def test_a_policy_says_which_one_it_is() -> None:
    """The approvers' policy, the policy of effects and a batch's policy for failures have little in common."""
    classes = {
        node.name
        for file in modules()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    assert "Policy" not in classes
    assert {"ApproverPolicy", "EffectPolicy"} <= classes


def test_no_two_test_files_have_one_name() -> None:
    """pytest imports a test file by its name alone, so that the second of two would not be collected."""
    names = Counter(file.name for file in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_checks_see_what_they_look_for() -> None:
    long = "word " * WORDS_MAX + "end."
    assert [text for _, text in prose("One two.\n\n```\nanew\n```\n\n- `anew` three\n")] == ["One two.", "- X three"]
    assert words(sentences(f"Short one. {long}")[1]) == WORDS_MAX + 1
    assert phrases("here", "It stands anew.") == ["here: 'stands': write is", "here: 'anew': write again"]
    assert vague("Who signs is told.")
    assert not vague("Who signs?")
    assert [text for _, text in explained('"""A."""\nx = 1  # B\n"""C."""\n')] == ["A.", "C.", "B"]
    assert [*joined({1: ("a", True), 2: ("b", True), 4: ("c", True), 5: ("d", False), 6: ("e", False)})] == [
        (1, "a\nb"), (4, "c"), (5, "d"), (6, "e"),
    ]  # fmt: skip
    assert [text for _, text in literals('x = f"was {a} told"\ny = "(?:a b)"\nz = "c d"\n')] == ["was X told", "c d"]
    assert long_sentences("here", plain(f"Short.\n\n    {long}\n\n- {long}")) != []
    assert long_sentences("here", plain(f"Short.\n\n    {long}\n\nEnd.")) == []
    assert PARTICIPLE.search("approving")
    assert not PARTICIPLE.search("runner")


VAGUE = frozenset({"one", "found", "seen", "said", "told"})


def vague_locals(source: str) -> list[str]:
    """The local values of a module that are called by no noun."""
    tree = ast.parse(source)
    fields = {id(part) for each in ast.walk(tree) if isinstance(each, ast.ClassDef) for node in each.body
              if isinstance(node, ast.Assign | ast.AnnAssign) for part in ast.walk(node)}  # fmt: skip
    fixtures = {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    return [
        f"line {node.lineno}: {name}"
        for node in ast.walk(tree)
        for name in ([node.arg] if isinstance(node, ast.arg) else [node.id] if isinstance(node, ast.Name) else [])
        if name in VAGUE - fixtures and id(node) not in fields and not isinstance(getattr(node, "ctx", None), ast.Load)
    ]


def test_a_local_value_is_called_by_a_noun() -> None:
    files = [*modules(), ROOT / "worker.py", *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    named = {str(file.relative_to(ROOT)): vague_locals(file.read_text(encoding="utf-8")) for file in files}
    assert {file: names for file, names in named.items() if names} == {}
    assert vague_locals("for one in runs: pass") == ["line 1: one"]
