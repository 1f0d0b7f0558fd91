"""Orchestration: the workflows."""
