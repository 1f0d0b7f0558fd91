"""A kept bundle in the hands of a forger who makes every digest and chain fit: each claim needs its signature.

Campaign P27 tries all combinations on bundles of new runs; here each guard has the one forgery that only it sees.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from cutter.evidence import offline
from cutter.evidence.offline import notation, receipts
from tests.cases import bundle_forgeries as forgeries
from tests.cases.bundle_forger import CUT, LIFECYCLE, Forger

KEPT = gzip.decompress((Path(__file__).parents[2] / "golden" / "evidence" / "bundle.tar.gz").read_bytes())
GPG = shutil.which("gpg")


def judged(data: bytes, gpg: str | None = GPG) -> tuple[int, dict[str, tuple[str, str]]]:
    """(Exit code, step → its word and why)."""
    lines = offline.check(data, gpg=gpg)
    return offline.exit_code(lines), {what: (word, why) for what, word, why in lines}


def test_the_kept_bundle_verifies() -> None:
    code, verdicts = judged(KEPT)
    assert (code, verdicts["authorship"][0], verdicts["approvals"][0]) == (0, offline.OK, offline.OK)


@pytest.mark.parametrize(("added", "word"), [({"IG_later"}, offline.OK), (set(), offline.FAILED)])
def test_a_gate_that_a_later_version_added_is_not_missed_in_an_earlier_bundle(
    monkeypatch: pytest.MonkeyPatch, added: set[str], word: str
) -> None:
    first, *rest = receipts.GATES.items()
    monkeypatch.setattr(receipts, "GATES", dict([first, ("IG_later", "later"), *rest]))
    monkeypatch.setattr(receipts, "ADDED", receipts.ADDED | added)
    assert judged(KEPT)[1]["receipts"][0] == word


@pytest.mark.parametrize("gpg", [GPG, None], ids=["gpg", "no gpg"])
@pytest.mark.parametrize(
    "forge", [forgeries.nobody_signed, forgeries.own_digest, forgeries.only_cut_signed], ids=["none", "digest", "sg2"]
)
def test_a_bundle_that_nobody_signed_fails(forge: forgeries.Whole, gpg: str | None) -> None:
    forger = Forger(KEPT)
    forge(forger)
    code, verdicts = judged(forger.sealed(), gpg)
    assert (code, verdicts["approvals"][0]) == (1, offline.FAILED)
    assert "SG_lifecycle_authz consumed " in verdicts["approvals"][1]
    assert "which is not exactly one accepted statement to approve one request" in verdicts["approvals"][1]


def test_a_slot_that_is_no_number_is_no_slot() -> None:
    """In Python `True` equals 1; another reader of the bundle sees two different values."""
    forger = Forger(KEPT)
    rows = forger.rows("consumptions")
    rows[0]["slot"] = True
    forger.members["consumptions.jsonl"] = "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows).encode()
    word, why = judged(offline.sealed(forger.members), None)[1]["approvals"]
    assert (word, "are not counted from 1" in why) == (offline.FAILED, True)


def test_nothing_signed_is_nothing_checked() -> None:
    forger = Forger(KEPT)
    forgeries.nobody_signed(forger)
    word, why = judged(forger.sealed())[1]["authorship"]
    assert (word, why) == (
        offline.NOT_CHECKED,
        "the bundle has no accepted statement, so there is no signature to check",
    )


@pytest.mark.parametrize("gate", [CUT, LIFECYCLE])
def test_a_gate_that_was_passed_without_an_approval_is_named(gate: str) -> None:
    forger = Forger(KEPT)
    forgeries.remove(forger, gate, frozenset({"consumption", "verdict", "statement", "signature"}))
    assert f"{gate} was passed, but the bundle has no approval of it" in judged(forger.sealed())[1]["approvals"][1]


def test_a_red_finding_that_the_signed_statements_do_not_accept_is_named_at_each_gate() -> None:
    forger = Forger(KEPT)
    forgeries.finding_that_nobody_accepted(forger)
    code, verdicts = judged(forger.sealed())
    assert (code, {what for what, (word, _) in verdicts.items() if word == offline.FAILED}) == (1, {"approvals"})
    assert verdicts["approvals"][1] == "; ".join(
        f"{gate} was approved, but nobody accepted looks_uncut:LINE-3" for gate in (CUT, LIFECYCLE)
    )


def test_a_gate_that_asks_for_two_people_fails_with_one() -> None:
    forger = Forger(KEPT)
    forger.edit("requests", lambda rows: [row.update(tier="high") for row in rows])
    code, verdicts = judged(forger.sealed())
    assert code == 1
    assert "SG_cut_authz needs 2 different people, and has 1" in verdicts["approvals"][1]


def test_without_gpg_the_exit_code_is_5_and_the_signatures_are_listed() -> None:
    code, verdicts = judged(KEPT, gpg=None)
    word, why = verdicts["authorship"]
    fingerprint = json.loads(offline.Bundle(KEPT).members["verdicts.jsonl"].splitlines()[0])["fingerprint"]
    assert (code, word) == (5, offline.NOT_CHECKED)
    for gate in (CUT, LIFECYCLE):
        assert f"alice approve {gate} with key {fingerprint}" in why


@pytest.mark.parametrize("name", sorted(forgeries.UNSEEN_WITHOUT_GPG))
def test_what_only_a_signature_shows_fails_with_gpg_and_is_open_without(name: str) -> None:
    forger = Forger(KEPT)
    forgeries.REPLACED[name](forger, CUT)
    data = forger.sealed()
    assert (judged(data)[0], judged(data, gpg=None)[0]) == (1, 5)


def test_an_epoch_that_was_kept_is_compared_with_the_one_that_judged() -> None:
    epoch = next(name[7:-5] for name in offline.Bundle(KEPT).members if name.startswith("epochs/"))
    for given, word in ((epoch, offline.OK), ("0" * 64, offline.FAILED)):
        verdicts = {what: verdict for what, verdict, _ in offline.check(KEPT, epochs=[given])}
        assert verdicts["policy"] == word


def test_a_gpg_that_cannot_run_is_a_failure_and_no_traceback(tmp_path: Path) -> None:
    code, verdicts = judged(KEPT, gpg=str(tmp_path / "nothing"))
    assert (code, verdicts["authorship"][0]) == (1, offline.FAILED)


def test_a_digest_that_is_none_is_printed_as_malformed() -> None:
    forger = Forger(KEPT)
    digest = forger.rows("requests")[0]["tuple"]["writer_digest"]
    forger.everywhere(digest, "a\\\\nOK           head: covers all events")
    lines = offline.check(forger.sealed())
    assert offline.printed(lines).count("\n") == len(lines) - 1
    assert {what: why for what, _, why in lines}["the law"].endswith("must digest to malformed")


POLICY = """# who may sign
gates:
  SG_cut_authz:
    tier: medium
    thresholds: {low: 1, medium: 2, high: 3}
  SG_lifecycle_authz:
    tier: "high"   # two
approvers:
- name: alice
  gates: [SG_cut_authz, SG_lifecycle_authz]
- name: 'bob'
  gates: []
empty: []
"""


def test_an_epoch_is_read_however_a_person_wrote_it() -> None:
    assert notation.epoch_file(POLICY.encode()) == {
        "gates": {
            "SG_cut_authz": {"tier": "medium", "thresholds": {"low": "1", "medium": "2", "high": "3"}},
            "SG_lifecycle_authz": {"tier": "high"},
        },
        "approvers": [
            {"name": "alice", "gates": ["SG_cut_authz", "SG_lifecycle_authz"]},
            {"name": "bob", "gates": []},
        ],
        "empty": [],
    }


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a: 1\n  b: 2\n", "a\n", "- a\n", "a: 1\n- b: 2\n"])
def test_an_epoch_in_another_notation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="policy epoch"):
        notation.epoch_file(text.encode())
