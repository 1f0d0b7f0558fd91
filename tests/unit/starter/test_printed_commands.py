"""The reader of printed commands finds what a person would type, and nothing else."""

from __future__ import annotations

from tests.support.printed import filled_in, first_next, scripts_printed

HOLDS = '{"invariants": [{"name": "x", "ok": true, "expected": "`cutter source add FILE`"}]}'


def test_commands_are_found_in_sentences_next_lines_tables_and_json() -> None:
    table = "ICX-1  failed_mark  cutter void R --reason TEXT    # then: cutter run ICX-1"
    assert scripts_printed(table, "") == [("cutter void R --reason TEXT", "cutter run ICX-1")]
    assert scripts_printed("", "no run: see `cutter status`") == [("cutter status",)]
    assert scripts_printed('{"next": "cutter up", "commands": ["cutter a b", "cutter c"]}', "") == [
        ("cutter up",), ("cutter a b", "cutter c"),
    ]  # fmt: skip
    assert first_next('{"next": "cutter up"}', "") == "cutter up"
    assert first_next("needs: x\nnext: cutter void R    # then: cutter run D", "") == "cutter void R"


def test_what_an_invariant_that_holds_expected_is_no_instruction() -> None:
    assert scripts_printed(HOLDS, "") == []
    assert scripts_printed(f"# Stop\n\n```json\n{HOLDS}\n```\n\nnext: cutter report D\n", "") == [("cutter report D",)]


def test_the_words_in_capitals_are_a_persons_own() -> None:
    values = {"TEXT": "it is right", "FILE": "law.md", "QUEUE": "q.yaml"}
    assert filled_in("cutter orchestrate batch --queue FILE", values) == ["orchestrate", "batch", "--queue", "q.yaml"]
    assert filled_in("cutter void R --reason TEXT", values) == ["void", "R", "--reason", "it is right"]
