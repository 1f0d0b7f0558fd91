"""Orchestration: the commands that people type; each starts, messages or reads, and ends with an exit code."""
