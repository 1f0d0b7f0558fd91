"""The command that a refused text names marks it as the run did."""

from __future__ import annotations

from typing import Any

from activities.gates.pinned_source import preview_of
from cutter import marking
from cutter.storage.run_evidence import Snapshot


def previewed(body: bytes, options: dict[str, Any], *, allowed: int = 1_000) -> str:
    pinned = Snapshot(data=b"", profile_body=body.decode(), options=options, forbidden_ids=["DIEU-44"])
    return preview_of(pinned, allowed)


def test_a_shipped_profile_is_named_with_the_registered_options() -> None:
    shipped = marking.profile_bytes("vietnamese-law")
    command = previewed(shipped, {"empty": "heading_only", "max_candidates": 20})
    assert command == (
        "cutter mark FILE --profile vietnamese-law --empty heading_only --max-candidates 20 --forbid DIEU-44"
    )


def test_a_profile_of_ones_own_is_a_file_whose_name_nobody_registered() -> None:
    own = marking.profile_bytes("vietnamese-law") + b"# ours\n"
    assert previewed(own, {}) == "cutter mark FILE --profile PROFILE.yaml --forbid DIEU-44"


def test_no_more_units_are_asked_for_than_the_workers_allow() -> None:
    shipped = marking.profile_bytes("vietnamese-law")
    assert "--max-candidates 50 " in previewed(shipped, {"max_candidates": 2_000}, allowed=50)
