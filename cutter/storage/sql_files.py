"""Pure: reads the files of the schema: numbered migrations, and definitions (functions, views and trigger sets).

A migration runs once and never changes after that. A definition is the present form of one object. After its file
changes, `cutter migrate` applies it again. The layout in sql/ is:

- `migrations/NNNN_subject.sql`
- `functions/<subject>/<fn_name>.sql`, with one `create or replace function`
- `api/<name>.sql`, with one view or function of the schema `api`
- `triggers/<table>.sql`, with all triggers of one table
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import resources
from importlib.resources.abc import Traversable

from cutter.domain.digests import canonical_digest, sha256_hex

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
    """The statements of a file in order, without the comments before them. Raises ValueError if the last one is open.

    The body of a function must be quoted or a single `return` expression, because a semicolon inside
    `begin atomic … end` would end the statement.
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


_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
_FUNCTION = re.compile(r"create or replace function ((?:public|cutter_governance)\.(fn_\w+))\s*\(")
_VIEW = re.compile(r"create or replace view (api\.(\w+))\s")
_API_FUNCTION = re.compile(r"create or replace function (api\.(\w+))\s*\(")
_API_NAME = re.compile(r"\bapi\.\w+")
_TRIGGER = re.compile(
    r"create (?:constraint )?trigger\s+\w+\s.*?\son ((?:public|cutter_governance)\.(\w+))\s", re.DOTALL
)
_ENABLE = re.compile(r"alter table ((?:public|cutter_governance)\.(\w+)) enable (?:always )?trigger \w+")
_BODY_IS_READ_AT_ONCE = re.compile(r"^language sql\b", re.MULTILINE)


class Kind(StrEnum):
    FUNCTION = "function"
    VIEW = "view"
    TRIGGERS = "triggers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered file with the digest of its bytes."""

    number: int
    name: str
    body: str

    @property
    def sha256(self) -> str:
        return sha256_hex(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One file that is applied again when it changes. `name` is the function, or the table of the trigger set."""

    kind: Kind
    name: str
    path: str
    body: str

    @property
    def sha256(self) -> str:
        return sha256_hex(self.body)

    @property
    def key(self) -> tuple[str, str]:
        return self.kind.value, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFiles:
    """All files of the schema: migrations by number, and definitions in the order of their application."""

    migrations: tuple[Migration, ...]
    definitions: tuple[Definition, ...]

    @property
    def set_sha256(self) -> str:
        """The digest that identifies the set of all definitions."""
        return canonical_digest(sorted([*definition.key, definition.sha256] for definition in self.definitions))


@cache
def shipped() -> SchemaFiles:
    return read(resources.files("cutter.storage") / "sql")


def read(folder: Traversable) -> SchemaFiles:
    """Read the files below a folder. Raises ValueError for a mistake in a name or a form."""
    functions = []
    for path, body in _files(folder / "functions", "functions"):
        made = [_FUNCTION.match(statement.text) for statement in statements(body)]
        match = made[0] if len(made) == 1 else None
        if match is None or not path.endswith(f"/{match[2]}.sql"):
            raise ValueError(f"{path}: the file must hold only one `create or replace function`, with the file's name")
        functions.append(Definition(kind=Kind.FUNCTION, name=match[1], path=path, body=body))
    api = [_api(path, body) for path, body in _files(folder / "api", "api")] if (folder / "api").is_dir() else []
    triggers = []
    for path, body in _files(folder / "triggers", "triggers"):
        matches = [_TRIGGER.match(made.text) or _ENABLE.fullmatch(made.text) for made in statements(body)]
        tables = {match and match[1] for match in matches}
        table = tables.pop() if len(tables) == 1 else None
        if table is None or not path.endswith(f"/{table.rpartition('.')[2]}.sql"):
            raise ValueError(f"{path}: the file must hold only triggers, of the table with the file's name")
        triggers.append(Definition(kind=Kind.TRIGGERS, name=table, path=path, body=body))
    migrations = []
    for file in sorted((folder / "migrations").iterdir(), key=lambda item: item.name):
        if match := _FILE.fullmatch(file.name):
            migrations.append(Migration(number=int(match[1]), name=file.name, body=file.read_text(encoding="utf-8")))
    if [migration.number for migration in migrations] != list(range(1, len(migrations) + 1)):
        raise ValueError("migrations are numbered from 1 without a gap")
    return SchemaFiles(
        migrations=tuple(migrations),
        definitions=(*in_order(functions), *api_in_order(api), *sorted(triggers, key=lambda trigger: trigger.name)),
    )


def in_order(functions: Iterable[Definition]) -> tuple[Definition, ...]:
    """The functions in an order in which each comes after those that it needs.

    PostgreSQL reads the body of a `language sql` function at once, and any other body only when it is called.
    """
    by_name: dict[str, Definition] = {}
    for function in functions:
        if function.name in by_name:
            raise ValueError(f"{function.path}: {function.name} is already defined in {by_name[function.name].path}")
        by_name[function.name] = function
    needs = {
        name: (functions_named(function.body) & by_name.keys()) - {name}
        if _BODY_IS_READ_AT_ONCE.search(function.body)
        else ()
        for name, function in by_name.items()
    }
    return _sorted(by_name, needs, "SQL functions")


def api_in_order(objects: Iterable[Definition]) -> tuple[Definition, ...]:
    """Views and functions of the schema `api` after those that they name."""
    by_name = {element.name: element for element in objects}
    needs = {
        name: (set(_API_NAME.findall(element.body)) & by_name.keys()) - {name} for name, element in by_name.items()
    }
    return _sorted(by_name, needs, "objects of the schema api")


def _sorted(by_name: Mapping[str, Definition], needs: Mapping[str, Iterable[str]], what: str) -> tuple[Definition, ...]:
    """Each after those it needs; equal ones in the order of their names."""
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as problem:
        raise ValueError(f"these {what} need each other: {' → '.join(problem.args[1])}") from None
    definitions: list[Definition] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        definitions += [by_name[name] for name in ready]
        sorter.done(*ready)
    return tuple(definitions)


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    """Path and text of each .sql file below a folder."""
    for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if item.is_dir():
            yield from _files(item, f"{path}/{item.name}")
        elif item.name.endswith(".sql"):
            yield f"{path}/{item.name}", item.read_text(encoding="utf-8")


def _api(path: str, body: str) -> Definition:
    first, *others = [statement.text for statement in statements(body)] or [""]
    view = _VIEW.match(first)
    match = view or _API_FUNCTION.match(first)
    alone = all(text.startswith("comment on ") for text in others)
    if match is None or not alone or not path.endswith(f"/{match[2]}.sql"):
        raise ValueError(
            f"{path}: the file must hold one view or function of the schema api of its own name, and its comments"
        )
    return Definition(kind=Kind.VIEW if view else Kind.FUNCTION, name=match[1], path=path, body=body)
