"""IO: the reconciler: it compares PostgreSQL with Temporal and resolves or reports each difference."""
