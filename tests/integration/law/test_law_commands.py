"""`cutter law`: what the commands answer on two enacted laws, and what they say of a name that they do not know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.integration.law.conftest import ACT, BEGUN, DRAFT, REGISTERED, RULES, Corpus
from tests.support import printed


@pytest.mark.promise
def test_list_shows_each_law_with_its_version_in_force(corpus: Corpus) -> None:
    laws = corpus("law", "show", "--json").json["laws"]
    assert [(law["document"], law["version"], law["status"]) for law in laws] == [
        (ACT, 1, "in_force"), (RULES, 1, "in_force"),
    ]  # fmt: skip
    assert "An Act to test" in corpus("law", "show").out
    assert corpus("law", "show", "--at", "2020-01-01", "--json").json == {"laws": [], "registered": []}
    assert corpus("law", "show", "--at", str(BEGUN)).out.endswith(f"next: cutter law show {ACT} --at {BEGUN}\n")


@pytest.mark.parametrize("option", ["--at", "--recorded"])
def test_a_list_of_no_law_names_the_option_that_leaves_out_all(corpus: Corpus, option: str) -> None:
    text = corpus("law", "show", option, "2020-01-01").out
    assert text == f"no law is in force with {option} 2020-01-01: `cutter law show` shows the laws of today\n"


@pytest.mark.promise
def test_show_prints_the_text_and_who_answers_for_it(corpus: Corpus) -> None:
    text_answer = corpus("law", "show", ACT)
    assert text_answer.code == 0
    assert "The text of article 3." in text_answer.out
    answer = corpus("law", "show", ACT, "--json").json
    assert [unit["order"] for unit in answer["text"]] == [1, 2, 3, 4]
    assert {signer["name"] for signer in answer["signers"]} == {"alice", "DOT-991", "DOT-992"}


@pytest.mark.parametrize("name", ["ARTICLE-2", "article-2", f"{ACT}/ARTICLE-2"])
def test_a_unit_is_named_by_its_address_or_the_end_of_it(corpus: Corpus, name: str) -> None:
    answer = corpus("law", "show", ACT, name, "--json").json
    assert [unit["address"] for unit in answer["text"]] == [f"{ACT}/ARTICLE-2"]


def test_tree_has_the_order_of_the_source(corpus: Corpus) -> None:
    rows = corpus("law", "tree", RULES, "--json").json["tree"]
    assert [row["order"] for row in rows] == list(range(1, len(rows) + 1))
    assert max(row["depth"] for row in rows) > 0
    assert "Nguyên tắc" in corpus("law", "tree", RULES).out


def test_history_names_the_run_and_the_approvers(corpus: Corpus) -> None:
    (version,) = corpus("law", "history", ACT, "--json").json["versions"]
    assert (version["run_id"], version["operation"]) == (corpus.act.run_id, "first_cut")
    assert "alice" in corpus("law", "history", ACT).out
    (unit,) = corpus("law", "history", ACT, "ARTICLE-1", "--json").json["units"]
    assert (unit["version"], unit["status"], unit["enacted_by_version"]) == (1, "in_force", 1)


def test_search_shows_the_words_in_their_sentence(corpus: Corpus) -> None:
    hits = corpus("law", "search", "thu", "thu", "--json").json["found"]
    assert hits[0]["document"] == RULES
    assert "Thủ thư" in hits[0]["excerpt"]
    assert corpus("law", "search", "thủ", "thư", "--document", ACT, "--json").json["found"] == []
    assert "no unit in force has 'zebra'" in corpus("law", "search", "zebra").out
    assert f"no unit in force on {BEGUN} has 'zebra'" in corpus("law", "search", "zebra", "--at", str(BEGUN)).out
    of_version = ("--document", ACT, "--version", "1")
    assert f"no unit of {ACT} version 1 has 'zebra'" in corpus("law", "search", "zebra", *of_version).out


THE_DAY_BEFORE = str(BEGUN - timedelta(days=1))


@pytest.mark.parametrize(
    ("arguments", "code", "message", "step"),
    [
        (("show", "ICX-ACT-2"), 1, "is not enacted: did you mean", f"cutter law show {ACT}"),
        (("tree", "NOPE"), 1, "NOPE is not enacted", "cutter law show"),
        (("history", REGISTERED), 1, "no version of it is enacted", f"cutter run {REGISTERED}"),
        (("show", DRAFT), 1, "no version of it is enacted", f"cutter status {DRAFT}"),
        (("show", DRAFT.lower()), 1, f"{DRAFT} is registered", f"cutter status {DRAFT}"),
        (("show", ACT.lower()), 1, "is not enacted: did you mean", f"cutter law show {ACT}"),
        (("show", ACT, "ARTICLE-33"), 1, "has no unit ARTICLE-33", f"cutter law show {ACT} ARTICLE-3"),
        (("show", ACT, "zzz"), 1, "has no unit zzz", f"cutter law tree {ACT}"),
        (("history", ACT, "ARTICLE-9"), 1, "has no unit ARTICLE-9", None),
        (("show", ACT, "--version", "7"), 1, "has no version 7: its newest one is 1", f"cutter law history {ACT}"),
        (
            ("show", ACT, "--at", THE_DAY_BEFORE),
            1,
            f"was not in force on {THE_DAY_BEFORE}",
            f"cutter law show {ACT} --at {BEGUN}",
        ),
        (("show", ACT, "--at", "July"), 2, "--at July is no day", "cutter law show --help"),
        (("show", ACT, "--at", str(BEGUN), "--version", "1"), 2, "give one of both", "cutter law show --help"),
        (("diff", ACT), 1, "is the first one", f"cutter law show {ACT} --version 1"),
        (("search", "--version", "1", "x"), 2, "name the law with --document", "cutter law search --help"),
        (("search", "???"), 2, "has no letter or digit", "cutter law search library"),
    ],
)
def test_a_mistake_is_answered_with_the_next_command_which_works(
    corpus: Corpus, arguments: tuple[str, ...], code: int, message: str, step: str | None
) -> None:
    answer = corpus("law", *arguments, "--json")
    assert (answer.code, message in answer.json["message"]) == (code, True), answer
    if step is not None:
        assert answer.json["next"] == step
    if "--help" not in answer.json["next"] and "cutter run" not in answer.json["next"]:
        assert corpus(*answer.json["next"].split()[1:]).code == 0, answer.json["next"]


@pytest.mark.parametrize(
    "arguments",
    [("show",), ("show", ACT), ("tree", ACT), ("history", ACT), ("history", ACT, "ARTICLE-1"), ("search", "article"),
     ("search", "zebra")],
)  # fmt: skip
def test_each_printed_command_works(corpus: Corpus, arguments: tuple[str, ...]) -> None:
    for script in printed.scripts_in(corpus("law", *arguments).out):
        for command in script:
            assert corpus(*command.split()[1:]).code == 0, command


def test_a_day_in_the_future_has_the_law_of_today(corpus: Corpus) -> None:
    in_two_days = str(datetime.now(UTC).date() + timedelta(days=2))
    assert corpus("law", "show", ACT, "--at", in_two_days, "--json").json["version"] == 1
