"""What the database said at a moment: each command answers about that moment as before, after later enactments too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from cutter import sources
from tests.integration.law.conftest import Corpus, Told
from tests.integration.law.test_law_versions import BEGUN, CHANGED, FIRST, LAW, SECOND, register
from tests.support.database import TestCluster
from tests.support.runs import Keys, deployment, drive

REPEALED = "2025-07-01"
QUESTIONS = (
    ("list",), ("list", "--at", BEGUN), ("show", LAW), ("show", LAW, "--at", CHANGED), ("show", LAW, "--at", REPEALED),
    ("show", LAW, "--version", "1"), ("tree", LAW), ("diff", LAW), ("search", "twelve"), ("search", "euros"),
    ("search", "twelv", "--document", LAW), ("export", LAW), ("export", LAW, "--version", "1"),
    ("export", LAW, "--at", CHANGED),
)  # fmt: skip
FORMS = ("markdown", "json", "akn", "jsonld")


@dataclass(slots=True, kw_only=True)
class Moments:
    """A law with three enactments, and what each command answered after each of them."""

    law: Corpus
    at: list[str] = field(default_factory=list)
    said: list[dict[str, Any]] = field(default_factory=list)

    def remember(self) -> None:
        self.at.append(self.law.database.value("select clock_timestamp()").astimezone(UTC).isoformat())
        self.said.append(self.answers())

    def answers(self, *recorded: str) -> dict[str, Any]:
        """The answer to each question, and the bytes of each form of an export."""
        return {name: shown for question in QUESTIONS for name, shown in self._answers(question, recorded)}

    def _answers(self, question: tuple[str, ...], recorded: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if question[0] != "export":
            answer = self.law("law", *question, *recorded, "--json")
            yield " ".join(question), (answer.code, answer.json if answer.code == 0 else answer.json["code"])
            return
        for form in FORMS:
            answer = self.law("law", *question, *recorded, "--form", form, "-o", "-")
            yield " ".join((*question, form)), (answer.code, answer.out)


@pytest.fixture(scope="module")
def moments(cluster: TestCluster, keys: Keys) -> Iterator[Moments]:
    with cluster.database(prefix="rec") as database, deployment(database, keys) as made:
        register(made, FIRST, BEGUN)
        first = drive(made, document_id=LAW)
        known = Moments(law=Corpus(made=made, act=first, rules=first))
        known.remember()
        register(made, SECOND, CHANGED)
        drive(made, document_id=LAW)
        known.remember()
        sources.repeal(made.settings, LAW, effective=date.fromisoformat(REPEALED), reason="No longer needed")
        drive(made, document_id=LAW)
        known.remember()
        yield known


@pytest.mark.parametrize("stage", [0, 1, 2])
@pytest.mark.thorough
def test_each_command_says_again_what_it_said_then(moments: Moments, stage: int) -> None:
    assert moments.answers("--recorded", moments.at[stage]) == moments.said[stage]


def test_the_three_moments_differ(moments: Moments) -> None:
    first, second, third = moments.said
    assert first["tree " + LAW] != second["tree " + LAW] != third["tree " + LAW]
    assert '"effective_until":null' in first[f"export {LAW} json"][1].replace(": ", ":")


def test_the_newest_moment_is_the_default(moments: Moments) -> None:
    assert moments.answers() == moments.said[-1]
    assert moments.answers("--recorded", str(datetime.now(UTC).date())) == moments.said[-1]


def test_legal_time_and_recorded_time_are_asked_apart(moments: Moments) -> None:
    """On the day of the second version, the first moment knew only the first version."""

    def version(stage: int, day: str) -> int:
        answer = moments.law("law", "show", LAW, "--at", day, "--recorded", moments.at[stage], "--json")
        return int(answer.json["version"])

    assert [version(stage, CHANGED) for stage in (0, 1, 2)] == [1, 2, 2]
    assert [version(stage, REPEALED) for stage in (0, 1, 2)] == [1, 2, 3]


def test_a_day_or_a_second_means_its_end(moments: Moments) -> None:
    kept = moments.law.database.value("select jsonb_object_agg(n, enacted_at) from public.enactment")
    moments.law.database.run("""
        alter table public.enactment disable trigger all;
        update public.enactment set enacted_at = case n when 1 then timestamptz '2024-01-10 23:59:59.5Z'
            when 2 then '2024-03-01 00:00Z' else '2024-03-02 12:00:00.7Z' end""")
    try:
        versions = [newest(moments, day) for day in ("2024-01-10", "2024-02-29", "2024-03-01", "2024-03-02T11:59:59Z",
                                                     "2024-03-02T12:00:00", "2024-03-02T12:00:00.6Z",
                                                     "2024-03-02")]  # fmt: skip
        assert versions == [1, 1, 2, 2, 3, 2, 3]
        history = moments.law("law", "history", LAW, "--json").json
        assert [newest(moments, version["enacted_at"]) for version in history["versions"]] == [1, 2, 3]
        answer = moments.law("law", "show", LAW, "--recorded", "2024-01-09", "--json")
        assert (answer.code, "was not enacted on 2024-01-09T23:59:59Z" in answer.json["message"]) == (1, True)
        assert moments.law(*answer.json["next"].split()[1:]).code == 0
        status = moments.law("law", "show", LAW, "--version", "2", "--recorded", "2024-03-01", "--json").json["status"]
        assert status == "not_yet_in_force"
    finally:
        moments.law.database.run(
            "update public.enactment set enacted_at = (%s::jsonb ->> n::text)::timestamptz", (Jsonb(kept),)
        )


def newest(moments: Moments, recorded: str) -> int:
    (law,) = moments.law("law", "show", "--recorded", recorded, "--json").json["laws"]
    return int(law["newest_version"])


@pytest.mark.parametrize(
    ("recorded", "message"),
    [
        ("July", "is no day and no time"), ("2026-13-01", "is no day and no time"),
        ("2026-07-01T99", "is no day and no time"),
        (str(datetime.now(UTC).date() + timedelta(days=2)), "nothing is recorded yet"),
    ],
)  # fmt: skip
def test_a_moment_that_nobody_can_mean_is_refused(moments: Moments, recorded: str, message: str) -> None:
    answer: Told = moments.law("law", "show", LAW, "--recorded", recorded, "--json")
    assert (answer.code, message in answer.json["message"]) == (2, True), answer


def test_an_export_of_a_moment_is_verified(moments: Moments, tmp_path: Path) -> None:
    file = tmp_path / "law.json"
    moments.law("law", "export", LAW, "--form", "json", "--recorded", moments.at[0], "-o", str(file))
    report = moments.law("verify", str(file), "--json").json
    assert (report["holds"], report["identical"]) == (True, False)
    assert report["notes"] == ["later versions have ended 6 of 6 units since"]


@pytest.mark.parametrize("role", ["cutter_api", "directus", "cutter_operator"])
def test_a_client_of_the_schema_asks_for_a_moment(moments: Moments, role: str) -> None:
    with psycopg.connect(moments.law.database.url(role), row_factory=dict_row) as connection:
        for stage, (document, effective_until) in enumerate([(None, None), (LAW, CHANGED), (LAW, CHANGED)]):
            asked = {"at": moments.at[stage], "document": document}
            known = connection.execute(
                "select * from api.law_version_recorded(%(at)s, %(document)s)", asked
            ).fetchall()  # fmt: skip
            assert [row["version"] for row in known] == list(range(1, stage + 2))
            assert str(known[0]["effective_until"] or "") == (effective_until or "")
        units = connection.execute(
            'select * from api.unit_in_force("on" => %s, recorded => %s)', (CHANGED, moments.at[0])
        ).fetchall()
        assert {(row["version"], row["effective_until"]) for row in units} == {(1, None)}
        now = connection.execute('select * from api.unit_in_force("on" => %s)', (CHANGED,)).fetchall()
        assert {row["version"] for row in now} == {2}
        columns = ("select array_agg(attname::text order by attnum) from pg_attribute"
                   " where attrelid = 'api.law_version'::regclass and attnum > 0")  # fmt: skip
        assert list(known[0]) == (connection.execute(columns).fetchone() or {})["array_agg"]
