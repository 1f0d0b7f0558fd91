"""IO: writes cutter/storage/sql/schema.sql again from the migrations: `python -m tests.support.schema`."""

from __future__ import annotations

from cutter.stack.postgres import pg_bin
from cutter.storage.schema import dump_schema, schema_path
from tests.support.database import OWNER, TEMPLATE, own_cluster


def main() -> int:
    """Apply the migrations to an empty database, dump it, write the file."""
    with own_cluster() as server:
        text = dump_schema(server.url(OWNER, TEMPLATE), pg_dump=pg_bin("pg_dump"))
    schema_path().write_text(text, encoding="utf-8")
    print(f"{schema_path()}: {len(text.splitlines())} lines")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
