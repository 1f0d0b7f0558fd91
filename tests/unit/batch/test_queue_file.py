"""queue.yaml is read strictly; every problem is told with its line and what is wanted instead."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutter import limits, plain_yaml
from cutter.batch.queue import load_queue
from cutter.batch.queue_file import ItemFile, QueueFile
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.projections.run_folder import read_queue
from tests.unit.batch.queues import GOOD, HEAD, changed, many, refused


def test_a_queue_is_read_whole() -> None:
    queue = load_queue(GOOD.encode())
    assert (queue.batch_id, queue.created_by) == ("0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b", "ops@example")
    assert queue.created_utc == datetime(2026, 11, 21, 22, tzinfo=UTC)
    assert (queue.default_scope, queue.default_actor) == ("enacted_only", "sovereign@example")
    assert queue.sha256 == sha256_hex(GOOD)
    first, second = queue.items
    assert (first.document_id, first.position, first.line) == ("ICX-LAW-2026-001", 1, 8)
    assert (first.source_uri, first.priority, first.depends_on, first.critical) == (None, 100, (), False)
    assert (first.tenant, first.marking_profile) == (None, None)
    assert (second.position, second.line, second.priority, second.critical) == (2, 10, 7, True)
    assert second.source_uri == "https://example.org/laws/2?lang=de"
    assert second.depends_on == ("ICX-LAW-2026-001",)
    assert (second.tenant, second.marking_profile) == ("north", "generic-markdown")


def test_the_seeds_own_example_is_a_queue() -> None:
    """Seed 001 §2."""
    seed = HEAD.replace(": ", " : ") + "".join(
        f"- document_id : ICX-LAW-2026-{number:03}\n  source_uri : null # null = the latest version\n"
        for number in (1, 2, 3)
    )
    assert [item.document_id for item in load_queue(seed.encode()).items] == [
        "ICX-LAW-2026-001",
        "ICX-LAW-2026-002",
        "ICX-LAW-2026-003",
    ]


@pytest.mark.parametrize(
    ("text", "hour"),
    [("2026-11-21T22:00:00Z", 22), ("2026-11-21T22:00:00.25+07:00", 15), ('"2026-11-21t22:00:00z"', 22)],
)
def test_a_time_may_have_any_form_of_rfc_3339(text: str, hour: int) -> None:
    queue = load_queue(changed("2026-11-21T22:00:00Z", text).encode())
    assert (queue.created_utc.hour, queue.created_utc.tzinfo) == (hour, UTC)


def test_scope_and_actor_may_be_left_out() -> None:
    queue = load_queue(changed("default_scope: enacted_only\ndefault_actor: sovereign@example\n", "").encode())
    assert (queue.default_scope, queue.default_actor) == ("enacted_only", None)


def test_an_item_may_have_its_own_scope_and_actor() -> None:
    first, second = load_queue(changed("    priority: 7\n", "    scope: all\n    actor: bob\n").encode()).items
    assert (first.scope, first.actor) == (None, None)
    assert (second.scope, second.actor) == ("all", "bob")


@pytest.mark.parametrize("field", ["schema_version", "batch_id", "created_by", "created_utc", "items", "document_id"])
def test_what_is_missing_is_named_with_what_it_must_be(field: str) -> None:
    """Seed 001 §2."""
    (problem,) = [
        problem for problem in refused(changed(f"{field}:", f"the_{field}:")).problems if problem.field.endswith(field)
        and "is missing" in problem.text
    ]  # fmt: skip
    words = {**QueueFile.model_fields, **ItemFile.model_fields}[field].description
    assert words is not None
    assert words in problem.text


@pytest.mark.parametrize(
    ("old", "new", "line", "field"),
    [
        ("schema_version: 1", "schema_version: 2", 1, "schema_version"),
        ("schema_version: 1", "schema_version: 1.0", 1, "schema_version"),
        ("schema_version: 1", "schema_version: [1]", 1, "schema_version"),
        ("0199f1de-7c3d-7e4f", "0199f1de-7c3d-4e4f", 2, "batch_id"),
        ("0199f1de-7c3d-7e4f-8a9b", "0199f1de-7c3d-7e4f-ca9b", 2, "batch_id"),
        ("0199f1de", "0199F1DE", 2, "batch_id"),
        ("ops@example", "ops at example", 3, "created_by"),
        ("ops@example", "", 3, "created_by"),
        ("2026-11-21T22:00:00Z", "2026-11-21", 4, "created_utc"),
        ("2026-11-21T22:00:00Z", "2026-02-30T22:00:00Z", 4, "created_utc"),
        ("2026-11-21T22:00:00Z", "2026-11-21T22:00:00", 4, "created_utc"),
        ("2026-11-21T22:00:00Z", "2026-11-21T22:00:00+25:00", 4, "created_utc"),
        ("default_scope: enacted_only", "default_scope: drafts", 5, "default_scope"),
        ("default_actor: sovereign@example", "default_actor: {a: b}", 6, "default_actor"),
        ("default_actor: sovereign@example", "lanes: 4", 6, "lanes"),
        ("document_id: ICX-LAW-2026-001", "document_id: icx-law-2026-001", 8, "items[0].document_id"),
        ("document_id: ICX-LAW-2026-001", "document_id: I", 8, "items[0].document_id"),
        ("document_id: ICX-LAW-2026-001", "document_id: ICX/LAW", 8, "items[0].document_id"),
        ("document_id: ICX-LAW-2026-001", "document_id: ~", 8, "items[0].document_id"),
        ("source_uri: null", "source_uri: 'null'", 9, "items[0].source_uri"),
        ("source_uri: null", "source_uri: /etc/passwords", 9, "items[0].source_uri"),
        ("source_uri: null", "source_uri: https://example.org/a b", 9, "items[0].source_uri"),
        ("source_uri: null", "source_uri: http:" + "x" * 2048, 9, "items[0].source_uri"),
        ("source_uri: null", "source_url: null", 9, "items[0].source_url"),
        ("priority: 7", "priority: -1", 12, "items[1].priority"),
        ("priority: 7", "priority: 10000", 12, "items[1].priority"),
        ("priority: 7", "priority: 07", 12, "items[1].priority"),
        ("priority: 7", "priority: 0x7", 12, "items[1].priority"),
        ("priority: 7", "priority: ٧", 12, "items[1].priority"),
        ("priority: 7", "priority: 7.0", 12, "items[1].priority"),
        ("priority: 7", "priority: true", 12, "items[1].priority"),
        ("depends_on: [ICX-LAW-2026-001]", "depends_on: ICX-LAW-2026-001", 13, "items[1].depends_on"),
        ("depends_on: [ICX-LAW-2026-001]", "depends_on: [[ICX-LAW-2026-001]]", 13, "items[1].depends_on[0]"),
        ("depends_on: [ICX-LAW-2026-001]", "depends_on: [icx]", 13, "items[1].depends_on[0]"),
        ("critical: true", "critical: yes", 14, "items[1].critical"),
        ("critical: true", "critical: True", 14, "items[1].critical"),
        ("critical: true", "critical: 1", 14, "items[1].critical"),
        ("tenant: north", "tenant: the north", 15, "items[1].tenant"),
        ("tenant: north", "tenant: null", 15, "items[1].tenant"),
        ("marking_profile: generic-markdown", "marking_profile: ../../x", 16, "items[1].marking_profile"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line_and_field(old: str, new: str, line: int, field: str) -> None:
    """Seed 001 §2."""
    problem = refused(changed(old, new)).problems[0]
    assert (problem.line, problem.field, problem.code) == (line, field, "STOP_REFUSED_INPUT")


@pytest.mark.parametrize(
    ("old", "new", "line", "rule"),
    [
        ("created_by: ops@example", "created_by: &a ops@example", 3, "anchors"),
        ("created_by: ops@example", "created_by: *a", 3, "anchors"),
        ("created_by: ops@example", "created_by: !!str ops@example", 3, "tags"),
        ("created_by: ops@example", "created_by: !python/object:os.system x", 3, "tags"),
        ("created_by: ops@example", "<<: {created_by: ops@example}", 3, "plain word"),
        ("created_by: ops@example", "created_by: ops@example\ncreated_by: me", 4, "duplicated"),
        ("created_by: ops@example", "? [created_by]\n: ops@example", 3, "plain word"),
        ("created_by: ops@example", "created_by: |\n  ops@example", 3, "block texts"),
        ("    source_uri: null", "    source_uri: null\n    source_uri: null", 10, "duplicated"),
        ("ICX-LAW-2026-001]", "[[[[ICX-LAW-2026-001]]]]]", 13, "deeper than 6"),
        ("    marking_profile: generic-markdown\n", "---\na: b\n", 16, "second document"),
        ("created_by: ops@example", "created_by: 'ops@example", 1, ""),
        ("created_by: ops@example", "created_by: ops@example: x", 3, ""),
    ],
)
def test_a_file_beyond_plain_yaml_is_refused_with_its_line(old: str, new: str, line: int, rule: str) -> None:
    problems = refused(changed(old, new)).problems
    assert any(rule in problem.text and (problem.line == line or not rule) for problem in problems), problems


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "[]", "x", "items: []", HEAD, HEAD + "  []\n", HEAD + "  - x\n", "\x00", "%YAML"]
)
def test_what_is_no_queue_is_refused(text: str) -> None:
    assert refused(text).problems


def test_bytes_that_are_not_text_are_refused_with_their_line() -> None:
    assert refused(GOOD.encode().replace(b"north", b"n\xffrth")).problems[0].line == 15


def test_an_item_that_is_no_mapping_is_refused_alone() -> None:
    (problem,) = refused(GOOD + "  - ICX-LAW-3\n").problems
    assert (problem.line, problem.field) == (17, "items[2]")


@pytest.mark.parametrize(
    ("hidden", "name"), [("\u202e", "U+202E"), ("\u200b", "U+200B"), ("А", "U+0410"), ("１", "U+FF11")]
)
def test_an_id_with_letters_that_only_look_right_names_them(hidden: str, name: str) -> None:
    (problem,) = refused(changed("ICX-LAW-2026-001", f"ICX-L{hidden}W-2026-001").replace("[ICX-LAW-2026-001]", "[]")
                         ).problems  # fmt: skip
    assert name in problem.text
    assert hidden not in str(problem)


def test_a_field_with_letters_that_only_look_right_names_them() -> None:
    (problem,) = refused(changed("tenant: north", "tenant\u200b: north")).problems
    assert "U+200B" in problem.field
    assert "\u200b" not in str(problem)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200f", "\u061c", "\u2028", "\x85", "\r"])
def test_a_comment_that_looks_other_than_it_is_read_is_refused_with_its_line(sign: str) -> None:
    problems = refused(changed("items:", f"# nothing{sign}# more\nitems:")).problems
    assert [(problem.line, f"U+{ord(sign):04X}" in problem.text) for problem in problems] == [(7, True)]


def test_lines_may_end_as_on_windows() -> None:
    assert len(load_queue(GOOD.replace("\n", "\r\n").encode()).items) == 2


def test_a_document_stands_once() -> None:
    (problem,) = refused(GOOD + "  - document_id: ICX-LAW-2026-001\n").problems
    assert (problem.line, problem.document_id) == (17, "ICX-LAW-2026-001")
    assert "line 8" in problem.text


def test_a_dependency_is_in_the_queue_and_named_once() -> None:
    (problem,) = refused(changed("[ICX-LAW-2026-001]", "[ICX-LAW-2026-009]")).problems
    assert (problem.line, problem.document_id) == (13, "ICX-LAW-2026-002")
    assert "ICX-LAW-2026-009 is not in this queue" in problem.text
    (again,) = refused(changed("[ICX-LAW-2026-001]", "[ICX-LAW-2026-001, ICX-LAW-2026-001]")).problems
    assert "duplicated" in again.text


def test_a_cycle_is_named_with_its_way() -> None:
    needs = {"A": "B", "B": "C", "C": "A", "D": "C", "E": "E", "F": ""}
    items = "".join(
        f"  - document_id: LAW-{name}\n    depends_on: [{need and 'LAW-' + need}]\n" for name, need in needs.items()
    )
    first, second = refused(HEAD + items).problems
    assert "LAW-A → LAW-B → LAW-C → LAW-A;" in first.text
    assert (first.line, first.field) == (9, "items[0].depends_on")
    assert "LAW-E → LAW-E;" in second.text


def test_all_problems_are_told_at_once_in_the_files_order() -> None:
    text = changed("schema_version: 1", "schema_version: 2").replace("priority: 7", "priority: x")
    text += "  - document_id: ICX-LAW-2026-001\n    depends_on: [NOWHERE]\n    extra: &a b\n  - {}\n"
    problems = refused(text).problems
    assert [problem.line for problem in problems] == [1, 12, 17, 18, 19, 20]
    assert str(problems[1]) in str(refused(text))


def test_at_most_twenty_problems_are_shown_and_the_rest_counted() -> None:
    refusal = refused(many(30, "    priority: high\n"))
    assert len(refusal.problems) == 30
    assert str(refusal).count("\n  line ") == limits.QUEUE_PROBLEMS_SHOWN
    assert str(refusal).endswith("and 10 more")


def test_a_hundred_documents_by_default_ten_thousand_by_setting_and_no_more() -> None:
    """Seed 001 §2."""
    assert len(load_queue(many(100).encode()).items) == 100
    assert "at most 100" in refused(many(101)).problems[0].text
    assert len(load_queue(many(1000).encode(), items_max=1000).items) == 1000
    assert len(load_queue(many(10_000).encode(), items_max=10_000).items) == 10_000
    (problem,) = refused(many(10_001), items_max=50_000).problems
    assert "at most 10000" in problem.text
    assert problem.line == 8 + 10_000


def test_the_file_has_at_most_64_kib_for_each_hundred_documents() -> None:
    line = "#" + "x" * 1022 + "\n"
    full = many(100) + line * ((64 * 1024 - len(many(100))) // len(line))
    assert len(load_queue(full.encode()).items) == 100
    assert "bytes" in refused(full + line).problems[0].text
    assert "at most 65536 for 100 documents" in refused(full + line, items_max=1000).problems[0].text
    two_hundred = many(101) + line * 64
    assert len(load_queue(two_hundred.encode(), items_max=1000).items) == 101


def test_the_first_hostile_lines_end_the_reading() -> None:
    repeated = "k: v\n" * 10_000
    assert len(refused(repeated).problems) <= limits.YAML_FLAWS_MAX
    assert "longer than" in refused("[" * 60_000).problems[0].text


def test_deep_nesting_is_refused_before_it_is_read() -> None:
    for nest in ("[\n" * 30_000, "- \n  " * 7, "{a:\n" * 10_000):
        with pytest.raises(InvalidInput):
            plain_yaml.load(nest.encode(), bytes_max=100_000)


def test_no_more_of_a_file_is_read_than_what_gets_it_refused(tmp_path: Path) -> None:
    path, most = tmp_path / "queue.yaml", limits.QUEUE_ITEMS_MAX // 100 * limits.QUEUE_BYTES_A_HUNDRED_ITEMS
    with path.open("wb") as file:
        file.truncate(1 << 40)
    data = read_queue(path)
    assert len(data) == most + 1
    assert "bytes" in refused(data, items_max=limits.QUEUE_ITEMS_MAX).problems[0].text
    path.write_bytes(GOOD.encode().ljust(most, b"\n"))
    assert len(read_queue(path)) == most
