"""What a law calls itself: for the heads of pages."""

from __future__ import annotations

import pytest

from cutter.limits import TITLE_CHARACTERS_MAX
from cutter.marking.titles import law_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('---\ntitle: "An Act"\nyear: 1\n---\n# Circular\n', "An Act"),
        ("---\nTitle: An Act to keep\n  the bridges\nslug: x\n---\n# An Act\n", "An Act to keep the bridges"),
        ("---\nsubtitle: x\nslug: x\n---\n# An Act\n", "An Act"),
        ("---\ntitle: \nslug: x\n---\n# An Act\n", "An Act"),
        ("## Part 1\n\n# An Act #\n\n# Annex\n", "An Act"),
        ("Preamble\n\n### Decree\n\n#### On bridges\n", "Decree"),
        ("```\n# not this\n```\n# [An *Act*](https://example.org)\n", "An Act"),
        ("<!--\n# not this\n-->\n# An Act\n", "An Act"),
        ("# \u202eAn\u200b Act\u2066\n", "An Act"),
        ("\ufeff# An Act\r\n", "An Act"),
        ("#hashtag\n", None),
        ("REGULATION of 2016\n", None),
        ("", None),
    ],
)
def test_the_title_of_a_law(text: str, title: str | None) -> None:
    assert law_title(text.encode()) == title


def test_a_title_is_cut_at_a_word() -> None:
    title = law_title(f"# {'bridge ' * 200}\n".encode())
    assert title is not None
    assert len(title) <= TITLE_CHARACTERS_MAX
    assert title.endswith("bridge")
