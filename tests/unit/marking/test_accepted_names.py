"""A finding that `cutter mark` named is accepted under the same name when the document is registered."""

from __future__ import annotations

import pytest

from cutter.sources import for_prefix


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("number_missing:LAW/ARTICLE-9", "number_missing:ICX-LAW-1/ARTICLE-9"),
        ("numbering_break:LAW", "numbering_break:ICX-LAW-1"),
        ("number_missing:ICX-LAW-1/ARTICLE-9", "number_missing:ICX-LAW-1/ARTICLE-9"),
        ("numbering_break:LINE-50", "numbering_break:LINE-50"),
        ("giant_unit:LAWFUL/ARTICLE-1", "giant_unit:LAWFUL/ARTICLE-1"),
    ],
)
def test_the_prefix_of_a_preview_stands_for_the_prefix_of_the_document(typed: str, means: str) -> None:
    options = {"empty": "heading_only", "accept": {typed: "seen"}}
    assert for_prefix(options, "ICX-LAW-1") == {"empty": "heading_only", "accept": {means: "seen"}}


def test_options_without_acceptances_stay_as_they_are() -> None:
    assert for_prefix({"empty": "heading_only"}, "ICX-LAW-1") == {"empty": "heading_only"}
