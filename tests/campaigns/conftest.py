"""A deployment a test, on one Temporal server a process."""

from tests.support.stack_fixtures import changed, kit, stack, temporal_address

__all__ = ["changed", "kit", "stack", "temporal_address"]
