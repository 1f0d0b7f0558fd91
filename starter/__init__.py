"""Orchestration: the commands that people type. Each command starts something, sends a message or reads, and ends with
an exit code.
"""
