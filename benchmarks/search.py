"""IO: the cost of a search among 1,000 and among 50,000 units of enacted law, interleaved in one run.

Run: python -m benchmarks.search [--units 1000,50000] [--repeat 15]

Method: one embedded cluster with the real schema. A law of 50 units is enacted in each database, and copied. Each unit
has thirty invented words, of which few are frequent. Five units of each database have the rare word. A question that
finds five units should cost the same in both databases. As a control, `frequent word` finds more in the larger one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import LiteralString

import psycopg

from benchmarks.result_file import RESULTS, machine, write
from tests.support import grown
from tests.support.database import Database, own_cluster
from tests.support.runs import Keys, deployment, drive, keyring, law

LAW_UNITS = 50
DOCUMENT = "ICX-SEARCH-1"
RARE = "quokkaburg"

WORDS: LiteralString = """
update public.unit_version v set body = text.body, content_hash = encode(sha256(convert_to(text.body, 'UTF8')), 'hex')
from (
    select w.id, w.body || ' ' || string_agg(
        left(translate(md5(floor(5000 * power(random(), 3))::text), '0123456789', 'ghijklmnop'), 8), ' ')
        || case when row_number() over (order by w.id) <= 5 then ' ' || %s else '' end as body
    from public.unit_version w cross join generate_series(1, 30) n
    group by w.id, w.body) as text
where text.id = v.id
"""
FREQUENT: LiteralString = "select left(translate(md5('0'), '0123456789', 'ghijklmnop'), 8)"
CHECKED: LiteralString = "select count(*) from api.search(%s)"
QUESTIONS: dict[str, tuple[str, LiteralString]] = {
    "rare word": (RARE, CHECKED),
    "part of the rare word": (RARE[1:-1], CHECKED),
    "rare word, mistyped": (RARE.replace("kk", "k"), CHECKED),
    "word that no unit has": ("zebrafish", CHECKED),
    "rare word as recorded": (RARE, "select count(*) from api.search(%s, recorded => now())"),
    "frequent word in one law": ("", "select count(*) from api.search(%s, in_document => 'ICX-SEARCH-1')"),
    "frequent word": ("", CHECKED),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--units", default="1000,50000")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--output", type=Path, default=RESULTS / "search.jsonl")
    given = parser.parse_args()
    sizes = [int(number) for number in given.units.split(",")]
    with own_cluster() as cluster, keyring() as keys, ExitStack() as stack:
        databases = {units: stack.enter_context(cluster.database(prefix="search")) for units in sizes}
        entered = {units: filled(keys, database, units) for units, database in databases.items()}
        rows = list(measured(databases, given.repeat))
    write(given.output, (machine(), *({**row, "enter_ms_a_unit": entered} for row in rows)))


def filled(keys: Keys, database: Database, units: int) -> float:
    """Bring that many units into the database; the milliseconds for each that entering the index took."""
    with deployment(database, keys) as made:
        made.register(law(LAW_UNITS), document_id=DOCUMENT)
        drive(made, document_id=DOCUMENT)
    database.close()
    grown.fill(database, units // LAW_UNITS - 1)
    with database.connect("postgres") as connection, grown.without_triggers(connection):
        connection.execute("truncate public.unit_search, public.search_word")
        connection.execute(WORDS, (RARE,))
    started = time.monotonic()
    database.value("select cutter_governance.fn_search_fill()")
    taken = time.monotonic() - started
    database.run("vacuum analyze")
    print(f"{units:,} units are entered, {taken / units * 1000:.1f} ms a unit", flush=True)
    return round(taken / units * 1000, 2)


def measured(databases: dict[int, Database], repeat: int) -> Iterator[dict[str, object]]:
    """Median and maximum of each question in each database, in milliseconds, asked in turn."""
    print(f"{'question':28}" + "".join(f"{units:>22,} units" for units in databases) + f"{'ratio':>10}")
    connections = {units: psycopg.connect(database.url("cutter_api")) for units, database in databases.items()}
    for name, (words, statement) in QUESTIONS.items():
        taken: dict[int, list[float]] = {units: [] for units in databases}
        counts: dict[int, int] = {}
        for _ in range(repeat + 1):
            for units, connection in connections.items():
                asked = words or str(databases[units].value(FREQUENT))
                started = time.monotonic()
                counts[units] = (connection.execute(statement, (asked,)).fetchone() or (0,))[0]
                taken[units].append((time.monotonic() - started) * 1000)
        medians = {units: statistics.median(times[1:]) for units, times in taken.items()}
        first, *_, last = medians.values()
        shown = "".join(f"{medians[units]:>12.2f} ms, finds {counts[units]:>3}" for units in databases)
        print(f"{name:28}{shown}{last / first:>10.2f}", flush=True)
        yield {"question": name, "median_ms": medians, "max_ms": {u: max(t[1:]) for u, t in taken.items()},
               "found": counts, "ratio": last / first}  # fmt: skip
    for connection in connections.values():
        connection.close()


if __name__ == "__main__":
    main()
