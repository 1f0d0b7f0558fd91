"""A card says what waits in numbers and ids, within Slack's limits, and has buttons only where those may decide."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.approvals.policy import Tier
from cutter.approvals.request import Changes
from cutter.notifications import card_text, slack
from cutter.notifications.card import Card, one_line
from cutter.notifications.card_text import Outcome, Question
from cutter.notifications.slack import render

RUN = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
WAITING: dict[str, Any] = {
    "id": 1, "subject": "6f0d3c1e-5a55-4b0c-9d4e-6d1f3c2b7a10", "place": "SG_cut_authz", "run_id": RUN,
    "document_id": "ICX-LAW-2026-001", "docprefix": "ICX-LAW-1", "tenant": "default", "mode": "live",
    "state": "awaiting_cut_authorization", "tier": Tier.MEDIUM, "needed": 1,
    "reason": "policy.yaml line 5: rule writes says allow", "expires": datetime(2026, 11, 22, 9, 0, tzinfo=UTC),
    "units": 27, "changes": Changes(added_count=20, changed_count=4, removed_count=3),
}  # fmt: skip
EFFECT = {
    **WAITING, "place": "IG_backup", "state": "stopped_policy_IG_backup", "tier": Tier.LOW, "mode": "dryrun",
    "unsigned": True,
}  # fmt: skip

BOUNDS = {"header": 150, "section": 3000, "field": 2000, "context": 2000, "button": 75, "title": 100, "confirm": 300}
"""Slack's own limits, in characters."""


def card(waiting: dict[str, Any]) -> Card:
    """The card of a question with these values."""
    names = {field.name for field in fields(Question)}
    question = Question(**{name: value for name, value in waiting.items() if name in names})
    return card_text.asked(question, **{name: value for name, value in waiting.items() if name not in names})


def ask(waiting: dict[str, Any]) -> dict[str, Any]:
    """The question as Slack gets it."""
    return render(card(waiting))


def answer(waiting: dict[str, Any], outcome: Outcome, by: list[str]) -> dict[str, Any]:
    """The answer to it as Slack gets it."""
    return render(card_text.answered(card(waiting), outcome, by))


def objects(node: Any) -> Iterator[dict[str, Any]]:
    """Every JSON object in a message."""
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from objects(inner)


def texts(message: dict[str, Any], kind: str) -> list[str]:
    return [
        element["text"]
        for element in objects(message)
        if element.get("type") == kind and isinstance(element.get("text"), str)
    ]


def words(message: dict[str, Any]) -> str:
    return "\n".join([*texts(message, "plain_text"), *texts(message, "mrkdwn")])


def buttons(message: dict[str, Any]) -> list[str]:
    return [element["action_id"] for element in objects(message) if element.get("type") == "button"]


def test_a_card_says_what_would_be_written_the_policy_s_reason_and_the_command() -> None:
    """Seed 003 §7."""
    text = words(ask(WAITING))
    assert "27 units at as many addresses below ICX-LAW-1/: 20 added, 4 changed, 3 removed" in text
    assert "policy.yaml line 5: rule writes says allow" in text
    assert "```cutter approve ICX-LAW-2026-001```" in text
    assert "2026-11-22 09:00 UTC" in text
    assert "1 person, tier medium" in text


def test_enacting_is_told_without_differences() -> None:
    text = words(ask({**WAITING, "place": "SG_lifecycle_authz", "findings": 2}))
    assert "27 units enacted at as many addresses below ICX-LAW-1/; 2 findings" in text
    assert "added" not in text


def test_a_stop_of_the_policy_is_told_with_its_reason() -> None:
    text = words(ask(EFFECT))
    assert "The policy stopped it there, of 27 units. policy.yaml line 5" in text
    assert "ICX-LAW-2026-001 waits at IG_backup" in text


def test_buttons_stand_only_on_what_may_be_decided_without_a_signature() -> None:
    """Seed 003 §7."""
    assert buttons(ask(WAITING)) == []
    assert buttons(ask(EFFECT)) == [slack.APPROVE, slack.REJECT]
    assert buttons(answer(EFFECT, Outcome.APPROVED, ["an"])) == []
    assert {element["value"] for element in objects(ask(EFFECT)) if element.get("type") == "button"} == {
        WAITING["subject"]
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"place": "SG_cut_authz", "mode": "live"},
        {"place": "SG_lifecycle_authz", "mode": "live"},
        {"place": "SG_cut_authz"},
        {"mode": "live"},
        {"mode": "live", "tier": Tier.MEDIUM},
        {"mode": "live", "tier": Tier.HIGH},
    ],
)
def test_no_card_can_be_built_whose_buttons_would_pass_by_a_signature(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="only signatures decide"):
        card({**EFFECT, **changed})
    assert buttons(ask({**EFFECT, "tier": Tier.HIGH})) == [slack.APPROVE, slack.REJECT]


def test_a_decided_card_names_who_decided_and_has_nothing_to_type() -> None:
    text = words(answer(WAITING, Outcome.APPROVED, ["an", "bo"]))
    assert "approved by an, bo" in text
    assert "cutter approve" not in text


def test_the_same_card_has_the_same_bytes_and_is_found_by_its_subject() -> None:
    first, again = (json.dumps(ask(WAITING)) for _ in range(2))
    assert first == again
    payload = ask(WAITING)["metadata"]["event_payload"]
    assert payload == {"subject": WAITING["subject"], "document": "ICX-LAW-2026-001", "gate": "SG_cut_authz"}
    assert answer(WAITING, Outcome.EXPIRED, [])["metadata"] == ask(WAITING)["metadata"]


HOSTILE = st.text(max_size=4000) | st.sampled_from(
    ["<!channel> <@U123> <https://evil.example|click>", "&amp;lt;!here&gt;", "```*bold*```", "‮⁦a​b\x00\n", "<" * 4000]
)


@given(reason=HOSTILE, command=HOSTILE, names=st.lists(HOSTILE, max_size=3), unsigned=st.booleans())
def test_no_text_makes_a_mention_a_link_or_a_format_or_passes_slack_s_limits(
    reason: str, command: str, names: list[str], unsigned: bool
) -> None:
    made = replace(card({**EFFECT, "reason": f"zqz {reason}", "unsigned": unsigned}), commands=(one_line(command),))
    for message in (render(made), render(card_text.answered(made, Outcome.REJECTED, names))):
        for text in [*texts(message, "plain_text"), *texts(message, "mrkdwn"), message["text"]]:
            bare = text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")
            assert not set(bare) & set("<>&\x00‮⁦​")
        for text in texts(message, "mrkdwn"):
            assert text.count("```") in (0, 2)
            assert "zqz" not in text
        check_limits(message)


def check_limits(message: dict[str, Any]) -> None:
    """Slack's limits, as its reference gives them."""
    assert len(message["blocks"]) <= 50
    for block in message["blocks"]:
        if block["type"] == "section":
            assert len(block.get("fields", [])) <= 10
            assert all(1 <= len(field["text"]) <= BOUNDS["field"] for field in block.get("fields", []))
            assert "fields" in block or 1 <= len(block["text"]["text"]) <= BOUNDS["section"]
        if block["type"] == "header":
            assert 1 <= len(block["text"]["text"]) <= BOUNDS["header"]
    for button in (element for element in objects(message) if element.get("type") == "button"):
        assert len(button["text"]["text"]) <= BOUNDS["button"]
        assert len(button["value"]) <= 2000
        assert len(button["action_id"]) <= 255
        assert len(button["confirm"]["title"]["text"]) <= BOUNDS["title"]
        assert len(button["confirm"]["text"]["text"]) <= BOUNDS["confirm"]
        assert len(button["confirm"]["confirm"]["text"]) <= 30


@given(st.text(max_size=600), st.integers(min_value=1, max_value=300))
def test_what_is_cut_keeps_its_bound_and_never_half_of_an_entity(text: str, most: int) -> None:
    shown = slack.escaped(text, most)
    assert len(shown) <= most
    for part in shown.split("&")[1:]:
        assert part.startswith(("amp;", "lt;", "gt;"))
