"""The whole stack in one process, and a stranger who may write to Temporal."""

from __future__ import annotations

from tests.support.stack_fixtures import changed, kit, stack, temporal_address

__all__ = ["changed", "kit", "stack", "temporal_address"]
