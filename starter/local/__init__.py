"""IO: the local stack's own parts: checks and keys."""
