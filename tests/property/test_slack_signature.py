"""A callback counts only as the bytes that Slack signed, at the time that it signed them, under this app's secret."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.notifications import slack as callback
from cutter.notifications.slack import Click, click, flaw, signature

SECRET = "0123456789abcdef0123456789abcdef"
NOW = 1_795_000_000
WINDOW = 300


def judged(body: bytes, time: str | None, given_: str | None, *, now: float = NOW, secret: str = SECRET) -> str | None:
    return flaw(secret, body, time=time, given=given_, now=now)


def test_the_signature_is_the_one_that_slack_s_own_example_has() -> None:
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name="
        b"foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2F"
        b"hooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015."
        b"47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    made = signature("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", body)
    assert made == "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"


@given(st.binary(max_size=400), st.integers(min_value=-WINDOW, max_value=WINDOW))
def test_signed_bytes_count_within_the_window(body: bytes, apart: int) -> None:
    time = str(NOW + apart)
    assert judged(body, time, signature(SECRET, time, body)) is None


@given(st.binary(min_size=1, max_size=400), st.data())
def test_no_changed_byte_counts(body: bytes, data: st.DataObject) -> None:
    time, place = str(NOW), data.draw(st.integers(min_value=0, max_value=len(body) - 1))
    flipped = bytearray(body)
    flipped[place] ^= data.draw(st.integers(min_value=1, max_value=255))
    assert judged(bytes(flipped), time, signature(SECRET, time, body)) == "wrong_signature"


@given(st.binary(max_size=200), st.binary(min_size=1, max_size=20))
def test_no_byte_may_be_added_or_taken_away(body: bytes, more: bytes) -> None:
    time = str(NOW)
    assert judged(body + more, time, signature(SECRET, time, body)) == "wrong_signature"
    assert judged(body, time, signature(SECRET, time, body + more)) == "wrong_signature"


@given(st.binary(max_size=100), st.integers(min_value=3, max_value=66), st.sampled_from("0123456789abcdefgG =é٣"))
def test_no_changed_character_of_the_signature_counts(body: bytes, place: int, other: str) -> None:
    time = str(NOW)
    good = signature(SECRET, time, body)
    bad = good[:place] + other + good[place + 1 :]
    assert (judged(body, time, bad) is None) == (bad == good)


@given(st.binary(max_size=100), st.integers(min_value=-(10**9), max_value=10**9).filter(lambda s: abs(s) > WINDOW))
def test_nothing_counts_outside_the_window_however_well_it_is_signed(body: bytes, apart: int) -> None:
    time = str(NOW + apart)
    assert judged(body, time, signature(SECRET, time, body)) == "too_old"


@given(st.binary(max_size=100), st.integers(min_value=-WINDOW, max_value=WINDOW).filter(bool))
def test_a_time_that_was_not_signed_does_not_count(body: bytes, apart: int) -> None:
    assert judged(body, str(NOW + apart), signature(SECRET, str(NOW), body)) == "wrong_signature"


@pytest.mark.parametrize(
    ("time", "given_", "secret"),
    [
        (None, signature(SECRET, str(NOW), b"x"), SECRET),
        (str(NOW), None, SECRET),
        (str(NOW), "", SECRET),
        ("", signature(SECRET, "", b"x"), SECRET),
        (f" {NOW}", signature(SECRET, f" {NOW}", b"x"), SECRET),
        ("1_795_000_000", signature(SECRET, "1_795_000_000", b"x"), SECRET),
        ("१७९५००००००", signature(SECRET, "१७९५००००००", b"x"), SECRET),
        (str(NOW), signature("", str(NOW), b"x"), ""),
        (str(NOW), signature(SECRET, str(NOW), b"x").upper(), SECRET),
        (str(NOW), signature(SECRET, str(NOW), b"x").replace("v0", "v1"), SECRET),
    ],
)
def test_what_is_not_of_its_form_is_unsigned(time: str | None, given_: str | None, secret: str) -> None:
    assert judged(b"x", time, given_, secret=secret) == "unsigned"


def test_another_app_s_secret_does_not_count() -> None:
    assert judged(b"x", str(NOW), signature("another", str(NOW), b"x")) == "wrong_signature"


PAYLOAD = {
    "type": "block_actions",
    "user": {"id": "U012AB3CD", "name": "an"},
    "container": {"type": "message", "message_ts": "1795000000.000100", "channel_id": "C0123456789"},
    "actions": [{"action_id": "cutter_approve", "value": "6f0d3c1e-5a55-4b0c-9d4e-6d1f3c2b7a10", "type": "button"}],
    "response_url": "https://hooks.slack.com/actions/T1/2/abc",
}


def form(payload: object, name: str = "payload") -> bytes:
    return urlencode({name: payload if isinstance(payload, str) else json.dumps(payload)}).encode()


def test_a_press_of_a_button_is_read() -> None:
    assert click(form(PAYLOAD)) == Click(
        user="U012AB3CD", approve=True, subject="6f0d3c1e-5a55-4b0c-9d4e-6d1f3c2b7a10", channel="C0123456789",
        message="1795000000.000100", answer_to="https://hooks.slack.com/actions/T1/2/abc",
    )  # fmt: skip
    rejected = {**PAYLOAD, "actions": [{**PAYLOAD["actions"][0], "action_id": "cutter_reject"}]}  # type: ignore[index]
    read = click(form(rejected))
    assert read is not None
    assert not read.approve


@pytest.mark.parametrize(
    "changed",
    [
        {"type": "view_submission"},
        {"user": {"id": "an"}},
        {"user": {}},
        {"container": {"channel_id": "C0123456789"}},
        {"actions": []},
        {"actions": [PAYLOAD["actions"][0], PAYLOAD["actions"][0]]},  # type: ignore[index]
        {"actions": [{"action_id": "approve_all", "value": "x"}]},
        {"actions": [{"action_id": "cutter_approve", "value": "a b"}]},
        {"actions": [{"action_id": ["cutter_approve"], "value": "a"}]},
        {"response_url": "file:///etc/passwd"},
        {"response_url": 7},
    ],
)
def test_anything_else_is_nobody_s_press(changed: dict[str, object]) -> None:
    assert click(form({**PAYLOAD, **changed})) is None


@given(st.binary(max_size=300) | st.text(max_size=100).map(form))
def test_no_bytes_make_the_reader_raise(body: bytes) -> None:
    assert click(body) is None


def test_no_depth_makes_the_reader_raise() -> None:
    assert click(form("[" * 100_000)) is None


def test_a_form_with_more_than_the_payload_is_refused() -> None:
    assert click(form(PAYLOAD) + b"&payload=%7B%7D") is None
    assert click(form(PAYLOAD, "other")) is None
    assert callback.click(b"") is None
