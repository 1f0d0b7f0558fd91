"""Laws whose numbers, quotations or second documents mislead a reader of headings, cut with the suggested profile."""

from __future__ import annotations

import re

import pytest

from cutter.marking import Marking, Options, examine, parse_profile
from cutter.marking.suggestion import Suggestion, suggest
from tests.golden.expectations import GOLDEN

FOLDER = GOLDEN / "hard-laws"
NOT_YET = frozenset(
    {
        "01-contents-swallows-the-act",
        "09-margin-note-and-bare-number",
        "10-section-and-subsection-on-one-line",
        "11-section-2-10-1",
        "16-temporary-clauses",
    }
)
LAWS = [
    pytest.param(law, marks=[pytest.mark.xfail(strict=True, reason="no rule reads it yet")] if law in NOT_YET else [])
    for law in re.findall("^[0-9]{2}-[a-z0-9-]+$", (FOLDER / "trees.txt").read_text(encoding="utf-8"), re.MULTILINE)
]


def right_cut(law: str) -> tuple[list[tuple[str, str]], set[str]]:
    """The addresses and first words of a law's units, and the kinds of red findings that must refuse the cut."""
    text = (FOLDER / "trees.txt").read_text(encoding="utf-8")
    lines = text.split(f"\n{law}\n", 1)[1].split("\n\n", 1)[0].strip().split("\n")
    units = [(address, words) for line in lines for address, bar, words in [line.partition(" | ")] if bar]
    return units, {kind for line in lines for kind in re.findall(r"^red: (\w+)", line)}


@pytest.mark.parametrize("law", LAWS)
def test_the_suggested_profile_cuts_a_hard_law_right(law: str) -> None:
    data = (FOLDER / f"{law}.md").read_bytes()
    suggestion = suggest(data, docprefix="LAW", compared=())
    assert isinstance(suggestion, Suggestion), suggestion
    marking = examine(data, profile=parse_profile(suggestion.body), docprefix="LAW", options=Options())
    assert isinstance(marking, Marking), marking
    units, red = right_cut(law)
    cut = [(unit.address.removeprefix("LAW/"), " ".join(data[unit.start : unit.end].decode().split()))
           for unit in marking.candidates]  # fmt: skip
    assert [address for address, _ in cut] == [address for address, _ in units]
    for (_, body), (_, words) in zip(cut, units, strict=True):
        assert body.startswith(words)
    assert {finding.code for finding in marking.unaccepted} == red
    assert suggestion.confidence == "low" or not red


def test_a_title_after_which_the_numbers_continue_is_text() -> None:
    """The same profile reads it as the title of another document where the numbers begin again."""
    law = "Artículo 1. Uno.\n\nArtículo 2. Dos.\n\nTRANSITORIOS\n\nArtículo {}. Tres.\n\nArtículo {}. Cuatro.\n"
    suggestion = suggest(law.format(1, 2).encode(), docprefix="LAW", compared=())
    assert isinstance(suggestion, Suggestion), suggestion
    profile = parse_profile(suggestion.body)

    def units(first: int) -> tuple[list[str], set[str]]:
        cut = examine(law.format(first, first + 1).encode(), profile=profile, docprefix="LAW", options=Options())
        assert isinstance(cut, Marking), cut
        return [unit.address for unit in cut.candidates], {finding.code for finding in cut.findings}

    again, _ = units(1)
    continued, findings = units(3)
    assert len(again) == 5
    assert len(continued) == 4
    assert "region_title" in findings
