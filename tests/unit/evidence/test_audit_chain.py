"""The offline check of an audit export: every way of tampering is seen, and what cannot be seen is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.domain.digests import canonical_json, chain, sha256_hex
from cutter.errors import InvalidInput
from cutter.evidence import audit
from cutter.evidence.offline import GLOBAL
from starter.commands import verify

Event = dict[str, Any]


def chained(name: str, bodies: list[Event]) -> list[Event]:
    """A chain as PostgreSQL's fn_audit_append makes it; each body has its run_id and kind."""
    made: list[Event] = []
    previous = sha256_hex(name)
    for seq, fields in enumerate(bodies, start=1):
        body = json.dumps({**fields, "seq": seq})
        digest = chain(previous, body)
        made.append(
            {"chain": name, "seq": seq, "kind": fields["kind"], "body": body, "prev_hash": previous, "hash": digest}
        )
        previous = digest
    return made


def events_of(name: str, count: int) -> list[Event]:
    """The chain of a run."""
    return chained(
        name, [{"run_id": name, "kind": "transition", "to_state": f"state {seq}"} for seq in range(1, count + 1)]
    )


def anchors_of(runs: list[list[Event]]) -> list[Event]:
    """The global chain: each run's first and last event."""
    ends = [(event, kind) for run in runs for event, kind in ((run[0], "run_registered"), (run[-1], "run_ended"))]
    return chained(
        GLOBAL,
        [{"run_id": e["chain"], "kind": kind, "run_head": e["hash"], "run_seq": e["seq"]} for e, kind in ends],
    )


def export_of(*counts: int) -> bytes:
    """One run alone, or several with the global chain, as the command exports them."""
    runs = [events_of(f"ictr-{number}", count) for number, count in enumerate(counts)]
    return audit.export([*(anchors_of(runs) if len(runs) > 1 else []), *(event for run in runs for event in run)])


REPLACED: list[Event] = [{"run_id": "ictr-2", "kind": "transition", "to_state": f"other {seq}"} for seq in range(3)]


def encoded(events: list[Event]) -> list[bytes]:
    return [canonical_json(event).encode() for event in events]


def lines_of(data: bytes) -> list[bytes]:
    return data.split(b"\n")[:-1]


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def reclosed(lines: list[bytes]) -> bytes:
    """The export that somebody writes who knows the format: events as given, and a fitting closing line."""
    return audit.export(json.loads(line) for line in lines)


WHOLE = export_of(5, 1, 3)
ANCHORS = 6
"""Lines of the global chain, which come first."""


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_an_untouched_export_is_intact_and_its_own_head_anchors_everything(counts: list[int]) -> None:
    data = export_of(*counts)
    checked = audit.verify(data)
    assert not checked.problems
    several = len(counts) > 1
    assert checked.events == sum(counts) + several * 2 * len(counts)
    assert checked.chains == len(counts) + several
    assert audit.verify(data, head=checked.head).anchored == "all events"


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_any_changed_byte_is_seen(position: int, difference: int) -> None:
    data = bytearray(WHOLE)
    data[position] ^= difference
    assert audit.verify(bytes(data)).problems


@given(st.data())
def test_any_removed_repeated_or_moved_line_is_seen(data: st.DataObject) -> None:
    lines = lines_of(WHOLE)
    place = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.integers(0, len(lines) - 1).filter(lambda at: at != place))
    removed = lines[:place] + lines[place + 1 :]
    repeated = [*lines[:other], lines[place], *lines[other:]]
    swapped = list(lines)
    swapped[place], swapped[other] = swapped[other], swapped[place]
    for touched in (removed, repeated, swapped):
        assert audit.verify(joined(touched)).problems


@given(st.integers(0, len(WHOLE) - 1))
def test_any_cut_off_is_seen(length: int) -> None:
    assert audit.verify(WHOLE[:length]).problems


@pytest.mark.parametrize(
    ("tamper", "word"),
    [
        (lambda lines: lines[:1] + lines[2:], "deleted"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "deleted"),
        (lambda lines: [lines[0], lines[0], *lines[1:]], "inserted"),
        (lambda lines: [*lines[ANCHORS:11], *lines[:ANCHORS], *lines[11:]], "reordered"),
        (lambda lines: [*lines[:ANCHORS], lines[ANCHORS].replace(b"state 1", b"state 9"), *lines[7:]], "altered"),
        (lambda lines: [b'{"a":1}', *lines], "inserted"),
        (lambda lines: lines[:-1], "deleted"),
    ],
    ids=["deleted", "swapped", "doubled", "chains swapped", "altered", "foreign", "no closing line"],
)
def test_a_problem_says_what_happened(tamper: Any, word: str) -> None:
    problems = audit.verify(joined(tamper(lines_of(WHOLE)))).problems
    assert any(word in problem for problem in problems), problems


def test_an_event_with_a_fitting_hash_about_another_event_is_seen() -> None:
    first, *_ = events_of("ictr-0", 1)
    body = json.dumps({"run_id": "ictr-0", "kind": "verdict", "seq": 1})
    forged = first | {"body": body, "hash": chain(first["prev_hash"], body)}
    assert "about another event" in audit.verify(audit.export([forged])).problems[0]


def test_a_body_about_another_run_is_seen() -> None:
    (forged,) = chained("ictr-0", [{"run_id": "ictr-1", "kind": "verdict"}])
    assert "about another run" in audit.verify(audit.export([forged])).problems[0]


@pytest.mark.parametrize(
    ("tamper", "word"),
    [
        (lambda lines: [line for line in lines if b'"chain":"ictr-1"' not in line], "ictr-1 is missing"),
        (lambda lines: [line for line in lines if b'"chain":"ictr-2","hash"' not in line], "ictr-2 is missing"),
        (lambda lines: [*lines[:-1]], "is not the one that the global chain names"),
        (lambda lines: [*lines, *encoded(events_of("ictr-9", 2))], "ictr-9 is not on the global chain"),
        (lambda lines: [*lines[:-3], *encoded(chained("ictr-2", REPLACED))], "is not the one"),
    ],
    ids=["a run left out", "the last run left out", "a run's end left out", "a run added", "a run replaced"],
)
def test_what_happens_to_a_whole_run_is_seen_by_the_global_chain_though_every_chain_fits(
    tamper: Any, word: str
) -> None:
    data = reclosed(tamper(lines_of(WHOLE)[:-1]))
    assert any(word in problem for problem in audit.verify(data).problems), audit.verify(data)


def test_a_chain_that_begins_elsewhere_is_seen() -> None:
    assert audit.verify(reclosed([line.replace(b"ictr-0", b"ictr-9") for line in lines_of(export_of(2))[:-1]])).problems


@pytest.mark.parametrize("rewrite", ["last events left out", "every hash made anew"])
def test_a_rewritten_file_needs_an_outside_head_and_the_check_says_so(rewrite: str) -> None:
    kept = audit.verify(export_of(5)).head
    data = export_of(4) if rewrite == "last events left out" else audit.export(events_of("ictr-other", 5))
    blind = audit.verify(data)
    assert not blind.problems
    assert blind.anchored == "nothing"
    assert "--head" in blind.unchecked[0]
    assert audit.verify(data, head=kept).problems


def test_a_head_from_the_middle_anchors_what_was_before_it_and_names_the_rest() -> None:
    third = events_of("ictr-0", 5)[2]["hash"]
    checked = audit.verify(WHOLE, head=third)
    assert not checked.problems
    assert checked.anchored == "events 1 to 3 of ictr-0"
    assert checked.unchecked[0].startswith("events 4 to 5 of ictr-0")
    assert "3 other chains" in checked.unchecked[1]


def test_a_head_of_the_global_chain_anchors_it_and_says_what_it_leaves_open() -> None:
    head = json.loads(lines_of(WHOLE)[-1])["heads"][GLOBAL][1]
    checked = audit.verify(WHOLE, head=head)
    assert (checked.problems, checked.anchored) == ((), f"events 1 to {ANCHORS} of global")
    assert "last anchor" in checked.unchecked[0]


def test_the_export_of_one_run_has_the_runs_own_head() -> None:
    assert audit.verify(export_of(3)).head == events_of("ictr-0", 3)[-1]["hash"]


@pytest.mark.parametrize("data", [b"", b"\n", b"[]\n", b"{}\n", b"null\n", b"\xff\n", b'{"a":1.5}\n', b"[" * 100_000])
def test_anything_else_is_a_problem_and_never_an_error(data: bytes) -> None:
    assert audit.verify(data).problems


def test_the_same_value_in_another_notation_is_altered() -> None:
    lines = lines_of(WHOLE)
    spaced = json.dumps(json.loads(lines[0]), sort_keys=True).encode()
    assert canonical_json(json.loads(spaced)) == lines[0].decode()
    assert audit.verify(joined([spaced, *lines[1:]])).problems


STRANGERS = {
    "empty": b"",
    "white": b" \n\n",
    "a text": b"# A law\n",
    "text behind an empty line": b"\n# A law\n",
    "binary": b"\x00\xff" * 100,
    "another object": b'{"a":1}\n',
    "a list": b'["chain","seq","kind","body","prev_hash","hash"]\n',
    "deep": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("name", STRANGERS)
def test_a_file_that_is_no_export_is_told_apart_from_one_that_was_altered(name: str, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    file.write_bytes(STRANGERS[name])
    with pytest.raises(InvalidInput, match="it is not"):
        verify.kind_of(file)
    assert audit.verify(STRANGERS[name]).problems


@pytest.mark.parametrize("kept", range(len(lines_of(WHOLE))))
def test_one_line_that_is_left_of_an_export_is_for_the_check(kept: int, tmp_path: Path) -> None:
    lines = [b"x"] * len(lines_of(WHOLE))
    lines[kept] = lines_of(WHOLE)[kept]
    file = tmp_path / "audit.jsonl"
    file.write_bytes(joined(lines))
    assert verify.kind_of(file) == verify.EVENTS
