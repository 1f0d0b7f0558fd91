"""`cutter evidence export --with-law` and `cutter verify` on the real database."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cutter.evidence import offline
from tests.cases.bundle_forger import Forger
from tests.integration.living_law.texts import FIRST, SECOND
from tests.support import forked
from tests.support.database import TestCluster
from tests.support.runs import Deployment, Driven, Keys, deployment, drive

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def changed(cluster: TestCluster, keys: Keys) -> Iterator[tuple[Deployment, Driven, Driven, Driven]]:
    """A law with its revision, and a run that has enacted nothing yet."""
    with cluster.database(prefix="bundles") as database, deployment(database, keys) as made:
        first = drive(made, FIRST)
        made.register(SECOND, document_id=first.document_id)
        yield made, first, drive(made, document_id=first.document_id), drive(made, FIRST, until="IG_write_verify")


def cutter(made: Deployment, *words: str) -> tuple[int, Any, str]:
    """(Exit code, the JSON answer or None, what it said on standard error)."""
    settings = made.settings
    ours = {
        "CUTTER_STATE_DIR": str(settings.state_dir), "CUTTER_DATABASE_URL": str(settings.database_url),
        "CUTTER_SECRETS_DIR": str(settings.secrets), "CUTTER_KEYS_DIR": str(settings.keys),
        "CUTTER_APPROVERS_DIR": str(settings.approvers), "CUTTER_KB_URL": str(settings.kb),
        "CUTTER_ARTIFACTS_URL": str(settings.artifacts),
    }  # fmt: skip
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CUTTER_", "TEMPORAL_"))}
    done = forked.run((*words, "--json"), {**kept, **ours}, cwd=ROOT)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def exported(made: Deployment, run: Driven, file: Path) -> Any:
    code, answer, stderr = cutter(made, "evidence", "export", run.run_id, "--with-law", "-o", str(file))
    assert code == 0, stderr
    assert answer["law"].endswith("the sha256 is of the bundle without these two")
    return answer


def test_an_export_with_the_law_verifies_offline(changed: Any, tmp_path: Path) -> None:
    made, first, second, _ = changed
    files = []
    for n, run in enumerate((first, second)):
        files.append(tmp_path / f"{n}.tar")
        answer = exported(made, run, files[-1])
        assert answer["signature"] is None
        code, checked, _ = cutter(made, *answer["next"].split()[1:])
        words = {line["check"]: line["verdict"] for line in checked["checks"]}
        assert (code, words["the law"], words["sha256"]) == (0, offline.OK, offline.OK)
    code, checked, _ = cutter(made, "verify", *map(str, files))
    assert (code, [line["verdict"] for line in checked["checks"] if line["check"] == "predecessor"]) == (
        0, [offline.OK] * 2
    )  # fmt: skip
    assert {line["file"] for line in checked["checks"]} == {*map(str, files)}


def test_bundles_in_the_wrong_order_fail(changed: Any, tmp_path: Path) -> None:
    made, first, second, _ = changed
    for n, run in enumerate((second, first)):
        exported(made, run, tmp_path / f"{n}.tar")
    code, answer, _ = cutter(made, "verify", str(tmp_path / "0.tar"), str(tmp_path / "1.tar"))
    assert (code, answer["intact"], answer["code"]) == (1, False, "evidence_failed")
    assert "predecessor" in answer["message"]


def test_the_text_is_the_enacted_one_byte_for_byte(changed: Any, tmp_path: Path) -> None:
    made, _, second, _ = changed
    exported(made, second, tmp_path / "law.tar")
    members = offline.Bundle((tmp_path / "law.tar").read_bytes()).members
    assert members["law.md"] == SECOND.encode()
    rows = {row["address"].partition("/")[2]: row for row in map(json.loads, members["law.jsonl"].splitlines())}
    assert {name: row["operation"] for name, row in rows.items() if row["operation"] != "keep"} == {
        "PART-ONE/NEW": "create", "PART-ONE/REVISED": "revise", "PART-ONE/DROPPED": "repeal",
        "PART-ONE/MOVED": "repeal", "PART-TWO/MOVED": "create",
    }  # fmt: skip
    assert rows["PART-TWO/MOVED"]["continues"].endswith("/PART-ONE/MOVED")


def test_a_changed_text_is_not_the_signed_one(changed: Any, tmp_path: Path) -> None:
    made, first, _, _ = changed
    exported(made, first, tmp_path / "law.tar")
    forger = Forger((tmp_path / "law.tar").read_bytes())
    forger.members["law.md"] = forger.members["law.md"].replace(b"first rule", b"worst rule")
    (tmp_path / "law.tar").write_bytes(forger.sealed())
    code, answer, _ = cutter(made, "verify", str(tmp_path / "law.tar"))
    assert (code, answer["intact"], answer["code"]) == (1, False, "evidence_failed")
    assert "the law" in {line["check"] for line in answer["checks"] if line["verdict"] == offline.FAILED}


def test_a_run_without_an_enactment_has_no_law_to_export(changed: Any, tmp_path: Path) -> None:
    made, _, _, open_run = changed
    code, _, stderr = cutter(made, "evidence", "export", open_run.run_id, "--with-law", "-o", str(tmp_path / "a.tar"))
    assert code == 1
    assert "no version of it is enacted" in stderr
    assert not (tmp_path / "a.tar").exists()


def test_a_number_of_heads_that_does_not_fit_is_refused(changed: Any, tmp_path: Path) -> None:
    made, first, second, _ = changed
    for n, run in enumerate((first, second)):
        exported(made, run, tmp_path / f"{n}.tar")
    files = [str(tmp_path / f"{n}.tar") for n in range(2)]
    code, _, stderr = cutter(made, "verify", *files, "--head", "0" * 64)
    assert code == 2
    assert "give it once for each file" in stderr
