"""IO: steps 7, 8 and 10: signatures by gpg, the policy epochs, and Temporal's history."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any as Json

from cutter.evidence.offline.members import Members
from cutter.evidence.offline.notation import canonical, digest
from cutter.evidence.offline.output import hexed
from cutter.evidence.offline.signed_list import signed_over

GPG_SECONDS = 60


class Authorship(Members):
    """Steps 7, 8 and 10. Each yields its problems or raises one of BROKEN."""

    def authorship(self, gpg: str) -> Iterator[str]:
        for row in self.accepted:
            yield from self.signed(gpg, row)

    def signed(self, gpg: str, row: Json) -> Iterator[str]:
        """The signature of an accepted statement must be good and of the person whom its policy epoch names."""
        name, person = row["approval_sha256"], self.person(row)
        key = self.members.get(f"keys/{person['key_sha256']}.asc", b"") if person else b""
        statement, file = [self.members.get(f"signed/{name}.{end}", b"") for end in ("md", "asc")]
        good, valid = verified(gpg, key, *signed_over(statement, file))
        # 7.1
        if good != 1 or len(valid) != 1 or valid[0][-1] != row["fingerprint"]:
            yield f"the signature of {hexed(name)} is not by {hexed(row['fingerprint'])}"
        # 7.2
        elif valid[0][8] not in ("8", "9", "10") or valid[0][9] != "00":
            yield f"the signature of {hexed(name)} is not a document signature with SHA-256 or better"
        # 7.3
        elif not person["not_before"] <= instant(valid[0][3]) < person["not_after"]:
            yield f"{row['approver']} signed {hexed(name)} outside the period in the policy epoch"

    def signers(self) -> str:
        """Each signer with the decision, the gate and the key, for people."""
        return ", ".join(
            f"{row['approver']} {row['decision']} {row['gate']} with key {hexed(row['fingerprint'])}"
            for row in self.accepted
        )

    # --- 8: the policy epochs

    def in_force(self, kept: Sequence[str]) -> Iterator[str]:
        named = sorted({str(row["policy_sha256"]) for row in self.accepted})
        yield from (f"you did not give the policy epoch {hexed(name)}" for name in named if name not in kept)

    # --- 10: Temporal's history

    def engine(self, history: bytes) -> Iterator[str]:
        record, events = json.loads(self.members["history.json"]), json.loads(history)["events"]
        if digest("".join(canonical(event) + "\n" for event in events[: record["events"]])) != record["sha256"]:
            yield f"its first {record['events']} events have another digest"


def verified(gpg: str, key: bytes, signed: bytes, signature: bytes) -> tuple[int, list[list[str]]]:
    """gpg's answer about one detached signature and one key: the number of good signatures, and the VALIDSIG lines."""
    with tempfile.TemporaryDirectory() as home:
        Path(home, "asc").write_bytes(signature)
        words = [gpg, "--homedir", home, "--batch", "--no-options", "--no-autostart", "--disable-dirmngr"]
        subprocess.run([*words, "--import"], input=key, capture_output=True, timeout=GPG_SECONDS, check=False)
        words += ["--status-fd", "1", "--verify", f"{home}/asc", "-"]
        done = subprocess.run(words, input=signed, stdout=-1, stderr=-3, timeout=GPG_SECONDS, check=False)
    # Only "\n" ends a line of gpg: a user id can have the other separators that `splitlines` knows.
    status = [line for line in done.stdout.decode("utf-8", "replace").split("\n") if line.startswith("[GNUPG:] ")]
    lines = [line.split(" ")[1:] for line in status]
    good = [words for words in lines if words[:1] and words[0] in ("GOODSIG", "EXPSIG", "EXPKEYSIG")]
    bad = [words for words in lines if words[:1] and words[0] in ("BADSIG", "ERRSIG", "REVKEYSIG")]
    return len(good) + 2 * len(bad), [words for words in lines if words[:1] == ["VALIDSIG"]]


def instant(seconds: str) -> str:
    """The time of a signature from gpg (Unix seconds), in the form of a policy epoch."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))
