"""Nothing in a file can forge a line of the offline verifier: what it prints of a file is escaped, cut and marked."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.evidence import audit, offline
from cutter.evidence.offline import notation

HIDDEN = st.characters(categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])
TEXT = st.text(st.one_of(HIDDEN, st.sampled_from("OK head: \t\n\r\x1b\u00a0\u3000abcé"), st.characters()))
CUT = len("…")


def hides(text: str) -> list[str]:
    """Characters that a terminal may act on or that nobody sees."""
    return [
        character
        for character in text
        if unicodedata.category(character)[0] == "C" or unicodedata.category(character) in ("Zl", "Zp")
    ]


@given(TEXT)
def test_what_is_shown_has_no_hidden_character_and_no_column_of_its_own(text: str) -> None:
    line = notation.shown(text)
    assert hides(line) == []
    assert not re.search(r"\s\s|[^\S ]", line)


@given(TEXT)
def test_a_visible_text_is_shown_as_it_is(text: str) -> None:
    plain = " ".join("".join(character for character in text if not hides(character)).split())
    plain = plain[: notation.SHOWN_CHARACTERS]
    assert notation.shown(plain) == plain


@pytest.mark.parametrize("character", ["\n", "\x1b", "\x7f", "\x9b", "\u202e", "\u2028", "\u2029", "\ud800", "\ue000",
                                       "\U000e0061", "\u0378"])  # fmt: skip
def test_a_hidden_character_is_shown_as_its_code(character: str) -> None:
    assert notation.shown(f"a{character}b") == f"a⟨U+{ord(character):04X}⟩b"


@given(st.integers(0, 10**6))
def test_a_long_value_is_cut(more: int) -> None:
    limit = notation.SHOWN_CHARACTERS
    assert len(notation.shown("a" * more)) == min(more, limit + CUT)


@given(st.one_of(TEXT, st.none(), st.integers(), st.from_regex(r"[0-9a-fA-F]{0,70}\n?", fullmatch=True)))
def test_only_hex_is_shown_as_a_digest(value: object) -> None:
    digest = notation.hexed(value)
    assert digest == "malformed" or (
        digest == value and re.fullmatch(r"[0-9a-f]{64}|[0-9A-F]{40}|[0-9A-F]{64}", digest)
    )


@given(TEXT, TEXT, st.one_of(st.none(), TEXT))
def test_the_lines_of_an_export_are_the_verifiers_own(name: str, kind: str, head: str | None) -> None:
    """Whoever writes an export names chains and kinds of events as they like."""
    first = notation.digest(name.encode("utf-8", "replace"))
    body = json.dumps({"run_id": name, "seq": 1, "kind": kind})
    event = {"chain": name, "seq": 1, "kind": kind, "body": body, "prev_hash": first, "hash": "0" * 64}
    data = audit.export([event]) if encodable(name + kind) else audit.export([event | {"chain": "x", "kind": "x"}])
    output = offline.printed(offline.check(data, head))
    assert all(re.match(r"(OK  |FAILED|NOT CHECKED) +(audit chain|head): ", line) for line in output.split("\n"))
    assert hides(output.replace("\n", "")) == []


def encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
