"""IO: the local stack's own parts: checks, throw-away keys, downloads and worker versions."""
