"""docs/internals/performance.md says of each figure which code it measured, and of each missed target why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks import growth, page, page_costs, page_text, profile, result_file, targets
from cutter.types import Json

FOLDER = Path(page.__file__).parent
NO_RECORD = {"page", "result_file"}
"""Modules that name a result file and measure nothing: they read records of others."""


def section(text: str, title: str) -> str:
    """A section of the page, without its title."""
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_the_page_is_made_from_the_records() -> None:
    remedy = "type `python -m benchmarks.page`"
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), remedy


def test_each_missed_figure_of_the_page_has_a_reason_and_a_next_step() -> None:
    text = page.page()
    missed = [row.split("|")[1].strip() for row in text.splitlines() if row.startswith("|") and "**no**" in row]
    known = targets.reasons(page.everything())
    assert len(missed) == text.count("**no**")
    assert [name for name in missed if not any(name.startswith(start) for start in known)] == []
    assert [start for start, reason in known.items() if not (reason.why and reason.next)] == []
    reasons = section(text, "Targets").split("\n- ")[1:]
    assert bool(reasons) == bool(missed)
    assert [reason for reason in reasons if "Next: " not in reason] == []


def test_each_record_of_the_page_has_a_commit_or_is_named_as_older() -> None:
    results, table = page.everything(), section(page.page(), "Records")
    for name, measured in results.items():
        code = measured[0].get("code") if measured else None
        row = next(line for line in table.splitlines() if line.startswith(f"| `{name}` "))
        assert (f"`{code.rstrip('+')}`" if code else result_file.OLDER if measured else "not measured") in row


@pytest.mark.parametrize(
    ("head", "origin"),
    [
        ({"at": "2026-01-02", "code": "37610c46", "load": 1.0}, "at commit `37610c46`; load 1.0 at the end."),
        ({"at": "2026-01-02", "code": "37610c46+"}, "at commit `37610c46` with uncommitted changes."),
        ({"at": "2026-01-02"}, "Measured 2026-01-02 at a commit that this older record does not name."),
        ({}, "on a day that is not named"),
    ],
)
def test_a_record_says_which_code_it_measured(head: Json, origin: str) -> None:
    assert origin in result_file.origin(head)


def test_each_section_with_figures_says_which_code_it_measured() -> None:
    text = page.page()
    titles = [
        title for title in re.findall(r"^## (.+)$", text, flags=re.MULTILINE) if title not in ("Targets", "Records")
    ]
    assert titles
    assert [title for title in titles if " at commit `" not in (body := joined(section(text, title)))
            and "at a commit that this older record does not name" not in body] == []  # fmt: skip


def joined(text: str) -> str:
    """The text in one line, because a paragraph breaks anywhere."""
    return " ".join(text.split())


def test_each_benchmark_that_writes_a_record_names_its_commit() -> None:
    """`machine` is the shared helper that gives the day and the commit."""
    writing = [file for file in FOLDER.glob("*.py") if ".jsonl" in file.read_text(encoding="utf-8")]
    assert {"cpu", "document", "growth", "marking"} <= {file.stem for file in writing}
    for file in writing:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert "machine" in calls or file.stem in NO_RECORD, file.name


def test_make_bench_measures_the_cpu_of_a_document_by_process() -> None:
    assert {"benchmarks.cpu", "benchmarks.document"} <= set(bench.ALL)
    record = {"kind": "cpu", "units": 60, "n": 3, "cpu_ms": {"worker-cutter": 10, "postgres": 20, "approver": 5}}
    lines = "\n".join(page_costs.document_cpu({60: record}))
    assert "| 60 | 30, without the approver | postgres 20, worker-cutter 10, approver 5 |" in lines


def test_the_cpu_target_is_judged_by_the_batch_that_it_names() -> None:
    small = {"kind": "batch", "documents": 20, "units": 3, "cpu_ms": {"postgres": 1}, "per_minute": 500}
    named = small | {"documents": 100, "cpu_ms": {"postgres": 900}, "per_minute": 60}
    results = page.everything() | {"batch": [{"kind": "machine", "cpus": 2}, named, small]}
    by_name = {target.name: target for target in targets.targets(results)}
    cpu, speed = (by_name[f"{what}, batch of 100 of 3 units"] for what in ("CPU of a document", "documents a minute"))
    assert (cpu.measured, cpu.met, speed.measured, speed.met) == ("900 ms", False, "60", False)
    without = page.everything() | {"batch": [{"kind": "machine", "cpus": 2}, small]}
    assert [target.met for target in targets.targets(without) if target.name == cpu.name] == [None]


def test_a_profile_is_shown_with_the_cpu() -> None:
    functions = profile.top([{"name": "fn_survey", "calls": 50.0, "self_ms": 30.0, "share": 0.25}], 2)
    record = {
        "kind": "cpu", "name": "this", "code": "37610c46", "documents": 2, "units": 3, "n": 1, "per_minute": 60,
        "history_events": 1, "history_bytes": 1, "cpu_ms": {"postgres": 1}, "functions": functions,
        "python": {"worker-cutter": [{"name": "cutter/gpg.py: verify", "share": 0.5}]},
    }  # fmt: skip
    text = "\n".join(page_costs.cpu([{"code": "37610c46", "at": "2026-01-02"}, record]))
    assert "| `fn_survey` | 25 | 15.0 | 25% |" in text
    assert "| worker-cutter | `cutter/gpg.py: verify` | 50% |" in text
    older = "\n".join(page_costs.cpu([{"at": "2026-01-02"}, record | {"functions": []}]))
    assert "has no profile" in older


def test_a_look_counts_for_our_innermost_function() -> None:
    raw = (
        "run (threading.py:1);run_gate (activities/gate.py:7);verify (cutter/gpg.py:3);run (subprocess.py:9) 3\n"
        "run (threading.py:1);poll (temporalio/worker/_activity.py:5) 1\n"
        "run (threading.py:1);beat (activities/registry.py:2);wait (threading.py:607) 90\n"
        "run (asyncio/runners.py:1);EpollSelector.select (selectors.py:468) 9\n"
    )
    assert profile.python_top(raw) == [
        {"name": "cutter/gpg.py: verify", "share": 0.75},
        {"name": "temporalio", "share": 0.25},
    ]


def test_a_target_that_compares_shows_both_arms() -> None:
    text = page.page()
    for title, arms in (
        ("A large queue and a small one", ("| 100 |", "| 10,000 |")),
        ("One document", ("| units | leg A, whole gate | only its SQL calls | times |",)),
        ("Next to other engines", ("| product |", "| dbos |")),
    ):
        assert [arm for arm in arms if arm not in section(text, title)] == [], title


def test_the_page_names_the_limits_of_the_comparisons() -> None:
    text = joined(section(page.page(), "Growth"))
    assert [limit for limit in growth.LIMITS if limit not in text] == []


def test_a_paragraph_and_a_list_are_wrapped() -> None:
    lines = [*page_text.paragraph("word " * 60), *page_text.listed(["word " * 60])]
    assert max(map(len, lines)) <= page_text.WIDTH
    assert page_text.listed([]) == []


def test_the_page_about_scale_repeats_the_records() -> None:
    """The cells of its two tables, made again from the records."""
    text = (page.PAGE.parents[1] / "concepts" / "scale.md").read_text(encoding="utf-8")
    tables = [[cell.strip() for cell in line.split("|")[2:-2]] for line in text.splitlines() if line.startswith("| ")]
    results = page.everything()
    full, cpu = (page_costs.of_kind(results["document"], kind) for kind in ("full", "cpu"))
    assert [row for row in tables if row[0][0].isdigit()] == [
        ["3 units", "60 units", "1,000 units"],
        [f"{row['total_ms'] / 1000:.2f} s" for row in full.values()],
        [f"{(sum(row['cpu_ms'].values()) - row['cpu_ms']['approver']) / 1000:.2f} s" for row in cpu.values()],
        *in_batches([row for row in results["batch"] if row["kind"] == "batch"]),
        *[[f"{row['gates_ms'][gate]:.0f} ms" for row in full.values()] for gate in page.WRITING],
        [f"{row['more']['history bytes']:,} bytes" for row in full.values()],
        *of_many(results),
    ]


def in_batches(batches: list[Json]) -> Iterator[list[str]]:
    """The CPU of all processes, of PostgreSQL, of Temporal and of the workers; then the speed."""
    for part in ("", "postgres", "temporal", "worker"):
        spent = [sum(ms for name, ms in batch["cpu_ms"].items() if name.startswith(part)) for batch in batches]
        yield [*(f"{ms / 1000:.2f} s" for ms in spent), "–"]
    yield [*(f"{batch['per_minute']:.0f}" for batch in batches), "–"]


def of_many(results: targets.Results) -> list[list[str]]:
    """The CPU and the memory of the large queue, and the size of the database with the most runs."""
    large, filled = results["queue"][-1], results["growth"][-1]["filled"]
    cpu, memory = sum(large["cpu_ms"].values()), large["rss_mib"]["worker-cutter"]
    return [[f"{cpu / 1000:.2f} s"], [f"{memory:.0f} MiB"], [f"{filled['mib']:,} MiB"]]
