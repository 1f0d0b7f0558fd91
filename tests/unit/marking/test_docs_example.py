"""The worked example of docs/reference/marking.md is true, and the page names what is shipped."""

from __future__ import annotations

import re
from pathlib import Path

from cutter.marking import PROFILES, Marking, Options, mark, parse_profile, profile_bytes
from cutter.marking.checks import ODD_KINDS
from cutter.marking.numbers import STYLES
from cutter.marking.profile import LEVEL_KEYS, PROFILE_KEYS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "marking.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert match is not None
    return match.group(1)


def test_the_worked_example_is_cut_as_the_page_says() -> None:
    marking = mark(
        block("text").encode(),
        profile=parse_profile(block("yaml").encode()),
        docprefix="HOUSE",
        options=Options(),
    )
    assert isinstance(marking, Marking)
    table = re.findall(r"^\| (HOUSE/\S+) \| (\w+) \| (.+) \| (\d+) \|$", PAGE, re.MULTILINE)
    assert [(u.address, u.section_type, u.title, str(u.line)) for u in marking.candidates] == table
    assert [piece.reason for piece in marking.exclusions] == ["before_first_unit", "closing_block"]
    assert marking.findings == ()


def test_the_page_names_every_profile_field_and_style() -> None:
    words = set(re.findall(r"`([^`\s]+)`", PAGE)) | set(re.findall(r"`(\w+): \w+`", PAGE))
    assert {*PROFILES, *STYLES, *PROFILE_KEYS, *LEVEL_KEYS} <= words


def test_a_shipped_profile_is_pinned_by_the_bytes_that_are_stored() -> None:
    for name in PROFILES:
        assert parse_profile(profile_bytes(name)).id == name


def test_the_page_names_every_refusal_finding_and_reason() -> None:
    folder = Path(__file__).resolve().parents[3] / "cutter" / "marking"
    source = "\n".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    codes = (
        set(re.findall(r"refusal\(\s*\"(\w+)\"", source)) | set(re.findall(r"code=\"(\w+)\"", source)) | set(ODD_KINDS)
    )
    assert len(codes) > 20
    assert codes <= set(re.findall(r"`(\w+)`", PAGE))
