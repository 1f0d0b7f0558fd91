"""Property tests are judged by what they find, never by how long an example took: machines are noisy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
