"""A revision on the real path: activities, database and gpg. The text of an enacted version never changes."""

from __future__ import annotations

from typing import Any

from tests.support.runs import Deployment, Driven, drive

FIRST = """# Part One

Preamble.

## Kept

The first rule stays.

## Revised

The second rule changes.

## Dropped

The third rule ends.

## Moved

This body is the same at another address.

# Part Two

An annex.
"""

SECOND = """# Part One

Preamble.

## Kept

The first rule stays.

## New

The fourth rule is new.

## Revised

The second rule has changed.

# Part Two

An annex.

## Moved

This body is the same at another address.
"""

LEG_A = "IG_cut_leg_a_execute"


def law_of(made: Deployment, document_id: str) -> dict[str, tuple[str, str]]:
    """The law as its units show it: status and text by the last part of the address."""
    rows: dict[str, list[str]] = made.database.value(
        "select jsonb_object_agg(substr(u.canonical_address, length(%s) + 2),"
        " jsonb_build_array(u.lifecycle_status, v.body))"
        " from public.information_unit u join public.unit_version v on v.id = u.version_anchor_ref"
        " where u.deleted_at is null and starts_with(u.canonical_address, %s || '/')",
        (document_id, document_id),
    )
    return {address: (status, body) for address, (status, body) in rows.items()}


def versions_of(made: Deployment, address: str) -> list[dict[str, Any]]:
    """Every version of a unit, oldest first."""
    rows: list[dict[str, Any]] = made.database.value(
        "select jsonb_agg(to_jsonb(v) order by v.version_seq) from public.unit_version v"
        " join public.information_unit u on u.id = v.unit_id where u.canonical_address = %s",
        (address,),
    )
    return rows


def enacted(made: Deployment, text: str = FIRST) -> Driven:
    """An enacted first cut."""
    return drive(made, text)


def revised(made: Deployment, first: Driven, text: str = SECOND, *, until: str | None = None) -> Driven:
    """A run of the next text of an enacted law."""
    made.register(text, document_id=first.document_id)
    return drive(made, document_id=first.document_id, until=until)


def statuses(made: Deployment, document_id: str) -> dict[str, str]:
    """The status of each unit by the last part of its address."""
    return {address: status for address, (status, _) in law_of(made, document_id).items()}


def test_a_revision_begins_and_ends_versions_in_one_enactment(deployment: Deployment) -> None:
    first = enacted(deployment)
    before = law_of(deployment, first.document_id)
    second = revised(deployment, first)
    assert second.state == "closeout_reported"
    after = law_of(deployment, first.document_id)
    assert {address for address, (status, _) in after.items() if status == "enacted"} == {
        "PART-ONE", "PART-ONE/KEPT", "PART-ONE/NEW", "PART-ONE/REVISED", "PART-TWO", "PART-TWO/MOVED",
    }  # fmt: skip
    assert {address for address, (status, _) in after.items() if status == "retired"} == {
        "PART-ONE/DROPPED", "PART-ONE/MOVED",
    }  # fmt: skip
    assert after["PART-ONE/KEPT"] == before["PART-ONE/KEPT"]
    assert after["PART-ONE/REVISED"][1] == "## Revised\n\nThe second rule has changed."
