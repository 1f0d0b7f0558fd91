"""IO: compares the law in an evidence bundle with the database, for `cutter law verify`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cutter.catalogue import Role
from cutter.errors import InvalidInput
from cutter.evidence import enacted_members, offline
from cutter.evidence.enacted_members import ROWS, TEXT
from cutter.settings import load
from cutter.storage.pools import session
from starter.commands import evidence
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, end, fields, show

Members = dict[str, bytes]


def verify(file: Path, data: bytes, *, as_json: bool) -> None:
    """Check the bundle by itself, and then its law with the database. Exit 1 if anything failed or differs."""
    given = enacted_members.members_of(data)
    if set(given) != {TEXT, ROWS}:
        raise InvalidInput(
            f"{file}: this bundle has no law; make one with", then="cutter evidence export RUN --with-law"
        )
    lines = evidence.checks_of([data])[0]
    run = offline.Bundle(data).run
    document, run_id = str(run["document_id"]), str(run["run_id"])
    with session(load(), Role.OPERATOR) as connection:
        stored = enacted_members.law_members(connection, document, run_id)
    problems = [f"{what}: {why}" for what, verdict, why in lines if verdict == offline.FAILED]
    problems += differences(given, stored)
    answer: dict[str, Any] = {
        "holds": not problems, "form": "bundle", "document": document, "run_id": run_id,
        "signers": offline.Bundle(data).signers(), "differences": problems,
        "next": f"cutter law history {document}",
    }  # fmt: skip
    shown = {**answer, "holds": "NO" if problems else "yes", "differences": "\n".join(problems)}
    if problems:
        message = f"{file} differs from the database: {problems[0]}; `cutter law history {document}` shows the versions"
        answer = as_failure(answer, code="law_export_differs", message=message)
    show(answer, as_json=as_json, render=lambda console: console.print(fields(shown), soft_wrap=True))
    end(ExitCode.FAILED if problems else ExitCode.DONE)


def differences(given: Members, stored: Members) -> Iterator[str]:
    """One sentence for each unit of either side that differs, and one for the whole text."""
    if given[TEXT] != stored[TEXT]:
        yield "the text in law.md is not the one in the database"
    ours, theirs = (
        {row["address"]: row for row in map(json.loads, members[ROWS].splitlines())} for members in (stored, given)
    )
    for address in sorted(ours.keys() | theirs.keys()):
        if ours.get(address) != theirs.get(address):
            yield f"{address} is not as in the database"
