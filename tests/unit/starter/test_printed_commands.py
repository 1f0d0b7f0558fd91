"""The reader of printed commands finds what a person would type, and nothing else."""

from __future__ import annotations

from tests.support.printed import examples_in, filled_in, first_next, placeholders, scripts_printed

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


def test_an_example_is_read_whole_from_its_wrapped_lines() -> None:
    page = "Usage: x\n\n  Example: cutter x law.md --profile\n  generic-markdown\n\n  Example: cutter y\n\nOptions:\n"
    assert examples_in(page) == ["cutter x law.md --profile generic-markdown", "cutter y"]
    assert examples_in("  Example: cutter x ICX-\n  LAW-1 --as\n  run\n\n") == ["cutter x ICX-LAW-1 --as run"]


def test_two_people_s_commands_are_one_without_their_ids_paths_and_texts() -> None:
    run = "ictr-20261121T090000Z-0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
    other = "ictr-20261122T100000Z-0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5c"
    for command, same in (
        (f"cutter void {run} --reason TEXT", f"cutter void {other} --reason 'the wrong text'"),
        (f"cutter void {run} --reason TEXT", "cutter void <run> --reason wrong"),
        ("cutter run ICX-1", "cutter run ICX-LAW-2026-001"),
        (f"cutter verify /tmp/a/e.tar --head {'0' * 64}", f"cutter verify /b.tar --head {'1' * 64}"),
    ):  # fmt: skip
        assert placeholders(command) == placeholders(same)
    assert placeholders("cutter run ICX-1 --wait") != placeholders("cutter run ICX-1")
