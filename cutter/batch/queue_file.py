"""Pure: the closed model of queue.yaml: every field, its form, and a description of the form in words (seed 001 §2).

The YAML reader returns every value as text. Only this model decides what a text stands for.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from cutter import limits
from cutter.approvals.schema import NAME_FORM
from cutter.domain.ids import DOCUMENT_ID

ENACTED_ONLY: Final = "enacted_only"
SCOPES = ("all", ENACTED_ONLY)

_INSTANT = re.compile(
    r"20[0-9]{2}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def _text(form: str, *, or_null: bool = False) -> BeforeValidator:
    """A text that fully matches the pattern."""
    pattern = re.compile(form)

    def check(value: Any) -> str | None:
        if value is None and or_null:
            return None
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError("of another form")
        return value

    return BeforeValidator(check)


def _chosen(values: dict[str, Any]) -> BeforeValidator:
    """One of several texts, each of which stands for a value."""

    def check(value: Any) -> Any:
        if not isinstance(value, str) or value not in values:
            raise ValueError("another value")
        return values[value]

    return BeforeValidator(check)


def _priority(value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"0|[1-9][0-9]{0,3}", value):
        raise ValueError("no such number")
    return int(value)


def _instant(value: Any) -> datetime:
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise ValueError("no time")
    return datetime.fromisoformat(value.upper()).astimezone(UTC)


def _at_least_one(items: tuple[ItemFile, ...]) -> tuple[ItemFile, ...]:
    if not items:
        raise ValueError("empty")
    return items


_UUID7 = _text(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ID = _text(DOCUMENT_ID.pattern)
_NAME = _text(NAME_FORM)
_PROFILE = _text(r"[a-z][a-z0-9_-]{0,47}")
# The length of an address that browsers and servers accept.
_URI = _text(r"(?=.{3,2048}$)[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", or_null=True)

_SCOPE = _chosen({scope: scope for scope in SCOPES})
_SCOPE_WORDS = " or ".join(SCOPES)
_NAME_WORDS = "1 to 64 of A-Z a-z 0-9 . _ @ -"
_ACTOR_WORDS = f"an approver of the policy: {_NAME_WORDS}"
_ID_WORDS = "3 to 64 of A-Z, 0-9 and '-', such as ICX-LAW-2026-001"


class Closed(BaseModel):
    """A closed model: it accepts only known fields, and only values that fit the field's description."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class ItemFile(Closed):
    document_id: Annotated[str, _ID] = Field(description=_ID_WORDS)
    source_uri: Annotated[str | None, _URI] = Field(
        None, description="null for the registered source, or its address: a URI in ASCII without a password"
    )
    priority: Annotated[int, BeforeValidator(_priority)] = Field(
        limits.PRIORITY_DEFAULT, description=f"a number from 0 to {limits.PRIORITY_MAX}, lower first"
    )
    depends_on: tuple[Annotated[str, _ID], ...] = Field((), description="a list of document ids of this queue")
    critical: Annotated[bool, _chosen({"true": True, "false": False})] = Field(False, description="true or false")
    tenant: Annotated[str | None, _NAME] = Field(None, description=_NAME_WORDS)
    marking_profile: Annotated[str | None, _PROFILE] = Field(
        None, description="a profile's name such as generic-markdown"
    )
    scope: Annotated[str | None, _SCOPE] = Field(None, description=_SCOPE_WORDS)
    actor: Annotated[str | None, _NAME] = Field(None, description=_ACTOR_WORDS)


class QueueFile(Closed):
    schema_version: Annotated[Literal[1], _chosen({"1": 1})] = Field(description="1")
    batch_id: Annotated[str, _UUID7] = Field(
        description="a UUID of version 7 in lower case, such as 0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
    )
    created_by: Annotated[str, _NAME] = Field(description=_NAME_WORDS)
    created_utc: Annotated[datetime, BeforeValidator(_instant)] = Field(
        description="a time of RFC 3339 such as 2026-11-21T22:00:00Z"
    )
    default_scope: Annotated[str, _SCOPE] = Field(ENACTED_ONLY, description=_SCOPE_WORDS)
    default_actor: Annotated[str | None, _NAME] = Field(None, description=_ACTOR_WORDS)
    items: Annotated[tuple[ItemFile, ...], AfterValidator(_at_least_one)] = Field(
        description="a list of documents, at least one"
    )
