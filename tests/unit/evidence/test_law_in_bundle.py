"""Kept bundles of laws that changed: the text is the signed one, and each enactment names the one before it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cutter.evidence import offline
from cutter.evidence.bundle import with_law
from cutter.evidence.offline import notation
from tests.cases import law_forgeries as forgeries
from tests.cases.law_bundles import NAMES
from tests.golden.record_bundle import kept

KEPT = {name: kept(name) for name in NAMES}
GPG = shutil.which("gpg")
ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "verify" / "verify_evidence.py"


def judged(*files: bytes, gpg: str | None = GPG) -> tuple[int, list[dict[str, tuple[str, str]]]]:
    """(Exit code, step → its word and why, for each file)."""
    checked = offline.check_files(files, gpg=gpg)
    code = offline.exit_code([line for lines in checked for line in lines])
    return code, [{what: (word, why) for what, word, why in lines} for lines in checked]


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_with_its_law_verifies(name: str) -> None:
    code, (verdicts,) = judged(KEPT[name])
    assert (code, verdicts["the law"][0], verdicts["archive"][0]) == (0, offline.OK, offline.OK), verdicts


def test_the_digest_of_a_bundle_is_the_one_that_the_closeout_sealed_with_its_law_or_without() -> None:
    bundle = offline.Bundle(KEPT["law-2"])
    sealed = without_law(bundle.data)
    assert bundle.sealed_sha256 == notation.digest(sealed) != notation.digest(bundle.data)
    for data in (sealed, bundle.data):
        assert [word for what, word, _ in offline.check(data, sha256=notation.digest(sealed)) if what == "sha256"] == [
            offline.OK
        ]
    law = {name: bundle.members[name] for name in ("law.md", "law.jsonl")}
    assert with_law(sealed, law) == bundle.data


def test_a_chain_from_the_first_cut_to_the_repeal_verifies() -> None:
    code, judgements = judged(*(KEPT[name] for name in forgeries.CHAIN))
    assert (code, [verdicts["predecessor"][0] for verdicts in judgements]) == (0, [offline.OK] * 4), judgements
    receipt = offline.Bundle(KEPT["law-1"]).enactment
    assert f"with the enactment receipt {receipt}" in judgements[1]["predecessor"][1]


def test_the_law_counts_its_units_and_those_that_ended() -> None:
    assert judged(KEPT["law-1"])[1][0]["the law"][1].startswith("6 units, which digest to ")
    assert judged(KEPT["law-2"])[1][0]["the law"][1].startswith("6 units and 2 repealed ones, which digest to ")
    assert judged(KEPT["law-4"])[1][0]["the law"][1].startswith("0 units and 6 repealed ones, which digest to ")


def test_a_revision_alone_names_the_bundle_to_give_before_it() -> None:
    code, (verdicts,) = judged(KEPT["law-2"])
    first = offline.Bundle(KEPT["law-1"])
    assert (code, verdicts["predecessor"][0]) == (0, offline.NOT_CHECKED)
    assert f"run {first.run['run_id']} with the enactment receipt {first.enactment}" in verdicts["predecessor"][1]


def test_a_first_cut_has_no_predecessor() -> None:
    assert judged(KEPT["law-1"])[1][0]["predecessor"] == (
        offline.OK, "it is a first cut, so no enactment is before it"
    )  # fmt: skip


@pytest.mark.parametrize("of", ["law-1", "law-2"])
@pytest.mark.parametrize("name", forgeries.TEXTS)
def test_a_forged_text_is_refused(name: str, of: str) -> None:
    data = forgeries.forged_text(KEPT, of, name)
    for gpg in (GPG, None):
        code, (verdicts,) = judged(data, gpg=gpg)
        assert (code, verdicts["the law"][0] == offline.FAILED or verdicts["approvals"][0] == offline.FAILED) == (
            1, True,
        )  # fmt: skip


@pytest.mark.parametrize("chain", forgeries.CHAINS, ids=lambda chain: chain.name)
def test_a_forged_chain_is_refused(chain: forgeries.ForgedChain) -> None:
    for gpg in (GPG, None):
        code, _ = judged(*chain.bundles(KEPT), gpg=gpg)
        assert code == 1


@pytest.mark.parametrize(
    "chain", [chain for chain in forgeries.CHAINS if chain.edit is None], ids=lambda chain: chain.name
)
def test_genuine_bundles_that_are_not_one_chain_fail_at_the_predecessor_alone(chain: forgeries.ForgedChain) -> None:
    _, judgements = judged(*chain.bundles(KEPT))
    failed = {what for verdicts in judgements for what, (word, _) in verdicts.items() if word == offline.FAILED}
    assert failed == {"predecessor"}


def without_law(data: bytes) -> bytes:
    """The bundle as its closeout sealed it."""
    added = {"law.md", "law.jsonl", offline.MANIFEST}
    return offline.sealed({name: body for name, body in offline.Bundle(data).members.items() if name not in added})


def test_a_chain_without_its_law_is_followed_by_the_pinned_base() -> None:
    first, second, third = (without_law(KEPT[name]) for name in forgeries.CHAIN[:3])
    code, judgements = judged(first, second, third)
    assert (code, judgements[2]["predecessor"][0]) == (0, offline.OK)
    assert "only a bundle with its law shows that people signed this base" in judgements[2]["predecessor"][1]
    code, judgements = judged(first, third)
    assert (code, judgements[1]["predecessor"][0]) == (1, offline.FAILED)
    assert "the run_id of its base is not the one of the bundle before it" in judgements[1]["predecessor"][1]


def test_a_first_cut_cannot_follow_another_bundle() -> None:
    assert judged(KEPT["law-1"], KEPT["other-1"])[1][1]["predecessor"] == (
        offline.FAILED, "it is a first cut, so no bundle can be before it"
    )  # fmt: skip


def test_a_base_that_was_made_to_fit_contradicts_the_signed_digest() -> None:
    edit = next(chain for chain in forgeries.CHAINS if chain.name == "a base that was made to fit")
    _, judgements = judged(*edit.bundles(KEPT))
    assert "the units digest to" in judgements[1]["the law"][1]


def test_a_unit_of_the_base_that_is_left_out_is_seen_in_the_bundle_that_follows() -> None:
    before = offline.Bundle(KEPT["law-1"])
    members = {name: body for name, body in before.members.items() if name != offline.MANIFEST}
    rows = [json.loads(line) for line in members["law.jsonl"].splitlines()]
    members["law.jsonl"] = b"".join(f"{offline.canonical(row)}\n".encode() for row in rows[1:])
    problems = [*offline.Bundle(KEPT["law-2"]).follows(offline.Bundle(offline.sealed(members)))]
    assert problems == [f"{rows[0]['address']} does not continue or end the unit of the bundle before it"]


def test_a_law_without_an_enactment_is_refused() -> None:
    forger = forgeries.Forger(KEPT["law-1"])
    forger.drop("receipts", lambda row: row["gate"] == "IG_lifecycle_enact_execute")
    problems = [*offline.Bundle(forger.sealed()).text()]
    assert problems == ["the bundle has a law, but no receipt of its enactment"]


def test_a_text_that_fits_its_region_alone_is_refused() -> None:
    """The receipts were forged to name another region; the signed digest of the units is as it was."""
    forger = forgeries.Forger(KEPT["law-1"])
    before = notation.digest(forger.members["law.md"])
    forgeries.changed_byte(forger, forger)
    forger.everywhere(before, notation.digest(forger.members["law.md"]))
    problems = [*offline.Bundle(forger.sealed()).text()]
    kept = next(row["address"] for row in forger.rows("law") if row["address"].endswith("/KEPT"))
    assert problems == [f"the text of {kept} in law.md is not the signed one"]


def test_a_bundle_with_half_of_a_law_is_refused() -> None:
    for name in ("law.md", "law.jsonl"):
        forger = forgeries.Forger(KEPT["law-1"])
        forger.members.pop(name)
        code, (verdicts,) = judged(forger.sealed())
        assert (code, verdicts["archive"][0], verdicts["the law"][0]) == (1, offline.FAILED, offline.FAILED)


def test_options_that_do_not_fit_the_number_of_files_are_refused() -> None:
    files = [KEPT["law-1"], KEPT["law-2"]]
    with pytest.raises(ValueError, match="give --head once for each file"):
        offline.check_files(files, heads=["0" * 64])
    with pytest.raises(ValueError, match="--history belongs to one file"):
        offline.check_files(files, history=b"{}")


def test_the_stand_alone_file_follows_a_chain_and_refuses_a_swapped_one(tmp_path: Path) -> None:
    files = []
    for name in forgeries.CHAIN[:2]:
        files.append(tmp_path / f"{name}.tar")
        files[-1].write_bytes(KEPT[name])
    for order, code in ((files, 0), (files[::-1], 1)):
        words = [sys.executable, "-S", "-I", str(SCRIPT), *map(str, order)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (code, ""), done.stdout
        assert done.stdout.startswith(f"{order[0]}:\nOK           archive: ")
