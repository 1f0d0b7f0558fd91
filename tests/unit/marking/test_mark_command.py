"""`cutter mark FILE` as a person and a machine use it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from starter.mark import mark_command

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "examples" / "laws" / "reading-rooms-act.en.md"

app = typer.Typer()
app.command()(mark_command)


@pytest.fixture
def law(tmp_path: Path) -> Path:
    file = tmp_path / "law.md"
    file.write_text("# Article 1. [Aim](x)\ntext\n# Article 2\n# Article 2\ny\n", encoding="utf-8")
    return file


def test_units_exclusions_and_the_proof_are_shown() -> None:
    answer = CliRunner().invoke(app, [str(MODEL)], env={"COLUMNS": "200"})
    assert answer.exit_code == 0
    assert "LAW/PART-4/CHAPTER-I/ARTICLE-14" in answer.output
    assert "front_matter" in answer.output
    assert "partition proven" in answer.output


def test_a_refusal_is_one_sentence_and_exit_4(law: Path) -> None:
    answer = CliRunner().invoke(app, [str(law)])
    assert answer.exit_code == 4
    assert answer.stderr.count("\n") == 1
    assert "line 3" in answer.stderr


def test_choices_reach_the_marking(law: Path) -> None:
    chosen = [str(law), "--duplicates", "ordinal", "--empty", "heading_only", "--docprefix", "ICX-9", "--json"]
    answer = CliRunner().invoke(app, chosen)
    assert answer.exit_code == 0
    found = json.loads(answer.stdout)
    assert [unit["address"] for unit in found["candidates"]] == [
        "ICX-9/ARTICLE-1",
        "ICX-9/ARTICLE-2",
        "ICX-9/ARTICLE-2~2",
    ]
    assert found["partition"]["region_bytes"] == sum(
        found["partition"][f"{kind}_bytes"] for kind in ("candidates", "exclusions", "non_content")
    )


def test_a_refusal_for_machines_has_code_and_line(law: Path) -> None:
    answer = CliRunner().invoke(app, [str(law), "--json", "--max-candidates", "2"])
    assert answer.exit_code == 4
    assert json.loads(answer.stdout)["refused"]["code"] == "too_many_candidates"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--profile", "none"],
        ["--profile", "/nonexistent/p.yaml"],
        ["--docprefix", "x"],
        ["--duplicates", "maybe"],
        ["--max-candidates", "0"],
        ["--deepest", "clause"],
    ],
)
def test_wrong_usage_is_exit_2_with_one_sentence(law: Path, arguments: list[str]) -> None:
    answer = CliRunner().invoke(app, [str(law), *arguments])
    assert answer.exit_code == 2
    assert answer.stderr.count("\n") == 1


def test_a_missing_file_is_exit_2(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, [str(tmp_path / "none.md")]).exit_code == 2


def test_a_profile_of_ones_own_is_read_from_a_file(law: Path, tmp_path: Path) -> None:
    shipped = ROOT / "cutter" / "marking" / "profiles" / "us-code-style.yaml"
    own = tmp_path / "own.yaml"
    own.write_bytes(shipped.read_bytes().replace(b"id: us-code-style", b"id: own"))
    answer = CliRunner().invoke(
        app, [str(law), "--profile", str(own), "--json", "--duplicates", "ordinal", "--empty", "heading_only"]
    )
    assert json.loads(answer.stdout)["profile"]["id"] == "own"


def test_the_module_runs_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "starter.mark", str(MODEL), "--json"], cwd=ROOT, capture_output=True, check=True
    )
    assert len(json.loads(done.stdout)["candidates"]) == 27
