"""IO: the local stack: embedded PostgreSQL, a local Temporal server, the three workers; started, watched, stopped."""
