"""The reason of a run that stops beside a damaged segment."""

from __future__ import annotations

from activities.gates.runner import backup_damaged
from cutter import limits


def test_a_problem_with_many_tables_does_not_push_the_way_forward_out_of_the_reason() -> None:
    refused = backup_damaged("ICX-LAW-1: its live rows differ in " + "public.information_unit, " * 30)
    assert len(f"{refused.code}: {refused.reason}") == limits.REASON_CHARACTERS_MAX
    assert refused.reason.startswith("ICX-LAW-1: its live rows differ in public.information_unit, ")
    assert refused.reason.endswith("; find the cause, then type `cutter backup again DOCUMENT`")
