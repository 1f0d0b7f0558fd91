"""Pure: the page of the schema `api`, from the comments in cutter/storage/sql/api and the grants."""

from __future__ import annotations

import re

from cutter.storage.roles import declared_grants
from cutter.storage.sql_files import Definition, shipped

INTRODUCTION = """\
The schema `api` shows enacted law to programs. The role `cutter_api` reads these views and nothing else, and `directus`
reads them too. [Read enacted law](../guides/read-law.md#for-programs) shows how to use them with PostgREST.

This is version 1. A later release may add columns at the end of a view, and parameters with defaults at the end of a
function. A change that would break a reader gets a new name, such as `law_2`, and the old view stays.

Days are in UTC. A version is in force from `effective_from` until the day before `effective_until`.

In SQL, name the parameters. `on` is a reserved word there, so its other name is `day`:

```sql
select address, body from api.unit_in_force(day => '2027-01-01', in_document => 'ICX-LAW-2026-001');
select document, address, title from api.search('public holiday', day => '2027-01-01');
```
"""

_COLUMN = re.compile(r"comment on column (api\.\w+)\.\"?(\w+)\"? is\s+'((?:[^']|'')*)'")
_PARAMETERS = re.compile(
    r"create or replace function api\.\w+\((.*?)\)\s*returns table \((.*?)\)\s*language", re.DOTALL
)


def page(made: str) -> str:
    """The whole page; `made` says how it is generated."""
    objects = sorted(
        (definition for definition in shipped().definitions if definition.name.startswith("api.")),
        key=lambda definition: definition.name,
    )
    return "\n".join(
        [
            "# Views of enacted law",
            "",
            made,
            "",
            INTRODUCTION,
            *(line for element in objects for line in _section(element)),
        ]
    )


def leading_comment(sql: str) -> str:
    """The comment at the beginning of a file, as one line of text. Empty if there is none."""
    lines = []
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines)


def _section(definition: Definition) -> list[str]:
    readers = sorted(cell.role for cell in declared_grants().cells if cell.object == definition.name)
    lines = [f"## {definition.name}", "", leading_comment(definition.body), "", f"Readers: {', '.join(readers)}.", ""]
    if match := _PARAMETERS.search(definition.body):
        return [*lines, f"Parameters: {_words(match[1])}.", "", f"Columns: {_words(match[2])}.", ""]
    columns = [
        (name, text.replace("''", "'"))
        for view, name, text in _COLUMN.findall(definition.body)
        if view == definition.name
    ]
    return [*lines, "| column | meaning |", "| --- | --- |", *(f"| `{name}` | {text} |" for name, text in columns), ""]


def _words(text: str) -> str:
    """`name type` pairs as code, without the defaults."""
    plain = re.sub(r"\s+default (?:\(.*?\)::date|\S+?)(?=,|$)", "", " ".join(text.split()))
    return ", ".join(f"`{part.strip()}`" for part in plain.replace('"', "").split(","))
