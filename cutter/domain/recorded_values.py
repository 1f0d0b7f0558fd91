"""Pure: brings rows that the database answers with into the form that their readers take.

PostgreSQL refuses a malformed row when it is written (sql/functions/forms). Older rows, and rows that were written past
these checks, are shown as malformed. A well-formed value stays unchanged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Final, TypeVar

from cutter import limits
from cutter.types import Json

MALFORMED: Final = "malformed"

T = TypeVar("T")

_ERROR_TEXTS: Final = ("gate", "outcome", "reason", "at")
_TEXT_PIN: Final = re.compile(r"_(sha256|digest|artifact|id)$")
_COUNTS: Final = frozenset({"candidate_count", "units_created", "units_enacted"})
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def record(kind: type[T], row: Json) -> T:
    """The fields of a row that a frozen record names, unchanged. Raises KeyError for a field that the row lacks."""
    return kind(**{field.name: row[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def sparse(kind: type[T], row: Json) -> T:
    """The fields of a row that a frozen record names. A field that the row lacks keeps its default."""
    return kind(**{field.name: row[field.name] for field in fields(kind) if field.name in row})  # type: ignore[arg-type]


def shown(value: object) -> str:
    """A malformed value as text, in at most a hundred characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"{MALFORMED}: {text[: limits.NAME_CHARACTERS_MAX]}"


def loads(data: str | bytes) -> Any:
    """Any JSON that PostgreSQL can hold. Numbers that Python cannot hold, and parts that are too deep, become texts."""
    text = data if isinstance(data, str) else data.decode("utf-8")
    try:
        return json.loads(text, parse_int=_whole, parse_float=_real)
    except RecursionError:
        return json.loads(_flat(text), parse_int=_whole, parse_float=_real)


def parsed(text: object) -> Json:
    """The object that a text holds. Empty for any other text."""
    try:
        value = loads(text) if isinstance(text, str) else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def report(value: Any) -> Json | None:
    """The report of a gate or of a stop. None if there is none."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return {"invariants": [_no_invariant(value)], "pins": {}, "notes": [], MALFORMED: shown(value)}
    checks: dict[str, Callable[[Any], Any]] = {
        "invariants": _invariants, "violations": _named, "pins": _pins, "notes": texts, "diff": texts,
        "policy": policy, "dimension": _text, "fingerprint": _text, "tier": _text,
    }  # fmt: skip
    return {key: checks[key](part) if key in checks else part for key, part in value.items()}


def policy(value: Any) -> Json | None:
    """The answer of a policy about all side effects of a gate: `sha256` and `decisions`, each an object."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return {"sha256": "", "decisions": [{MALFORMED: shown(value)}]}
    sha256, decisions = value.get("sha256", ""), value.get("decisions", [])
    if not isinstance(decisions, list):
        decisions = [{MALFORMED: shown(decisions)}]
    return {
        **value,
        "sha256": sha256 if isinstance(sha256, str) else shown(sha256),
        "decisions": [
            decision if isinstance(decision, dict) else {MALFORMED: shown(decision)} for decision in decisions
        ],
    }


def mapping(value: Any) -> Json:
    """An object. A value that is no object is named under `malformed`, and an absent one is empty."""
    if value is None:
        return {}
    return value if isinstance(value, dict) else {MALFORMED: shown(value)}


def count(value: Any) -> int:
    """A number of bytes or rows. 0 for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def texts(value: Any) -> list[str]:
    """A list of texts. A value that is no text is shown as text."""
    if not isinstance(value, list):
        return [shown(value)]
    return [item if isinstance(item, str) else shown(item) for item in value]


def queues(value: Any) -> list[Json]:
    """The queues of a worker. Each is an object with `queue`, `slots` and `used`."""
    items = value if isinstance(value, list) else [value]
    return [
        {**item, "slots": count(item.get("slots")), "used": count(item.get("used"))}
        if isinstance(item, dict) and isinstance(item.get("queue"), str)
        else {"queue": shown(item), "slots": 0, "used": 0}
        for item in items
    ]


def run(row: Json) -> Json:
    """The row of a run: `last_error` is an object or None, and `caps` maps names to numbers."""
    error = row.get("last_error")
    if error is not None:
        error = error if isinstance(error, dict) else {"reason": shown(error)}
        wrong = [name for name in _ERROR_TEXTS if not isinstance(error.get(name), str | None)]
        error = {**error, **{name: shown(error[name]) for name in wrong}}
        if "report" in error:
            error = {**error, "report": report(error["report"])}
    return {**row, "last_error": error, **({"caps": _caps(row["caps"])} if "caps" in row else {})}


def receipt(row: Json) -> Json:
    """A sealed receipt in the form that its readers take. Its result has invariants, pins and notes."""
    result = {"invariants": [], "pins": {}, "notes": [], **(report(row["result"]) or {})}
    return {**row, "result": result, **({"policy": policy(row["policy"])} if "policy" in row else {})}


def _invariants(value: Any) -> list[Json]:
    items = value if isinstance(value, list) else [value]
    return [
        {**item, "observed": _text(item.get("observed", "")) or "", "expected": _text(item.get("expected", "")) or ""}
        if isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("ok"), bool)
        else _no_invariant(item)
        for item in items
        if item is not None
    ]


def _named(value: Any) -> list[Json]:
    items = value if isinstance(value, list) else [value]
    return [
        item if isinstance(item, dict) and isinstance(item.get("name"), str) else _no_invariant(item) for item in items
    ]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str | None) else shown(value)


def _no_invariant(value: object) -> Json:
    return {"name": MALFORMED, "ok": False, "observed": shown(value), "expected": "an invariant"}


def _pins(value: Any) -> Json:
    pins = mapping(value)
    return {
        name: shown(pin) if _TEXT_PIN.search(name) and not isinstance(pin, str | None) else pin
        for name, pin in pins.items()
        if name not in _COUNTS or pin is None or (isinstance(pin, int) and not isinstance(pin, bool))
    }


def _caps(value: Any) -> Json:
    caps: Json = {}
    for name, cap in mapping(value).items():
        if name == "soft_seconds":
            if isinstance(cap, dict):
                caps[name] = {gate: seconds for gate, seconds in cap.items() if _is_number(seconds)}
        elif name == "retry_delays_seconds":
            if isinstance(cap, Sequence) and not isinstance(cap, str) and all(map(_is_number, cap)):
                caps[name] = cap
        elif cap is None or _is_number(cap):
            caps[name] = cap
    return caps


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(text: str) -> int | str:
    # Digits of a whole number in a JSON value: Python reads at most 4,300, PostgreSQL holds 131,072.
    return int(text) if len(text) <= 4_000 else shown(text)


def _real(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else shown(text)


def _flat(text: str) -> str:
    """The same JSON, with a word for every value that is too deep for Python's parser."""
    parts, depth, kept = [], 0, 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "[{":
            depth += 1
            if depth == limits.JSON_DEPTH_MAX:
                parts.append(text[kept : token.start()] + f'"{MALFORMED}: too deep"')
        elif mark in "]}":
            if depth == limits.JSON_DEPTH_MAX:
                kept = token.end()
            depth -= 1
    return "".join(parts) + text[kept:]
