"""IO: the effect policy that comes with cutter."""

from __future__ import annotations

from importlib import resources


def shipped() -> bytes:
    """The bytes of the policy that comes with cutter. It allows every side effect of cutter."""
    return (resources.files("cutter.policy") / "default.yaml").read_bytes()
