"""Cuts small texts for the tests of marking."""

from __future__ import annotations

from typing import Any

from cutter.marking import Marking, MarkRefusal, Options, Profile, examine, load_profile, mark


def result(text: str | bytes, profile: str | Profile = "generic-markdown", **options: Any) -> Marking | MarkRefusal:
    """Whatever marking answers for a text under the prefix LAW."""
    data = text.encode() if isinstance(text, str) else text
    chosen = load_profile(profile) if isinstance(profile, str) else profile
    return mark(data, profile=chosen, docprefix="LAW", options=Options(**options))


def reds(text: str | bytes, profile: str | Profile = "generic-markdown", **options: Any) -> list[str]:
    """Names of the red findings for which marking refuses the text; none when it marks it."""
    answer = result(text, profile, **options)
    return [finding.name for finding in answer.findings] if isinstance(answer, MarkRefusal) else []


def cut(text: str | bytes, profile: str | Profile = "generic-markdown", **options: Any) -> Marking:
    """A cut, proven against its bytes; red findings, which small texts often have, are in it and do not refuse."""
    data = text.encode() if isinstance(text, str) else text
    chosen = load_profile(profile) if isinstance(profile, str) else profile
    marking = examine(data, profile=chosen, docprefix="LAW", options=Options(**options))
    assert isinstance(marking, Marking), marking
    marking.prove(data)
    return marking


def refused(text: str | bytes, profile: str | Profile = "generic-markdown", **options: Any) -> MarkRefusal:
    """A refusal, whose sentence names its line."""
    refusal = result(text, profile, **options)
    assert isinstance(refusal, MarkRefusal), refusal
    if refusal.line is not None:
        assert refusal.message.startswith(f"line {refusal.line}: ")
    return refusal


def addresses(marking: Marking) -> list[str]:
    """Addresses without the prefix, in document order."""
    return [unit.address.removeprefix("LAW/") for unit in marking.candidates]


def titles(marking: Marking) -> list[str]:
    """Titles in document order."""
    return [unit.title for unit in marking.candidates]


def codes(marking: Marking) -> list[tuple[str, int]]:
    """Findings as (code, line)."""
    return [(finding.code, finding.line) for finding in marking.findings]


def body(text: str, marking: Marking, position: int) -> str:
    """The exact slice of one unit."""
    unit = marking.candidates[position]
    return text.encode()[unit.start : unit.end].decode()
