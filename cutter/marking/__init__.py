"""Pure: marking splits a pinned law into units by a profile and proves that no byte was lost (spec 01 "mark").

The shipped profiles are data of the package and as constant as its code. `parse_profile` reads other profiles.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from cutter.errors import InvalidInput
from cutter.marking.options import Options, preview
from cutter.marking.plan import CutPlan, build_plan, rebuild_digest_reversed, rebuild_lines_reversed
from cutter.marking.profile import Profile, parse_profile
from cutter.marking.result import Candidate, Exclusion, Finding, Marking, MarkRefusal
from cutter.marking.splitter import examine, mark, mark_registered

PROFILES = (
    "brazilian-law",
    "chinese-law",
    "common-law-act",
    "dutch-law",
    "eu-regulation",
    "french-law",
    "generic-markdown",
    "german-law",
    "incomex-constitution",
    "japanese-law",
    "korean-law",
    "spanish-law",
    "us-code-style",
    "vietnamese-law",
)
"""Names of the shipped profiles."""


@cache
def load_profile(name: str) -> Profile:
    """A shipped profile by its name. Raises InvalidInput that lists the known names."""
    if name not in PROFILES:
        raise InvalidInput(f"profile {name!r} is unknown; shipped are {', '.join(PROFILES)}")
    return parse_profile(profile_bytes(name))


def profile_bytes(name: str) -> bytes:
    """The YAML of a shipped profile, in the form that is stored with a registered source."""
    return (resources.files(__name__) / "profiles" / f"{name}.yaml").read_bytes()


__all__ = [
    "PROFILES",
    "Candidate",
    "CutPlan",
    "Exclusion",
    "Finding",
    "MarkRefusal",
    "Marking",
    "Options",
    "Profile",
    "build_plan",
    "examine",
    "load_profile",
    "mark",
    "mark_registered",
    "parse_profile",
    "preview",
    "profile_bytes",
    "rebuild_digest_reversed",
    "rebuild_lines_reversed",
]
