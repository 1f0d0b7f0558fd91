"""Orchestration: the commands, with one module for each command or family of commands."""
