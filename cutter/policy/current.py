"""IO: the effect policy in force: the file policy.yaml. A worker reads it again at every attempt."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from cutter import limits
from cutter.errors import Conflict, InvalidInput, Unavailable
from cutter.policy.rules import Broken, Policy, Problem
from cutter.policy.rules_file import parse_rules


def read(path: Path) -> Policy | Broken:
    """Read the policy of a file. A missing, unreadable or wrong file gives `Broken`, which denies everything."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.RULES_BYTES_MAX + 1)
    except FileNotFoundError:
        return _without(f"there is none at {path}: type `cutter policy install`")
    except OSError as problem:
        return _without(f"{path} cannot be read ({problem.strerror})")
    return parse_rules(data)


def shipped() -> bytes:
    """The bytes of the policy that comes with cutter. It allows every side effect of cutter."""
    return (resources.files("cutter.policy") / "default.yaml").read_bytes()


def install(path: Path, data: bytes, *, replace: bool = False) -> Policy:
    """Write a policy to `path`, so that it is in force.

    Raises InvalidInput with all problems of a wrong policy, Conflict if `path` has another policy and `replace` is
    false, and Unavailable if `path` cannot be written.
    """
    policy = parse_rules(data)
    if isinstance(policy, Broken):
        raise InvalidInput("\n".join(["the policy was not installed:", *map(str, policy.problems)]))
    try:
        if path.exists() and path.read_bytes() != data and not replace:
            raise Conflict(
                f"{path} has another policy: give --replace to put this one in its place", code="policy_exists"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        # The replacement is atomic, so a worker reads the whole old policy or the whole new one.
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(data)
        os.replace(part, path)
    except OSError as problem:
        raise Unavailable(f"{path} cannot be written ({problem.strerror})", what="policy") from None
    return policy


def _without(text: str) -> Broken:
    return Broken(problems=(Problem(line=0, rule="", text=text),))
