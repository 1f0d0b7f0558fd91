"""IO: one authority and the certificates of docs/guides/deploy.md, for names that all lead to loopback."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

NAMES = "subjectAltName=DNS:temporal,DNS:localhost,IP:127.0.0.1,IP:127.0.0.2\nbasicConstraints=CA:FALSE\n"
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Authority:
    """A folder that root reads, with `NAME.crt` and `NAME.key` of each certificate.

    `root` is the authority's own certificate, which everyone may read.
    """

    folder: Path
    root: Path

    def certificate(self, name: str) -> Path:
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    def issue(self, name: str) -> None:
        """A certificate for the names of the cluster, and its key."""
        request, names = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        names.write_text(NAMES, encoding="ascii")
        _openssl("req", *CURVE, "-subj", f"/CN={name}", "-keyout", self.key(name), "-out", request)
        _openssl("x509", "-req", "-days", "2", "-in", request, "-CA", self.root, "-CAkey", self.folder / "ca.key",
                 "-CAcreateserial", "-extfile", names, "-out", self.certificate(name))  # fmt: skip


def make(folder: Path, root: Path, *names: str) -> Authority:
    """A new authority with these certificates."""
    made = Authority(folder, root)
    _openssl("req", "-x509", *CURVE, "-days", "2", "-subj", "/CN=hosts authority", "-keyout", folder / "ca.key",
             "-out", made.root)  # fmt: skip
    made.root.chmod(0o644)
    for name in names:
        made.issue(name)
    return made


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)
