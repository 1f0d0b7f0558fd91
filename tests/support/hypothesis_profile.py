"""Property tests are judged by what they find, never by how long an example took: machines are noisy."""

from __future__ import annotations

import os

from hypothesis import settings

NIGHTLY_TIMES = 10
"""`make nightly` tries this many times as many examples of the properties that read a whole deployment."""

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def costly(examples: int) -> int:
    """How many examples a property tries if each of them takes a second."""
    return examples * (NIGHTLY_TIMES if os.environ.get("CUTTER_TESTS") == "nightly" else 1)
