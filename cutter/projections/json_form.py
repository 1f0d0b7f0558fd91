"""Pure: the JSON form of the records that people look at."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any


def json_form(value: Any) -> Any:
    """A record as a dictionary of its fields, with the records in its lists and dictionaries.

    Values without a record in them stay as they are, because recorded JSON can be nested deeper than Python's functions
    may call each other.
    """
    if is_dataclass(value):
        return {field.name: json_form(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)) and _has_record(value):
        return [json_form(item) for item in value]
    if isinstance(value, dict) and any(map(_has_record, value.values())):
        return {name: json_form(item) for name, item in value.items()}
    return value


def _has_record(value: Any) -> bool:
    return is_dataclass(value) or (isinstance(value, (list, tuple)) and any(map(is_dataclass, value)))
