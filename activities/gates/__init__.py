"""IO: the internal gates, one module each, and what they share: the runner, the pinned source, approvals."""
