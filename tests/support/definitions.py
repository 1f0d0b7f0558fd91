"""IO: everything that a migrated database defines, as lines that two versions of the code can be compared by.

`python -m tests.support.definitions FILE` migrates an empty database with the code of this checkout and writes FILE;
`python -m tests.support.definitions FILE OTHER` compares two such files and names every line that differs.
"""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path
from typing import Any

import psycopg

from tests.support.database import OWNER, TEMPLATE, own_cluster

_OURS = "('public'::regnamespace, 'cutter_governance'::regnamespace)"

PARTS = {
    "functions": f"""
        select p.oid::regprocedure::text, pg_get_functiondef(p.oid)
            || concat_ws(' ', '-- owner', p.proowner::regrole, 'cost', p.procost, 'rows', p.prorows)
        from pg_proc p where p.pronamespace in {_OURS}""",
    "triggers": f"""
        select c.oid::regclass || '.' || t.tgname, pg_get_triggerdef(t.oid) || ' enabled ' || t.tgenabled::text
        from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where not t.tgisinternal and c.relnamespace in {_OURS}""",
    "constraints": f"""
        select k.conrelid::regclass || '.' || k.conname, pg_get_constraintdef(k.oid)
            || ' validated ' || k.convalidated::text
        from pg_constraint k where k.connamespace in {_OURS}""",
    "indexes": f"""
        select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) || ' valid ' || i.indisvalid::text
        from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace in {_OURS}""",
    "columns": f"""
        select c.oid::regclass || '.' || a.attname, concat_ws(' ', a.attnum, format_type(a.atttypid, a.atttypmod),
            a.attnotnull, a.attidentity, a.attgenerated, a.attcollation::regcollation, pg_get_expr(d.adbin, d.adrelid))
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
        where a.attnum > 0 and c.relkind in ('r', 'S', 'v') and c.relnamespace in {_OURS}""",
    "relations": f"""
        select c.oid::regclass::text, concat_ws(' ', c.relkind, c.relowner::regrole, c.relpersistence, c.relrowsecurity,
            c.reloptions::text)
        from pg_class c where c.relnamespace in {_OURS}""",
    "privileges of functions": f"""
        select p.oid::regprocedure::text, (select string_agg(a::text, ' ' order by a::text)
            from unnest(coalesce(p.proacl, acldefault('f', p.proowner))) a)
        from pg_proc p where p.pronamespace in {_OURS}""",
    "privileges of relations": f"""
        select c.oid::regclass::text, (select string_agg(a::text, ' ' order by a::text)
            from unnest(coalesce(c.relacl, acldefault(
                case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))) a)
        from pg_class c where c.relkind in ('r', 'S', 'v') and c.relnamespace in {_OURS}""",
    "privileges of schemas": f"""
        select n.nspname, (select string_agg(a::text, ' ' order by a::text)
            from unnest(coalesce(n.nspacl, acldefault('n', n.nspowner))) a)
        from pg_namespace n where n.oid in {_OURS}""",
    "default privileges": """
        select concat_ws(' ', a.defaclrole::regrole, a.defaclnamespace::regnamespace, a.defaclobjtype),
            a.defaclacl::text
        from pg_default_acl a""",
    "rows: gate catalogue": "select gate, to_jsonb(c)::text from cutter_governance.gate_catalogue c",
    "rows: lanes": "select name, to_jsonb(c)::text from cutter_governance.lane c",
    "rows: vocabulary": "select family || ' ' || code, '' from public.vocabulary",
    "drift baseline": """
        select key, value from cutter_governance.schema_baseline b, jsonb_each_text(b.pins)""",
}
"""Each part: a query of names and definitions."""


def definitions(connection: psycopg.Connection[Any]) -> dict[str, dict[str, str]]:
    """Every part with its names and definitions, as the owner or a superuser sees them."""
    connection.execute("set search_path = pg_catalog")
    return {part: dict(sorted(connection.execute(query.encode()).fetchall())) for part, query in PARTS.items()}


def differences(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> list[str]:
    """One entry for each name that only one side has, and a diff for each that both define otherwise."""
    entries = []
    for part in sorted(before.keys() | after.keys()):
        old, new = before.get(part, {}), after.get(part, {})
        entries += [f"{part}: {name} is gone" for name in sorted(old.keys() - new.keys())]
        entries += [f"{part}: {name} is new" for name in sorted(new.keys() - old.keys())]
        for name in sorted(old.keys() & new.keys()):
            if old[name] != new[name]:
                lines = difflib.unified_diff(old[name].splitlines(), new[name].splitlines(), lineterm="", n=0)
                entries.append("\n    ".join([f"{part}: {name} differs", *list(lines)[2:]]))
    return entries


def main(arguments: list[str]) -> int:
    """Write one file, or compare two."""
    if len(arguments) == 2:
        before, after = (json.loads(Path(name).read_text(encoding="utf-8")) for name in arguments)
        entries = differences(before, after)
        counts = ", ".join(f"{len(names)} {part}" for part, names in after.items())
        print("\n".join(entries) or f"equal: {counts}")
        return 1 if entries else 0
    with own_cluster() as server, psycopg.connect(server.url(OWNER, TEMPLATE)) as connection:
        made = definitions(connection)
    Path(arguments[0]).write_text(json.dumps(made, indent=1), encoding="utf-8")
    print(", ".join(f"{len(names)} {part}" for part, names in made.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
