"""Orchestration: everything that talks to the Temporal server or names something in it."""
