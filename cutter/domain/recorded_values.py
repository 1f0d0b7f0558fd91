"""Pure: brings rows that the database answers with into the form that their readers take.

PostgreSQL refuses a malformed row when it is written (sql/functions/forms). A value that bypassed these checks is shown
as malformed, as a whole, so that it hides no other row. PostgreSQL itself checks neither the limits of single gates in
a run's caps nor the report of a stop, and a worker's role can write both. A well-formed value stays unchanged.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from cutter import limits
from cutter.types import Json

MALFORMED: Final = "malformed"

T = TypeVar("T")

_TEXT_PIN: Final = re.compile(r"_(sha256|digest|artifact|id)$")
_COUNTS: Final = frozenset({"candidate_count", "units_created", "units_enacted"})


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Invariant(_Form):
    name: str
    ok: bool
    observed: str
    expected: str


class _Policy(_Form):
    sha256: str
    decisions: list[Json]


def _pins(pins: Json) -> Json:
    for name, pin in pins.items():
        kind = int if name in _COUNTS else str if _TEXT_PIN.search(name) else object
        if pin is not None and (not isinstance(pin, kind) or (kind is int and isinstance(pin, bool))):
            raise ValueError(f"the pin {name} is of another type")
    return pins


class _Report(_Form):
    invariants: list[_Invariant] = []
    pins: Annotated[Json, AfterValidator(_pins)] = {}
    notes: list[str] = []
    diff: list[str] = []
    policy: _Policy | None = None
    dimension: str | None = None
    fingerprint: str | None = None
    tier: str | None = None


class _Error(_Form):
    gate: str | None = None
    outcome: str | None = None
    reason: str | None = None
    at: str | None = None


class _Caps(_Form):
    __pydantic_extra__: dict[str, float | None]
    soft_seconds: dict[str, float] = {}
    retry_delays_seconds: list[float] = []


class _Queue(_Form):
    queue: str
    slots: Annotated[int, Field(ge=0)] | None
    used: Annotated[int, Field(ge=0)] | None


_QUEUES: Final = TypeAdapter(list[_Queue])


def _fits(form: type[_Form] | TypeAdapter[Any], value: Any) -> bool:
    try:
        form.validate_python(value) if isinstance(form, TypeAdapter) else form.model_validate(value)
    except ValidationError:
        return False
    return True


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


def parsed(text: object) -> Json:
    """The object that a text holds. Empty for any other text."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def report(value: Any) -> Json | None:
    """The report of a gate or of a stop. None if there is none."""
    if value is None or _fits(_Report, value):
        return value  # type: ignore[no-any-return]
    wrong = {"name": MALFORMED, "ok": False, "observed": shown(value), "expected": "a report"}
    return {"invariants": [wrong], "pins": {}, "notes": [], MALFORMED: shown(value)}


def policy(value: Any) -> Json | None:
    """The answer of a policy about all side effects of a gate: `sha256` and `decisions`, each an object."""
    if value is None or _fits(_Policy, value):
        return value  # type: ignore[no-any-return]
    return {"sha256": "", "decisions": [{MALFORMED: shown(value)}]}


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
    return value if _fits(_QUEUES, value) else [{"queue": shown(value), "slots": 0, "used": 0}]


def run(row: Json) -> Json:
    """The row of a run: `last_error` is an object or None, and `caps` are empty if one of them is no number."""
    error = row.get("last_error")
    if error is not None:
        error = error if _fits(_Error, error) else {"reason": shown(error)}
        error = {**error, "report": report(error["report"])} if "report" in error else error
    caps = {"caps": row["caps"] if _fits(_Caps, row["caps"]) else {}} if "caps" in row else {}
    return {**row, "last_error": error, **caps}


def receipt(row: Json) -> Json:
    """A sealed receipt in the form that its readers take. Its result has invariants, pins and notes."""
    result = {"invariants": [], "pins": {}, "notes": [], **(report(row["result"]) or {})}
    return {**row, "result": result, **({"policy": policy(row["policy"])} if "policy" in row else {})}
