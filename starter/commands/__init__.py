"""Orchestration: the commands, one module each or one for a family."""
