"""IO: P35: every node, attribute, member, name, order and line of a law's exports changed, one at a time.

    python -m tests.campaigns.p35_forged_exports --articles 12 --seed 1 --out p35.jsonl

The exports are of two versions of an enacted law, in every form, from a real database. No changed file may hold. The
control arm is the comparison of an earlier version: it compared only the texts of the units that a reader finds.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from cutter.catalogue import Role
from cutter.law import export_check
from cutter.law.export_record import LawExport
from cutter.storage import enacted_law
from cutter.storage.law_texts import export_of_version
from cutter.storage.pools import session
from cutter.types import Json
from tests.cases.export_mutations import mutations
from tests.cases.export_readers import READERS
from tests.cases.trials import Summary, command_line, write_lines
from tests.support.database import TestCluster, own_cluster
from tests.support.runs import Deployment, deployment, drive, keyring, law


def exports(made: Deployment, articles: int, seed: int) -> list[LawExport]:
    """Both versions of a law, as the database has them."""
    document = drive(made, law(articles, word=f"text {seed}")).document_id
    made.register(law(articles, word=f"changed text {seed}"), document_id=document)
    drive(made, document_id=document)
    with session(made.settings, Role.OPERATOR) as connection:
        known = enacted_law.versions(connection, document)
        return [export_of_version(connection, known, version) for version in known]


def trials(export: LawExport) -> Iterator[Json]:
    """Each forgery of each form."""
    for form in export_check.FORMS:
        data = export_check.writer(form)(export)
        for what, forged in mutations(form, data):
            if forged != data:
                holds = not export_check.check(forged, form, export).difference
                yield {"version": export.record.version, "form": form, "what": what, "holds": holds,
                       "fooled": same_units(form, data, forged)}  # fmt: skip


def same_units(form: str, data: bytes, forged: bytes) -> bool:
    """What the earlier comparison answered."""
    try:
        return [*READERS[form](data).units.items()] == [*READERS[form](forged).units.items()] and form != "markdown"
    except (ValueError, LookupError, TypeError, AttributeError, SyntaxError, RecursionError, csv.Error):
        return False


def run(*, articles: int, seed: int, out: Path | None = None, server: TestCluster | None = None) -> Summary:
    """All forgeries of both versions."""
    with ExitStack() as stack:
        keys = stack.enter_context(keyring())
        database = stack.enter_context((server or stack.enter_context(own_cluster())).database())
        made = stack.enter_context(deployment(database, keys))
        rows = [row for export in exports(made, articles, seed) for row in trials(export)]
    write_lines(out, rows)
    return Summary(
        name="P35 forged exports", n=len(rows), failures=sum(row["holds"] for row in rows),
        control=sum(row["fooled"] for row in rows), control_n=len(rows), counts=Counter(row["form"] for row in rows),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(command_line(run, __doc__ or "", articles=12))
