"""IO: the evidence bundles of all documents, verified without the cluster and without any network."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.hosts.cluster import ROOT, Cluster

VERIFIER = ROOT / "scripts" / "verify" / "verify_evidence.py"
NO_NETWORK = ("unshare", "--net")
"""Root can start a process in a network of its own, which has no way out."""


def unverified(cluster: Cluster, documents: Sequence[str], folder: Path) -> list[str]:
    """The documents whose bundle does not verify, each with the first failed step."""
    with ThreadPoolExecutor(2) as auditors:
        problems = auditors.map(lambda name: verify(export(cluster, name, folder)), documents)
        return [f"{name}: {problem}" for name, problem in zip(documents, problems, strict=True) if problem]


def export(cluster: Cluster, document: str, folder: Path) -> Path:
    """`cutter evidence export`, as the operator; the auditor's copy."""
    file = cluster.operator.folder / "state" / f"{document}.tar"
    cluster.operator.cutter("evidence", "export", document, "-o", file)
    copy = folder / file.name
    copy.write_bytes(file.read_bytes())
    file.unlink()
    return copy


def verify(file: Path) -> str:
    """The first failed step, or an empty text."""
    done = subprocess.run([*NO_NETWORK, sys.executable, str(VERIFIER), str(file)], capture_output=True, text=True,
                          check=False, timeout=120, cwd=file.parent)  # fmt: skip
    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if "FAILED" in line]
    return failed[0] if failed else f"exit {done.returncode}: {done.stderr[-300:]}"


def is_forgery_seen(file: Path) -> bool:
    """The control: one byte in the middle of a bundle is another."""
    data = bytearray(file.read_bytes())
    place = data.rindex(b'"sealed_at"')
    data[place + 14] ^= 1
    forged = file.with_suffix(".forged.tar")
    forged.write_bytes(data)
    return bool(verify(forged))
