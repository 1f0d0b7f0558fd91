"""Pure: reads JSON, statements, epochs and signature files, each in one notation only; makes texts safe to print."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any as Json

BROKEN = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""The errors that Python raises for values of an unexpected form."""
OK, FAILED, NOT_CHECKED = "OK", "FAILED", "NOT CHECKED"
SHOWN_CHARACTERS, SHOWN_PROBLEMS = 600, 10
HIDDEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
Line = tuple[str, str, str]  # what was checked, one of the three words, why
LIST_FILE = re.compile(
    rb"cutter-list-signature/1\nplace: ([1-9]\d*) of ([1-9]\d*)\n((?:sibling: [0-9a-f]{64}\n)*)\n(.*)", re.DOTALL
)
LIST_HEAD = "cutter-signed-list/1\nI sign each statement of this list.\nstatements: %d\nroot: %s\n"


def digest(data: bytes | str) -> str:
    """SHA-256 as 64 hex characters."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def canonical(value: Json) -> str:
    """JSON with sorted keys and without blanks, so that the same value always has the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parsed(line: bytes) -> Json:
    """The object of a line, or None if the line is not the canonical JSON of an object."""
    try:
        value = json.loads(line.decode())
        return value if isinstance(value, dict) and canonical(value).encode() == line else None
    except (ValueError, RecursionError):
        return None


def unlike(member: str, rows: Iterable[Json], right: Iterable[Json]) -> Iterator[str]:
    """One problem for each row that a member has wrongly and for each row that it lacks."""
    has, should = Counter(map(canonical, rows)), Counter(map(canonical, right))
    yield from (f"{member} is not what the rest says: {row}" for row in (has - should) + (should - has))


def strict(text: bytes | str) -> Json:
    """The value of a JSON text. Raises ValueError for a repeated name, which other readers could read differently."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Json]]) -> Json:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a JSON object has a name twice")
    return dict(pairs)


def inside(value: Json, *names: str) -> Json:
    """The value at a path of names, or None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def statement(body: bytes) -> dict[str, str]:
    """The fields of a signed statement: `name: value` lines between two lines of `---`, each name once."""
    first, *lines = body.decode().split("\n")
    pairs = [line.split(": ", 1) for line in lines[: lines.index("---")]]
    fields = dict(pairs)
    if first != "---" or len(fields) != len(pairs) or fields["schema"] != "cutter-approval/1":
        raise ValueError("a statement does not have the form cutter-approval/1")
    return fields


def epoch_file(body: bytes) -> Json:
    """Read a policy epoch: nested names, lists of such blocks, plain or quoted values, `[a, b]` and `{a: 1}`."""
    lines = [re.sub(r"(^|\s)#.*", "", line).rstrip() for line in body.decode().split("\n")]
    value, rest = _block([(len(line) - len(line.lstrip()), line.strip()) for line in lines if line.strip()])
    if rest:
        raise ValueError("a policy epoch has lines that belong to no field")
    return value


def _block(rows: list[tuple[int, str]]) -> tuple[Json, list[tuple[int, str]]]:
    """The value of the block that begins in the first row, and the rows after this block."""
    depth, mapping, listed = rows[0][0], dict[str, Json](), list[Json]()
    while rows and rows[0][0] == depth and rows[0][1].startswith("- "):
        text = rows[0][1]
        inner = len(text) - len(text[1:].lstrip())
        value, rows = _block([(depth + inner, text[inner:]), *rows[1:]])
        listed.append(value)
    while rows and rows[0][0] == depth and not listed:
        name, separator, text = rows[0][1].partition(":")
        if not separator or name in mapping or name.startswith("- "):
            raise ValueError("a policy epoch has a notation that this program does not read")
        deeper = rows[1:2] and (rows[1][0] > depth or (rows[1][0] == depth and rows[1][1].startswith("- ")))
        mapping[name], rows = _block(rows[1:]) if deeper and not text else (_value(text.strip()), rows[1:])
    return listed or mapping, rows


def _value(text: str) -> Json:
    parts = [part.strip() for part in text[1:-1].split(",") if part.strip()]
    if text[:1] == "{":
        return {name.strip(): value.strip() for name, value in (part.split(":", 1) for part in parts)}
    return [part.strip("\"'") for part in parts] if text[:1] == "[" else text.strip("\"'")


def shown(value: object) -> str:
    """A text that is safe to print: one line of limited length, with the code of each hidden character."""
    text = str(value)
    text = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
    coded = (f"⟨U+{ord(letter):04X}⟩" if unicodedata.category(letter) in HIDDEN else letter for letter in text)
    return re.sub(r"\s+", " ", "".join(coded))


def hexed(value: object) -> str:
    """A digest or a fingerprint. Any other value becomes the word `malformed`, so that nobody takes it for a digest."""
    form = "[0-9a-f]{64}|[0-9A-F]{40}|[0-9A-F]{64}"
    return value if isinstance(value, str) and re.fullmatch(form, value) else "malformed"


def signed_over(statement: bytes, file: bytes) -> tuple[bytes, bytes]:
    """These bytes, and the signature. They are the statement, or the head of a list that the statement is in.

    A head names the root of a Merkle tree, which is computed here from the statement and its siblings.
    Raises ValueError for a malformed file.
    """
    if not file.startswith(b"cutter-"):
        return statement, file
    match = LIST_FILE.fullmatch(file)
    if match is None:
        raise ValueError("a signature file does not have the form cutter-list-signature/1")
    place, count = int(match[1]), int(match[2])
    siblings = [bytes.fromhex(line.split(" ")[1]) for line in match[3].decode().splitlines()]
    root = climbed(hashlib.sha256(b"\0" + statement).digest(), place - 1, count, siblings)
    return (LIST_HEAD % (count, root.hex())).encode(), match[4]


def climbed(leaf: bytes, index: int, count: int, siblings: list[bytes]) -> bytes:
    """The root over so many leaves, of which one is at this index. `siblings` begins next to the leaf."""
    if not 0 <= index < count or (count == 1) != (not siblings):
        raise ValueError("a signature file names a place that its list does not have")
    if count == 1:
        return leaf
    half = 1 << (count - 1).bit_length() - 1
    if index < half:
        return hashlib.sha256(b"\1" + climbed(leaf, index, half, siblings[:-1]) + siblings[-1]).digest()
    return hashlib.sha256(b"\1" + siblings[-1] + climbed(leaf, index - half, count - half, siblings[:-1])).digest()
