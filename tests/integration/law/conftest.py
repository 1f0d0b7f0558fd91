"""One database with two enacted laws, a drafted one and a registered one, which the tests of this folder only read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.support import forked
from tests.support.database import Database, TestCluster
from tests.support.runs import Deployment, Driven, Keys, deployment, drive, law

ROOT = Path(__file__).parents[3]
VIETNAMESE = (ROOT / "examples" / "laws" / "thu-vien-cong-dong.vi.md").read_text(encoding="utf-8")
ACT = "ICX-ACT-1"
BEGUN = date(2026, 1, 5)
"""The first day of the enacted laws."""
RULES = "ICX-THU-VIEN"
DRAFT = "ICX-DRAFT-1"
REGISTERED = "ICX-ACT-9"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a command said: its exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The laws, and the `cutter` command on their database."""

    made: Deployment
    act: Driven
    rules: Driven

    @property
    def database(self) -> Database:
        return self.made.database

    def __call__(self, *arguments: str) -> Told:
        settings = self.made.settings
        ours = {
            "CUTTER_STATE_DIR": str(settings.state_dir), "CUTTER_DATABASE_URL": str(settings.database_url),
            "CUTTER_SECRETS_DIR": str(settings.secrets), "CUTTER_KEYS_DIR": str(settings.keys),
        }  # fmt: skip
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("CUTTER_", "TEMPORAL_"))}
        done = forked.run(arguments, {**kept, **ours}, cwd=ROOT)
        assert "Traceback" not in done.stderr, done.stderr
        return Told(code=done.returncode, out=done.stdout, err=done.stderr)


@pytest.fixture(scope="session")
def corpus(cluster: TestCluster, keys: Keys) -> Iterator[Corpus]:
    with cluster.database(prefix="law") as database, deployment(database, keys) as made:
        made.register(law(4), document_id=ACT, effective=BEGUN)
        made.register(VIETNAMESE, document_id=RULES, profile="vietnamese-law", effective=BEGUN)
        made.register(law(2, word="secret draft"), document_id=DRAFT)
        made.register(law(2, word="registered"), document_id=REGISTERED)
        act, rules = (drive(made, document_id=name) for name in (ACT, RULES))
        drive(made, document_id=DRAFT, until="IG_write_verify")
        yield Corpus(made=made, act=act, rules=rules)
