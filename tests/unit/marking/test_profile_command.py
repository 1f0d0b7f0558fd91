"""`cutter profile suggest` and `cutter mark --explain` as a person and a machine use them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cutter.marking import parse_profile
from starter import cli
from tests.unit.marking.test_mark_command import Told

LAW = "# Act\n\nArticle 1. Aim\n\nText.\n\nArticle 2. Scope\n\nArticle 1 of this act counts.\n"


@pytest.fixture
def cutter(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Told]:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Told:
        code = cli.run(list(arguments))
        output = capsys.readouterr()
        return Told(exit_code=code, stdout=output.out, stderr=output.err)

    return run


@pytest.fixture
def law(tmp_path: Path) -> Path:
    file = tmp_path / "law.md"
    file.write_text(LAW, encoding="utf-8")
    return file


def test_the_profile_is_written_and_cuts_the_text(law: Path, cutter: Callable[..., Told]) -> None:
    answer = cutter("profile", "suggest", str(law))
    assert answer.exit_code == 0, answer.output
    assert "confidence: high" in answer.stdout
    assert "ARTICLE-2  Article 2. Scope" in answer.stdout
    profile = parse_profile(Path("law.profile.yaml").read_bytes())
    assert profile.id == "suggested-law"
    marked = cutter("mark", str(law), "--profile", "law.profile.yaml", "--json")
    assert [unit["address"] for unit in json.loads(marked.stdout)["candidates"]] == [
        "LAW/ACT", "LAW/ARTICLE-1", "LAW/ARTICLE-2",
    ]  # fmt: skip


def test_profiles_with_the_same_result_share_a_row(law: Path, cutter: Callable[..., Told]) -> None:
    rows = cutter("profile", "suggest", str(law)).stdout.splitlines()
    assert len([row for row in rows if "german-law" in row]) == 1
    assert any("dutch-law, generic-markdown, german-law" in row for row in rows)


def test_a_text_without_headings_leads_to_the_sign_and_to_the_same_command(
    tmp_path: Path, cutter: Callable[..., Told]
) -> None:
    prose = tmp_path / "prose.md"
    prose.write_text("Only words.\n")
    text = cutter("profile", "suggest", str(prose)).stdout
    assert text.startswith("no levels: ")
    assert "first: put `# ` before each line that begins a unit\n" in text
    again = text.splitlines()[-1].partition("next: ")[2].split()
    prose.write_text("# Only words\n\nThat count.\n")
    assert "next: cutter mark" in cutter(*again[1:]).stdout


def test_a_machine_gets_the_profile_and_what_was_left_out(law: Path, cutter: Callable[..., Told]) -> None:
    answer = cutter("profile", "suggest", str(law), "--refine", "word Article is text", "--json")
    document = json.loads(answer.stdout)
    assert document["profile"]["path"] == "law.profile.yaml"
    assert document["yaml"] == Path("law.profile.yaml").read_text(encoding="utf-8")
    assert [line["line"] for line in document["unused"]] == [3, 7]
    assert {alternative["profile"] for alternative in document["alternatives"]} >= {
        "generic-markdown", "vietnamese-law",
    }  # fmt: skip


def test_a_profile_that_is_there_is_not_replaced_without_force(law: Path, cutter: Callable[..., Told]) -> None:
    Path("law.profile.yaml").write_text("mine", encoding="utf-8")
    refused = cutter("profile", "suggest", str(law))
    assert refused.exit_code == 4
    assert "--force" in refused.output
    assert Path("law.profile.yaml").read_text(encoding="utf-8") == "mine"
    assert cutter("profile", "suggest", str(law), "--force").exit_code == 0
    assert cutter("profile", "suggest", str(law)).exit_code == 0


def test_a_wrong_correction_or_name_is_a_mistake_of_the_command_line(law: Path, cutter: Callable[..., Told]) -> None:
    assert cutter("profile", "suggest", str(law), "--refine", "line 900 is a chapter").exit_code == 2
    assert cutter("profile", "suggest", str(law), "--output", "law.txt").exit_code == 2
    assert not Path("law.profile.yaml").exists()


def test_a_text_that_cannot_be_read_is_refused(tmp_path: Path, cutter: Callable[..., Told]) -> None:
    file = tmp_path / "law.md"
    file.write_bytes(b"# Act\n\xff\n")
    assert cutter("profile", "suggest", str(file)).exit_code == 4


def test_the_rule_of_a_line_is_named(law: Path, cutter: Callable[..., Told]) -> None:
    cutter("profile", "suggest", str(law))
    answer = cutter("mark", str(law), "--profile", "law.profile.yaml", "--explain", "3", "--explain", "9", "--json")
    rules = [
        (explanation["line"], explanation["verdict"], explanation["rule"], explanation["address"])
        for explanation in json.loads(answer.stdout)["explained"]
    ]
    assert rules == [(3, "unit", "word", "LAW/ARTICLE-1"), (9, "text", "no_sign", "LAW/ARTICLE-2")]
    plain = cutter("mark", str(law), "--explain", "3")
    assert plain.exit_code == 0
    assert "line 3 is text (form_not_read)" in plain.stdout
    assert "read in the forms atx" in plain.stdout
    assert plain.stderr == f"to change that: cutter profile suggest {law} --refine 'line 3 is an article'\n"


def test_after_an_explanation_a_person_edits_their_own_profile(law: Path, cutter: Callable[..., Told]) -> None:
    cutter("profile", "suggest", str(law))
    answer = cutter("mark", str(law), "--profile", "law.profile.yaml", "--explain", "3")
    again = f"cutter mark {law} --profile law.profile.yaml"
    assert answer.stderr == f"to change that, edit law.profile.yaml, then: {again}\n"


def test_after_the_explanation_of_a_blank_line_the_whole_cut_is_next(law: Path, cutter: Callable[..., Told]) -> None:
    assert cutter("mark", str(law), "--explain", "2").stderr == f"next: cutter mark {law}\n"


def test_a_heading_that_is_explained_can_become_text(tmp_path: Path, cutter: Callable[..., Told]) -> None:
    file = tmp_path / "law.md"
    file.write_text("# Act\n\n## Article 1\n\nx\n\n## Article 2\n\ny\n", encoding="utf-8")
    answer = cutter("mark", str(file), "--explain", "3")
    assert answer.stderr == f"to change that: cutter profile suggest {file} --refine 'line 3 is text'\n"


def test_a_refused_text_is_explained_before_it_is_refused(tmp_path: Path, cutter: Callable[..., Told]) -> None:
    file = tmp_path / "law.md"
    file.write_text("# Act\n\n## Article 1\n\n## Article 2\n\nx\n", encoding="utf-8")
    answer = cutter("mark", str(file), "--explain", "3")
    assert answer.exit_code == 4
    assert "line 3 is a unit (word)" in answer.stdout
    assert "refused (childless_heading)" in answer.stderr


def test_a_text_with_red_findings_is_suggested_for_and_explained(tmp_path: Path, cutter: Callable[..., Told]) -> None:
    file = tmp_path / "law.md"
    file.write_text(
        "# Act\n\n## Article 1\n\nx\n\n## Article 2\n\nSee article 4.\n\n## Article 5\n\nx\n", encoding="utf-8"
    )
    answer = cutter("profile", "suggest", str(file))
    assert answer.exit_code == 0, answer.output
    assert "confidence: low" in answer.stdout
    assert "red number_missing:LAW/ARTICLE-5: line 11:" in answer.stdout
    document = json.loads(cutter("profile", "suggest", str(file), "--json").stdout)
    assert [finding["name"] for finding in document["red"]] == ["number_missing:LAW/ARTICLE-5"]
    assert cutter("mark", str(file)).exit_code == 4
    explained = cutter("mark", str(file), "--explain", "11")
    assert explained.exit_code == 0
    assert "line 11 is a unit (word)" in explained.stdout


def test_a_line_that_is_not_there_is_a_mistake(law: Path, cutter: Callable[..., Told]) -> None:
    assert cutter("mark", str(law), "--explain", "99").exit_code == 2


def test_direction_marks_are_removed_on_request(tmp_path: Path, cutter: Callable[..., Told]) -> None:
    file = tmp_path / "law.md"
    file.write_text("# Act\n\n## Article 1. \u202eScope\n\nOne.\n", encoding="utf-8")
    assert "bidi_in_heading" in cutter("mark", str(file)).stderr
    answer = cutter("mark", str(file), "--remove-direction-marks", "--json")
    assert json.loads(answer.stdout)["candidates"][1]["title"] == "Article 1. Scope"


RISING = "Điều 1. A\n\nx\n\nĐiều 9. B\n\nx\n\nĐiều 2. C\n\nx\n\nĐiều 3. D\n\nx\n"


@pytest.mark.parametrize(
    ("text", "profile", "line", "rule"),
    [
        ("## Chapter I\n## GENERAL\n\n### Article 1\n\nx\n", "generic-markdown", 2, "merged_title"),
        ("CHAPTER I\n\nGeneral\n\nArticle 1\n\nAim\n\nx\n", "eu-regulation", 3, "next_line_title"),
        ("Article 1\n\nAim\n\n(1)\n\nx\n", "eu-regulation", 5, "only_before"),
        ("# Điều 1. A\n\n1. Khoản\n", "vietnamese-law", 3, "below_deepest"),
        ("# A\n\n    # B\n", "generic-markdown", 3, "indented"),
        ("# A\n\n```\n# B\n```\n", "generic-markdown", 4, "code_block"),
        ("# A\n\n##\n\nx\n", "generic-markdown", 3, "bare_heading"),
        (RISING, "vietnamese-law", 5, "numbering_break"),
        ("# Điều 1. A\n\nx\n\nĐiều 2. B\n\nx\n", "vietnamese-law", 5, "other_form"),
        ("Intro\n\n# A\n\nx\n", "generic-markdown", 1, "excluded"),
    ],
)
def test_each_rule_has_a_line_that_it_decides(
    tmp_path: Path, cutter: Callable[..., Told], text: str, profile: str, line: int, rule: str
) -> None:
    file = tmp_path / "law.md"
    file.write_text(text, encoding="utf-8")
    answer = cutter(
        "mark", str(file), "--profile", profile, "--empty", "heading_only", "--explain", str(line), "--json"
    )
    assert [explanation["rule"] for explanation in json.loads(answer.stdout)["explained"]] == [rule]


def test_direction_marks_in_a_heading_without_a_sign_lead_to_the_option_and_not_in_a_circle(
    tmp_path: Path, cutter: Callable[..., Told]
) -> None:
    file = tmp_path / "marks.md"
    file.write_text("Article 1. A\u200eim\n\nText.\n\nArticle 2. Scope\n\nMore.\n", encoding="utf-8")
    answer = json.loads(cutter("profile", "suggest", str(file), "--json").stdout)
    assert (answer["refused"], answer["needs"]) == (None, ["--remove-direction-marks"])
    assert answer["next"].endswith("--profile marks.profile.yaml --remove-direction-marks")
    assert cutter(*answer["next"].split()[1:]).exit_code == 0


def test_suggest_takes_the_option_that_a_red_finding_names_and_passes_it_on(
    law: Path, cutter: Callable[..., Told]
) -> None:
    answer = json.loads(cutter("profile", "suggest", str(law), "--nesting", "words", "--json").stdout)
    assert answer["next"].endswith("--profile law.profile.yaml --nesting words")
    assert cutter(*answer["next"].split()[1:]).exit_code == 0
    wrong = cutter("profile", "suggest", str(law), "--nesting", "both")
    assert (wrong.exit_code, "hashes, words" in wrong.stderr) == (2, True)


@pytest.mark.parametrize("data", [b"", b" \n", b"<html><p>x", b"<?xml version='1.0'?><a/>", b"PK\x03\x04word/\xff"])
def test_a_file_without_a_text_gets_no_profile_and_no_command_that_repeats_itself(
    tmp_path: Path, cutter: Callable[..., Told], data: bytes
) -> None:
    file = tmp_path / "law.docx"
    file.write_bytes(data)
    answer = cutter("profile", "suggest", str(file))
    assert (answer.exit_code, Path("law.profile.yaml").exists()) == (4, False)
    assert "--force" not in answer.output
