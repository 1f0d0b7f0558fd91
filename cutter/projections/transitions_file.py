"""IO: checks a file of transitions line by line. Its memory does not grow with the lines or with the entities.

It uses only the standard library, because `scripts/validate/validate_state_transitions.py` runs without an environment.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import IO

from cutter import limits
from cutter.domain.visible import json_text, visible_line
from cutter.errors import InvalidInput
from cutter.lifecycle.declarations import Lifecycle
from cutter.lifecycle.invariants import Known
from cutter.lifecycle.validation import Finding, Validation
from cutter.types import Json

_KNOWN = """
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -8192;
create table known (name text primary key, record text) without rowid;
"""


class Spilling(Known):
    """The records of entities: at most `most` in memory, the others in a temporary database.

    The temporary database disappears with the process.
    """

    # Entities that are kept in memory while a file of transitions is checked, about 20 MB. Further entities go to disk.
    def __init__(self, most: int = 20_000) -> None:
        super().__init__()
        self._most = most
        self._far: sqlite3.Connection | None = None

    def keep(self, kind: Lifecycle | str, name: str, record: Json) -> None:
        super().keep(kind, name, record)
        if len(self._near) > self._most:
            self._spill()

    def named(self, kind: Lifecycle) -> Iterator[tuple[str, Json]]:
        """(Name, record) of each record of a kind. It holds one record at a time."""
        bounds = f"{kind.name}\t", f"{kind.name}\n"  # A line feed is the next character after a tab.
        for key, record in self._spill().execute("select name, record from known where name >= ? and name < ?", bounds):
            yield key.removeprefix(bounds[0]), json.loads(record)

    def _get(self, key: str) -> Json | None:
        record = super()._get(key)
        if record is None and self._far is not None:
            for (text,) in self._far.execute("select record from known where name = ?", (key,)):
                record = json.loads(text)
        return record

    def _spill(self) -> sqlite3.Connection:
        if self._far is None:
            self._far = sqlite3.connect("")
            self._far.executescript(_KNOWN)
        rows = ((key, json.dumps(record)) for key, record in self._near.items())
        self._far.executemany("insert or replace into known values (?, ?)", rows)
        self._near.clear()
        return self._far


def lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of the stream without their ends. Of a line that is too long, only enough bytes to show that."""
    while line := stream.readline(limits.EVENT_BYTES_MAX + 2):
        if line.endswith(b"\n"):
            yield line[:-1]
            continue
        yield line
        while len(line) > limits.EVENT_BYTES_MAX + 1 and (rest := stream.readline(limits.EVENT_BYTES_MAX)):
            if rest.endswith(b"\n"):
                break


def check(stream: IO[bytes], validation: Validation) -> Iterator[Finding]:
    """The findings of a file, while it is read. `validation` has the counts."""
    for line in lines(stream):
        yield from validation.take(line)
    yield from validation.finish()


def told(name: str, say: Callable[[str], None], *, as_json: bool = False) -> bool:
    """Report the findings of a file, line by line or as one JSON document. True means that there are none.

    The name `-` is the standard input. Raises InvalidInput for a file that is unreadable or empty.
    """
    validation = Validation(known=Spilling())
    listed: list[Json] = []
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as stream:
            for finding in check(stream, validation):
                if not as_json:
                    say(visible_line(f"line {finding.line}: {finding.code}: {finding.text}"))
                # Findings about such a file that one JSON document lists. It counts the rest.
                elif len(listed) < 1_000:
                    listed.append({slot: getattr(finding, slot) for slot in Finding.__slots__})
    except OSError as problem:
        raise InvalidInput(f"{name}: {problem.strerror}: name a transitions.jsonl, or - for standard input") from None
    if not validation.number:
        raise InvalidInput(f"{name}: it is empty: name a transitions.jsonl, or - for standard input")
    counts = {"lines": validation.number, "events": validation.events, "findings": validation.findings}
    valid = not validation.findings
    if as_json:
        say(json_text({"file": name, "valid": valid, **counts, "listed": listed}, indent=2, sort_keys=False))
    else:
        parts = [f"{name}: {'valid' if valid else 'NOT valid'}", *(f"{n} {what}" for what, n in counts.items())]
        say(visible_line(", ".join(parts)))
    return valid
