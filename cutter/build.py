"""IO: the build id of this installation: the setting, or the version with a digest of the code that a worker runs."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from cutter import __version__
from cutter.settings import Settings

PARTS = ("activities", "cutter", "temporal", "workflows", "worker")
KINDS = (".py", ".sql", ".yaml", ".toml", ".j2", ".css", ".js")


def build_id(settings: Settings) -> str:
    """The name of a worker's code, such as `0.1.0-3f2a9c01d2e4`. Different code has a different name."""
    return settings.build_id or f"{__version__}-{_digest()}"


@cache
def _digest() -> str:
    hasher = hashlib.sha256()
    for part in PARTS:
        spec = find_spec(part)
        if spec is None or spec.origin is None:
            continue
        root = Path(spec.origin)
        files = sorted(root.parent.rglob("*")) if spec.submodule_search_locations else [root]
        for file in files:
            if file.suffix in KINDS:
                hasher.update(f"{part}/{file.relative_to(root.parent)}\0".encode() + file.read_bytes())
    return hasher.hexdigest()[:12]
