"""Orchestration: the table of commands: what to type, and the module and name of the function that does it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to type, and where it is: a function, or a `typer.Typer` for a whole family. A space makes a group."""

    name: str
    module: str
    attribute: str

    def load(self) -> Any:
        return getattr(importlib.import_module(self.module), self.attribute)


COMMANDS = tuple(
    Command(name=name, module=f"starter.commands.{module}", attribute=attribute)
    for name, module, attribute in (
        ("up", "up", "up"),
        ("down", "up", "down"),
        ("doctor", "doctor", "doctor"),
        ("demo", "demo", "demo"),
        ("migrate", "up", "migrate"),
        ("source add", "source", "add"),
        ("repeal", "source", "repeal"),
        ("mark", "mark", "mark_command"),
        ("profile", "profile", "app"),
        ("run", "run", "run"),
        ("orchestrate resume", "run", "resume"),
        ("orchestrate batch", "batch", "batch"),
        ("orchestrate resume-batch", "batch", "resume_batch"),
        ("inbox", "inbox", "inbox"),
        ("request", "pages", "request"),
        ("approve", "approve", "approve"),
        ("reject", "approve", "reject"),
        ("revoke", "approve", "revoke"),
        ("stop", "stop", "stop"),
        ("cancel", "stop", "cancel"),
        ("void", "stop", "void"),
        ("approvers", "approvers", "app"),
        ("keys", "keys", "app"),
        ("policy", "policy", "app"),
        ("status", "status", "status"),
        ("queues", "inbox", "app"),
        ("workers", "workers", "workers"),
        ("tenants", "tenants", "app"),
        ("report", "pages", "report"),
        ("reconcile", "reconcile", "reconcile"),
        ("rebuild", "rebuild", "rebuild"),
        ("backup", "backup", "app"),
        ("law show", "law", "show_law"),
        ("law tree", "law", "tree"),
        ("law history", "law", "history"),
        ("law search", "law", "search"),
        ("law diff", "law", "diff"),
        ("law export", "law_export", "export"),
        ("desk", "pages", "desk"),
        ("verify", "verify", "verify"),
        ("audit", "audit", "app"),
        ("transitions", "audit", "transitions_app"),
        ("evidence", "evidence", "app"),
        ("notify", "notify", "app"),
    )
)
"""Every command. A new one is one row here and one function there."""
