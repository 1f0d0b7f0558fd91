"""P10: whatever still verifies after a bit of its signature was flipped is the same approval.

    python -m tests.campaigns.p10_signature_bit_flips --signatures 10 --seed 1 --out p10.jsonl

Every second signature is of a list. Of such a file, each bit of the place and the digests is flipped too. Every single
bit of each signature's packet is flipped, armored again with a right checksum, and judged whole by real gpg and the
nine steps. Many flips lie in what a signature does not protect and still verify: each of these must carry
the approval id of the original, so that it cannot be consumed a second time. A flip that looks like an outage of gpg is
a failure too. The control arm knows approvals by the digest of their signature instead; it must count more approvals
than there are.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from cutter.approvals.reader import evidence_of
from cutter.approvals.signed_list import SignatureFile, read_signature
from cutter.approvals.verify import verify
from cutter.domain.digests import sha256_hex
from cutter.errors import Unavailable
from cutter.openpgp import armor, dearmor
from tests.cases.approval_cases import World, world
from tests.cases.approval_mutations import Good, good_approval, listed_approval
from tests.cases.trials import Dice, Summary, command_line, write_lines

WORKERS = 2


def run(*, signatures: int, seed: int, every: int = 1, out: Path | None = None) -> Summary:
    """Flip every bit (or, with `every`, each so-many-th) of some signatures."""
    rows: list[dict[str, Any]] = []
    with world() as made, ThreadPoolExecutor(WORKERS) as pool:
        for number in range(signatures):
            dice = Dice(seed, "p10", number)
            good = good_approval(made, dice)
            good = listed_approval(good, dice) if number % 2 else good
            before, packets = parts(good)
            bits = range(number % every, (len(before) + len(packets)) * 8, every)
            rows += pool.map(lambda bit, good=good, number=number: flip(made, good, number, bit), bits)
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


def parts(good: Good) -> tuple[bytes, bytes]:
    """The lines of a signature file before its armored signature, and the packets in it."""
    file = read_signature(good.document.signature)
    assert isinstance(file, SignatureFile)
    packets = dearmor(file.openpgp)
    assert isinstance(packets, bytes)
    return good.document.signature.removesuffix(file.openpgp), packets


def flip(made: World, good: Good, number: int, bit: int) -> dict[str, Any]:
    """Judge one approval whose signature has one bit changed."""
    before, packets = parts(good)
    changed = bytearray(before + packets)
    changed[bit // 8] ^= 1 << (bit % 8)
    signature = bytes(changed[: len(before)]) + armor(bytes(changed[len(before) :]))
    document = replace(good.document, signature=signature)
    row: dict[str, Any] = {"signature": number, "bit": bit, "original": good.document.approval_sha256}
    evidence = evidence_of(document, made.ring, made.policy.sha256)
    try:
        verdict = verify(document, evidence, expected=good.expected, policy=made.policy)
    except Unavailable as problem:
        return row | {"accepted": False, "code": problem.code, "approval": None, "control": None}
    control = sha256_hex(signature) if verdict.accepted else None
    return row | {
        "accepted": verdict.accepted, "code": verdict.code, "approval": verdict.approval_sha256, "control": control
    }  # fmt: skip


def summary(rows: list[dict[str, Any]]) -> Summary:
    """An accepted flip with another approval id is a failure, and so is one that gpg could not judge."""
    accepted = [row for row in rows if row["accepted"]]
    other = sum(row["approval"] != row["original"] for row in accepted)
    unjudged = sum(row["code"] == "could_not_verify" for row in rows)
    originals = {row["original"] for row in accepted}
    result = Summary(
        name="P10 signature bit flips",
        n=len(rows),
        failures=other + unjudged,
        control=len({row["control"] for row in accepted}) - len(originals),
        control_n=len(accepted),
        counts=Counter(f"code {row['code']}" for row in rows),
    )
    result.counts["signatures"] = len({row["signature"] for row in rows})
    result.counts["still accepted, as the same approval"] = len(accepted) - other
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P10: bit flips of signatures", signatures=10, every=1))
