"""P8: mutated approvals are never accepted, good ones always.

    python -m tests.campaigns.p08_mutated_approvals --trials 10000 --seed 1 --out p08.jsonl

Every trial is one mutant of a freshly signed approval, judged whole: real gpg over its bytes with a keyring that also
holds strangers' keys, then the nine steps. To them come a tenth as many unchanged approvals, all of which must be
accepted. A mutant of kind `time` that only moves the clock keeps its bytes, so gpg says of it what it says of the
original. The control arm is a judge that takes gpg's "good" and valid YAML for an approval; it must be fooled.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from cutter.approvals import approver_store
from cutter.approvals.approver_store import NewApprover
from cutter.approvals.reader import evidence_of
from cutter.approvals.verify import verify
from cutter.errors import Unavailable
from cutter.gpg import Gpg
from cutter.openpgp import Outcome, SignatureEvidence
from tests.cases.approval_cases import COUNCIL, World, aged_key, raw_gpg, world
from tests.cases.approval_mutations import KINDS, BadKeys, Bench, Mutant, listed_approval, mutate
from tests.cases.trials import Dice, Summary, command_line, write_lines

GOOD_SHARE = 10
WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """The bench and a keyring that holds every key, strangers' too."""

    bench: Bench
    ring: Gpg

    def trial(self, seed: int, number: int) -> dict[str, Any]:
        """One mutant: what was changed, how it was judged, and whether the control judge fell for it."""
        mutant = mutate(self.bench, KINDS[number % len(KINDS)], Dice(seed, "mutant", number))
        evidence = evidence_of(mutant.document, self.ring, self.bench.world.policy.sha256)
        row = {"trial": number, "kind": mutant.kind, "how": mutant.how, "control": fooled(mutant, evidence)}
        return row | self._judged(mutant, evidence)

    def good(self, seed: int, number: int) -> dict[str, Any]:
        """One unchanged approval; every second one is signed in a list."""
        dice = Dice(seed, "good", number)
        good = self.bench.good(dice)
        good = listed_approval(good, dice) if number % 2 else good
        document = good.document
        unchanged = Mutant(kind="good", how="unchanged", document=document, expected=good.expected)
        evidence = evidence_of(document, self.ring, self.bench.world.policy.sha256)
        return {"trial": number, "kind": "good", "how": "unchanged"} | self._judged(unchanged, evidence)

    def _judged(self, mutant: Mutant, evidence: SignatureEvidence) -> dict[str, Any]:
        try:
            verdict = verify(mutant.document, evidence, expected=mutant.expected, policy=self.bench.world.policy)
        except Unavailable as problem:
            return {"accepted": False, "code": problem.code, "step": 3}
        return {"accepted": verdict.accepted, "code": verdict.code, "step": verdict.step}


def fooled(mutant: Mutant, evidence: SignatureEvidence) -> bool:
    """The control judge: gpg calls some signature good, and the front matter is YAML that says approve."""
    if not any(Outcome.GOOD in record.outcomes for record in evidence.records):
        return False
    try:
        front = yaml.safe_load(mutant.document.body.decode("utf-8", "replace").split("\n---")[0])
    except yaml.YAMLError:
        return False
    return isinstance(front, dict) and front.get("decision") == "approve"


@contextmanager
def campaign() -> Iterator[Campaign]:
    """A world whose policy also names approvers with an expired, a revoked and an RSA key."""
    with world() as made:
        before = Gpg(made.root / "before")
        try:
            bad, keys = _bad_keys(made, before)
            policed = _policed(made, keys)
            wide = Gpg(made.root / "wide")
            for data in (*keys.values(), *map(made.people.export_key, (made.alice, made.bob, made.mallory))):
                wide.import_key(data)
            yield Campaign(bench=Bench(world=policed, bad=bad), ring=wide)
        finally:
            before.stop_agent()


def _bad_keys(made: World, before: Gpg) -> tuple[BadKeys, dict[str, bytes]]:
    revoked = aged_key(before, "dave (revoked)", days=3)
    expired = aged_key(made.people, "carol (expired)", days=10, expire="1d")
    rsa = aged_key(made.people, "rick (rsa)", days=3, kind="rsa2048")
    bad = BadKeys(
        revoked=revoked,
        expired=expired,
        expired_valid_at=int(made.now.timestamp()) - 10 * 86_400 + 600,
        rsa=rsa,
        home_before_revocation=made.root / "before",
    )
    keys = {
        "dave": _revoked_public(made.root, before, revoked),
        "carol": made.people.export_key(expired),
        "rick": made.people.export_key(rsa),
    }
    return bad, keys


def _revoked_public(root: Path, before: Gpg, key: str) -> bytes:
    after = Gpg(root / "after")
    after.import_key(before.export_key(key))
    certificate = (root / "before" / "openpgp-revocs.d" / f"{key}.rev").read_bytes()
    raw_gpg(after, "--import", stdin=certificate.replace(b":-----BEGIN", b"-----BEGIN"))
    data = after.export_key(key)
    shutil.rmtree(root / "after")
    return data


def _policed(made: World, keys: dict[str, bytes]) -> World:
    keys = {"alice": made.people.export_key(made.alice), "bob": made.people.export_key(made.bob), **keys}
    approvers = [NewApprover(name=name, public_key=data, groups=(COUNCIL,)) for name, data in keys.items()]
    policy = approver_store.init(
        made.root / "all", approvers=approvers, lifecycle_group=COUNCIL, deployment_id=made.policy.deployment_id
    )
    return replace(made, policy=policy, ring=approver_store.load_current(made.root / "all", policy.sha256)[1])


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """All trials and a tenth as many good approvals."""
    with campaign() as made, ThreadPoolExecutor(WORKERS) as pool:
        rows = list(pool.map(lambda number: made.trial(seed, number), range(trials)))
        good = list(pool.map(lambda number: made.good(seed, number), range(max(1, trials // GOOD_SHARE))))
    write_lines(out, ({"seed": seed, **row} for row in (*rows, *good)))
    return summary(rows, good)


def summary(rows: list[dict[str, Any]], good: list[dict[str, Any]]) -> Summary:
    """Accepted mutants, refused good ones and mutants that gpg could not judge are failures."""
    wrong = sum(row["accepted"] or row["code"] == "could_not_verify" for row in rows)
    refused = sum(not row["accepted"] for row in good)
    result = Summary(
        name="P8 mutated approvals",
        n=len(rows),
        failures=wrong + refused,
        control=sum(row["control"] for row in rows),
        control_n=len(rows),
    )
    for row in rows:
        result.counts[f"{row['kind']}: {'accepted' if row['accepted'] else 'refused'}"] += 1
        result.counts[f"code {row['code']}"] += 1
    result.counts["good: accepted"] = len(good) - refused
    result.counts["good: refused"] = refused
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P8: mutated approvals", trials=10_000))
