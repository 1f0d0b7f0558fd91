"""A genuine bundle with any value in any place: its check ends with a sentence, and no changed approval is accepted."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import tarfile
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutter.evidence import offline
from tests.cases.bundle_forger import Forger
from tests.golden.record_bundle import kept

MUTATIONS = 250
"""Of one bundle; each takes some 10 ms."""

STEPS = {"archive", "sha256", "audit chain", "head", "receipts", "approvals", "authorship", "policy", "workers",
         "history", "the law", "predecessor"}  # fmt: skip
FREE = {
    "verdicts": {"id", "reason", "recorded_at"},
    "consumptions": {"consumed_at"},
    "requests": {"expires_at", "kb_id", "n", "pin_seq", "requested_at", "tier"},
}
"""Columns that nobody signed and no chain covers: the digest of the bundle alone does (docs/reference/evidence.md)."""

HOSTILE = st.sampled_from(
    ["\nOK           head: covers all events", "\x1b[2K\x1b[1A", "\u202e", "\u2028", "\ud800", "0" * 64, "a" * 5000, ""]
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(allow_nan=False), st.text(), HOSTILE),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.text(), HOSTILE), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip

Json = Any


BUNDLE = gzip.decompress((Path(__file__).parents[1] / "golden" / "evidence" / "bundle.tar.gz").read_bytes())
"""The bundle of a closed run that alice approved, as a closeout sealed it in November 2026."""


LAW = kept("law-2")
"""The bundle of a revision with its law."""


@pytest.mark.parametrize("bundle", [BUNDLE, LAW], ids=["without its law", "with its law"])
def test_a_bundle_that_was_kept_still_verifies(bundle: bytes) -> None:
    lines = offline.check(bundle, gpg=shutil.which("gpg"))
    assert offline.exit_code(lines) == 0
    is_the_verifiers_own(lines)


def packed(members: dict[str, bytes]) -> bytes:
    """An archive of these members, whatever is in them."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, body in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
    return file.getvalue()


def replaced(value: Json, data: st.DataObject) -> Json:
    """The value with something else in one place; texts that are JSON themselves are opened."""
    inner = opened(value)
    if inner is not None and data.draw(st.booleans(), "inside the text"):
        return json.dumps(replaced(inner, data))
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4), "deeper"):
        name = data.draw(st.sampled_from(sorted(value)), "name")
        if data.draw(st.integers(0, 5), "left out") == 0:
            return {other: child for other, child in value.items() if other != name}
        return value | {name: replaced(value[name], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 4), "deeper"):
        place = data.draw(st.integers(0, len(value) - 1), "place")
        return [*value[:place], replaced(value[place], data), *value[place + 1 :]]
    return data.draw(VALUES, "value")


def opened(value: Json) -> Json:
    try:
        inner = json.loads(value) if isinstance(value, str) and value[:1] == "{" else None
    except ValueError:
        return None
    return inner


def mutated(members: dict[str, bytes], data: st.DataObject) -> dict[str, bytes]:
    """One member with another line, or other bytes, or none."""
    name = data.draw(st.sampled_from(sorted(members)), "member")
    lines = members[name].split(b"\n")
    if name.endswith((".jsonl", ".json")) and members[name]:
        place = data.draw(st.integers(0, len(lines) - 2), "line")
        lines[place] = json.dumps(replaced(json.loads(lines[place]), data), sort_keys=True).encode()
        return members | {name: b"\n".join(lines)}
    body = data.draw(st.one_of(st.binary(max_size=200), st.none()), "bytes")
    return {other: content for other, content in members.items() if other != name} | (
        {name: body} if body is not None else {}
    )


def is_the_verifiers_own(lines: list[offline.Line]) -> None:
    """Every line of the output is a step of ours with one of the three words, and hides nothing."""
    output = offline.printed(lines)
    for line in output.split("\n"):
        match = re.match(r"(OK|FAILED|NOT CHECKED) +([a-z0-9 ]+): ", line)
        assert match is not None, line
        assert match[2] in STEPS
    assert not [character for character in output.replace("\n", "") if unicodedata.category(character)[0] == "C"]


@settings(max_examples=MUTATIONS, deadline=None)
@given(data=st.data())
def test_any_value_in_any_place_ends_with_a_sentence(data: st.DataObject) -> None:
    members = mutated(offline.Bundle(BUNDLE).members, data)
    is_the_verifiers_own(offline.check(packed(members)))


@settings(max_examples=MUTATIONS // 3, deadline=None)  # each checks three bundles
@given(data=st.data())
def test_no_other_value_of_an_enacted_unit_is_accepted(data: st.DataObject) -> None:
    """Each value in the rows of the law, with the archive made to fit, also as the bundle before another one."""
    members = {name: body for name, body in offline.Bundle(LAW).members.items() if name != offline.MANIFEST}
    lines = members["law.jsonl"].split(b"\n")
    place = data.draw(st.integers(0, len(lines) - 2), "line")
    row = json.loads(lines[place])
    other = replaced(row, data)
    if other == row:
        return
    lines[place] = json.dumps(other, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    changed = offline.sealed(members | {"law.jsonl": b"\n".join(lines)})
    for report in offline.check_files([kept("law-1"), changed, kept("law-3")])[1:]:
        is_the_verifiers_own(report)
    assert offline.exit_code(offline.check(changed)) == 1, other


@settings(max_examples=MUTATIONS, deadline=None)
@given(data=st.data())
def test_any_bytes_in_any_place_of_the_archive_end_with_a_sentence(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(BUNDLE) - 1))
    changed = BUNDLE[:place] + data.draw(st.binary(max_size=20)) + BUNDLE[place + data.draw(st.integers(0, 600)) :]
    try:
        lines = offline.check(changed)
    except ValueError:
        return  # neither a bundle nor an export: exit 2
    is_the_verifiers_own(lines)
    assert changed == BUNDLE or offline.exit_code(lines) == 1


@settings(max_examples=MUTATIONS, deadline=None)
@given(data=st.data())
def test_no_other_value_of_an_approval_is_accepted(data: st.DataObject) -> None:
    """Each column that a person signed or the chain covers, with every chain made to fit."""
    forger = Forger(BUNDLE)
    table = data.draw(st.sampled_from(sorted(FREE)))
    rows = forger.rows(table)
    place, other = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 2))
    name = data.draw(st.sampled_from(sorted(set(rows[place]) - FREE[table])))
    was, value = rows[place][name], rows[1 - place][name] if other == 0 else data.draw(VALUES)
    if was == value and type(was) is type(value):
        return
    rows[place][name] = value
    forger.members[f"{table}.jsonl"] = "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows).encode()
    lines = offline.check(offline.sealed(forger.members))
    assert offline.exit_code(lines) == 1, (table, name, value)
