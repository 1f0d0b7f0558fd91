"""`cutter mark FILE` as a person and a machine use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from starter import cli

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "examples" / "laws" / "reading-rooms-act.en.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the command said."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def test_the_word_in_the_place_of_the_id_is_no_id(capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.run(["source", "add", str(MODEL), "--document-id", "DOCUMENT"])
    assert code == 2
    assert "stands for an id that you choose, such as ICX-LAW-2026-001" in capsys.readouterr().err


@pytest.fixture
def mark(capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    def run(*arguments: str) -> Told:
        code = cli.run(["mark", *arguments])
        output = capsys.readouterr()
        return Told(exit_code=code, stdout=output.out, stderr=output.err)

    return run


@pytest.fixture
def law(tmp_path: Path) -> Path:
    file = tmp_path / "law.md"
    file.write_text("# Article 1. [Aim](x)\ntext\n# Article 2\n# Article 2\ny\n", encoding="utf-8")
    return file


def test_units_exclusions_and_the_proof_are_shown(mark: Callable[..., Told]) -> None:
    answer = mark(str(MODEL))
    assert answer.exit_code == 0
    assert "LAW/PART-4/CHAPTER-I/ARTICLE-14" in answer.output
    assert "front_matter" in answer.output
    assert "partition proven" in answer.output


def test_a_refusal_is_one_sentence_and_exit_4(law: Path, mark: Callable[..., Told]) -> None:
    answer = mark(str(law))
    assert answer.exit_code == 4
    assert answer.stderr.count("\n") == 1
    assert "line 3" in answer.stderr


def test_a_finding_on_every_line_hides_no_other_finding(tmp_path: Path, mark: Callable[..., Told]) -> None:
    file = tmp_path / "law.md"
    text = "# Article 1\n" + "words\u2028\n" * 80 + "# Article 2\nx\n# [Article 3​](y)\nz\n"
    file.write_text(text, encoding="utf-8")
    answer = mark(str(file))
    assert answer.exit_code == 0
    assert answer.stdout.count("info line_separator") == 10
    assert "info zero_width_in_title:LAW/ARTICLE-3" in answer.stdout
    assert "70 findings more: line_separator 70 (--json has them all)" in answer.stdout


def test_choices_reach_the_marking(law: Path, mark: Callable[..., Told]) -> None:
    chosen = [str(law), "--duplicates", "ordinal", "--empty", "heading_only", "--docprefix", "ICX-9", "--json"]
    assert mark(*chosen).exit_code == 4
    answer = mark(*chosen, "--accept", "number_repeated:ICX-9/ARTICLE-2~2", "--because", "printed so")
    assert answer.exit_code == 0
    document = json.loads(answer.stdout)
    assert [unit["address"] for unit in document["candidates"]] == [
        "ICX-9/ARTICLE-1",
        "ICX-9/ARTICLE-2",
        "ICX-9/ARTICLE-2~2",
    ]
    assert document["partition"]["region_bytes"] == sum(
        document["partition"][f"{kind}_bytes"] for kind in ("candidates", "exclusions", "non_content")
    )


def test_a_refusal_for_machines_has_code_and_line(law: Path, mark: Callable[..., Told]) -> None:
    answer = mark(str(law), "--json", "--max-candidates", "2")
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
def test_wrong_usage_is_exit_2_with_one_sentence(law: Path, arguments: list[str], mark: Callable[..., Told]) -> None:
    answer = mark(str(law), *arguments)
    assert answer.exit_code == 2
    assert answer.stderr.count("\n") == 1


def test_a_missing_file_is_exit_2(tmp_path: Path, mark: Callable[..., Told]) -> None:
    assert mark(str(tmp_path / "none.md")).exit_code == 2


def test_a_profile_of_ones_own_is_read_from_a_file(law: Path, tmp_path: Path, mark: Callable[..., Told]) -> None:
    shipped = ROOT / "cutter" / "marking" / "profiles" / "us-code-style.yaml"
    own = tmp_path / "own.yaml"
    own.write_bytes(shipped.read_bytes().replace(b"id: us-code-style", b"id: own"))
    answer = mark(str(law), "--profile", str(own), "--json", "--duplicates", "ordinal", "--empty", "heading_only")
    assert json.loads(answer.stdout)["profile"]["id"] == "own"


def test_a_text_that_is_not_composed_can_be_previewed_as_it_would_be_registered(
    tmp_path: Path, mark: Callable[..., Told]
) -> None:
    file = tmp_path / "law.md"
    file.write_text("# Article 1\nca\u0301c\n", encoding="utf-8")
    refused = mark(str(file), "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["code"]) == (4, "not_nfc")
    assert mark(str(file), "--normalise", "nfc").exit_code == 0


def test_the_remains_of_pages_are_shown_and_the_clean_text_is_a_new_file(
    tmp_path: Path, mark: Callable[..., Told]
) -> None:
    law, clean = tmp_path / "law.md", tmp_path / "clean.md"
    articles = [f"# Article {page}. Aim\n\nthe {'x' * page} board {'y' * 500}\n\n" for page in range(1, 6)]
    law.write_text("".join(f"{text}Page {page} of 5\n" for page, text in enumerate(articles, 1)))
    before = law.read_bytes()
    shown = mark(str(law), "--normalise", "pages", "--out", str(clean))
    assert shown.exit_code == 0, shown.output
    assert "- page number (5 times: lines 5, 10, 15, 20, 25)" in shown.output
    assert "--normalise pages" in shown.output.split("next: ")[1]
    assert "--out" not in shown.output.split("next: ")[1]
    assert (law.read_bytes(), "Page" in clean.read_text()) == (before, False)

    answer = json.loads(mark(str(law), "--normalise", "nfc,pages", "--json").stdout)
    assert [removal["line"] for removal in answer["pages"]["removed"]][:2] == [5, 10]
    assert mark(str(law), "--normalise", "pages", "--out", str(law)).exit_code != 0
    assert law.read_bytes() == before
    wrong = mark(str(law), "--normalise", "pages,page")
    assert (wrong.exit_code, "only nfc, pages, and nfc,pages are known" in wrong.output) == (2, True)


def test_more_units_than_the_workers_allow_are_refused_with_the_name_of_the_setting(
    law: Path, mark: Callable[..., Told]
) -> None:
    refused = mark(str(law), "--max-candidates", "1098")
    assert refused.exit_code == 2
    assert "CUTTER_MAX_CANDIDATES=1098" in refused.stderr
    assert "`cutter down`, then `cutter up`" in refused.stderr


SWALLOWED = "# Article 1\nx\n\nArticle 2.\n\ny\n\n# Article 3\nz\n"
ACCEPT = ("--accept", "heading_absorbed:LAW/ARTICLE-1")


@pytest.fixture
def swallowed(tmp_path: Path) -> str:
    file = tmp_path / "law.md"
    file.write_text(SWALLOWED, encoding="utf-8")
    return str(file)


def test_a_red_finding_is_refused_with_the_line_and_the_name_to_accept(
    swallowed: str, mark: Callable[..., Told]
) -> None:
    refused = mark(swallowed)
    assert refused.exit_code == 4
    assert "line 4" in refused.stderr
    assert "--accept heading_absorbed:LAW/ARTICLE-1 --because TEXT" in refused.stderr
    refusal = json.loads(mark(swallowed, "--json").stdout)["refused"]
    assert [item["name"] for item in refusal["findings"]] == ["heading_absorbed:LAW/ARTICLE-1"]


def test_an_accepted_finding_is_shown_with_its_reason(swallowed: str, mark: Callable[..., Told]) -> None:
    answer = mark(swallowed, *ACCEPT, "--because", "a quotation")
    assert answer.exit_code == 0
    assert "accepted heading_absorbed:LAW/ARTICLE-1: a quotation" in answer.stdout
    document = json.loads(mark(swallowed, *ACCEPT, "--because", "a quotation", "--json").stdout)
    assert document["accepted"] == {"heading_absorbed:LAW/ARTICLE-1": "a quotation"}


def test_accepting_what_is_not_there_is_refused_with_the_valid_names(swallowed: str, mark: Callable[..., Told]) -> None:
    refused = mark(swallowed, *ACCEPT, "--accept", "giant_unit:LAW/ARTICLE-9", "--because", "x")
    assert refused.exit_code == 4
    assert "giant_unit:LAW/ARTICLE-9" in refused.stderr
    assert "the red findings are heading_absorbed:LAW/ARTICLE-1" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [*ACCEPT],
        ["--because", "x"],
        [*ACCEPT, *ACCEPT, "--because", "x"],
        [*ACCEPT, "--because", "x", "--because", "y"],
        [*ACCEPT, "--because", " "],
        ["--accept", "giant_unit", "--because", "x"],
        ["--nesting", "both"],
    ],
)
def test_an_acceptance_has_a_name_and_a_reason(swallowed: str, arguments: list[str], mark: Callable[..., Told]) -> None:
    refused = mark(swallowed, *arguments)
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1


def test_the_command_that_registers_the_cut_repeats_the_options(swallowed: str, mark: Callable[..., Told]) -> None:
    answer = mark(swallowed, *ACCEPT, "--because", "a quotation", "--forbid", "DIEU-44", "--remove-direction-marks")
    registers = (
        f"next: cutter source add {swallowed} --document-id DOCUMENT --forbid DIEU-44 "
        "--accept heading_absorbed:LAW/ARTICLE-1 --because 'a quotation' --remove-direction-marks\n"
    )
    assert answer.stderr == registers


def test_a_red_finding_leads_to_a_profile_for_the_text_or_to_the_rule_of_the_line(
    swallowed: str, mark: Callable[..., Told], tmp_path: Path
) -> None:
    assert mark(swallowed).stderr.endswith(f"next: cutter profile suggest {swallowed}\n")
    own = tmp_path / "own.yaml"
    own.write_text((ROOT / "cutter/marking/profiles/generic-markdown.yaml").read_text().replace("id: g", "id: own-g"))
    refused = mark(swallowed, "--profile", str(own)).stderr
    assert refused.endswith(f"next: cutter mark {swallowed} --profile {own} --explain 4\n")
