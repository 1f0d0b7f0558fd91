"""IO: starts, watches and stops the local stack: embedded PostgreSQL, a local Temporal server, the three workers."""
