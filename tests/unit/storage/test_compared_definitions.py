"""The comparison of two databases' definitions: what is gone, new or different is named."""

from __future__ import annotations

from tests.support.definitions import differences

BEFORE = {"functions": {"fn_a": "one\ntwo", "fn_b": "x"}, "triggers": {"t": "y"}}


def test_equal_definitions_have_no_difference() -> None:
    assert differences(BEFORE, {"triggers": {"t": "y"}, "functions": {"fn_b": "x", "fn_a": "one\ntwo"}}) == []


def test_what_is_gone_new_or_different_is_named_with_the_lines_that_differ() -> None:
    after = {"functions": {"fn_a": "one\n2", "fn_c": "x"}}
    assert differences(BEFORE, after) == [
        "functions: fn_b is gone",
        "functions: fn_c is new",
        "functions: fn_a differs\n    @@ -2 +2 @@\n    -two\n    +2",
        "triggers: t is gone",
    ]
