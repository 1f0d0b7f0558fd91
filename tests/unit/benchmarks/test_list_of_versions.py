"""The list of laws with their versions is complete before anyone runs it for minutes."""

from __future__ import annotations

import re

import yaml

from benchmarks.versions import LIST, Law
from cutter.marking import PROFILES, Options

LAWS = [Law(**row) for row in yaml.safe_load(LIST.read_text(encoding="utf-8"))["laws"]]


def test_it_has_laws_of_two_countries_with_at_least_three_versions_each() -> None:
    assert len(LAWS) >= 5
    assert len({law.document for law in LAWS}) == len(LAWS)
    assert len({law.repository for law in LAWS}) == 2
    for law in LAWS:
        assert len(set(law.commits)) == len(law.commits) >= 3
        assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in law.commits)


def test_each_law_names_a_shipped_profile_and_known_options() -> None:
    for law in LAWS:
        assert law.profile in PROFILES
        Options(**law.options)
