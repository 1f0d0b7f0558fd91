"""Pure: what people type in a small and in a large database, and the commands that no such test types, with the reason.

A word in braces is a value of the deployment, such as {run}.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from starter import cli

Words = tuple[str, ...]

BATCH: dict[str, Words] = {
    "start a batch": ("orchestrate", "batch", "--queue", "{folder}/{name}.yaml"),
    "sign its cuts": ("approve", "--batch", "{batch}"),
    "sign its enactments": ("approve", "--batch", "{batch}"),
}
"""The whole way of a batch, while the workers run."""

DECISIONS: dict[str, Words] = {
    "register": ("source", "add", "{folder}/{name}.md", "--document-id", "{decided}"),
    "run": ("run", "{decided}", "--wait"),
    "stop": ("stop", "{decided}", "--reason", "let me look"),
    "resume": ("approve", "{decided}", "--decision", "resume", "--reason", "it is right"),
    "approve": ("approve", "{decided}"),
    "acknowledge": ("approve", "{decided}", "--decision", "acknowledge_drift", "--reason", "the owner raised it"),
    "revoke": ("revoke", "{decided}", "--approval", "0" * 64, "--reason", "signed by mistake"),
    "cancel": ("cancel", "{decided}", "--reason", "wrong text"),
    "void": ("void", "{decided}", "--reason", "wrong text"),
    "run again": ("run", "{decided}", "--wait"),
    "reject": ("reject", "{decided}", "--reason", "article 4 is missing"),
}
"""What people decide about one run after the other, while the workers run."""

LOOKS: dict[str, Words] = {
    "status of a run": ("status", "{run}"),
    "status of a document": ("status", "{document}"),
    "status of a batch": ("status", "{batch}"),
    "inbox": ("inbox",),
    "request": ("request", "{run}"),
    "queues": ("queues",),
    "queue entry": ("queues", "show", "{failed}"),
    "workers": ("workers", "--all"),
    "report of a run": ("report", "{run}"),
    "report of a batch": ("report", "{batch}"),
    "reconcile": ("reconcile",),
    "rebuild": ("rebuild", "{run}"),
    "evidence": ("evidence", "export", "{run}", "-o", "{folder}/{name}.tar"),
    "audit": ("audit", "export", "--run", "{run}", "--out", "{folder}/{name}.jsonl"),
    "backups": ("backup", "list"),
    "continue a run": ("orchestrate", "resume", "--run-id", "{run}"),
    "continue a batch": ("orchestrate", "resume-batch", "--batch-id", "{batch}"),
    "law": ("law", "show", "{document}"),
    "mistyped law": ("law", "show", "ICX-{name}-11"),
    "mistyped document": ("status", "ICX-{name}-11"),
    "mistyped batch": ("status", "{unknown}"),
    "outline": ("law", "tree", "{document}"),
    "versions": ("law", "history", "{document}"),
    "versions of a unit": ("law", "history", "{document}", "ARTICLE-1"),
    "search": ("law", "search", "scope"),
    "difference": ("law", "diff", "{document}"),
    "export": ("law", "export", "{document}", "--out", "{folder}/{name}.json"),
    "verify": ("verify", "{folder}/{name}.json"),
    "policy": ("policy", "explain"),
    "policy of a gate": ("policy", "explain", "--gate", "IG_cut_leg_a_execute", "--document", "{document}"),
    "install the policy": ("policy", "install"),
    "test message": ("notify", "check", "webhook"),
    "notifications": ("notify", "check"),
    "doctor": ("doctor",),
    "caps": ("tenants", "set", "north", "--weight", "2"),
    "status": ("status",),
    "repeal": ("repeal", "{document}", "--reason", "replaced"),
}
"""What people type after a run and a batch, when no worker runs. `status` comes after the caps, which it then shows."""

FILES = "it reads files alone, and no deployment"
SERVERS = "it begins or ends servers, and reads no runs"

NOT_TYPED = {
    "tenants": "it counts the documents of every tenant",
    "transitions export": "it writes the transitions of everything",
    "backup verify": "it reads one backup, in a database of its own",
    "backup restore": "it reads one backup, as `backup verify` does",
    "backup dump": "it dumps the whole database",
    "backup load": "it loads a whole database",
    "migrate": "it compares the whole schema, and reads no runs",
    "up": SERVERS,
    "down": SERVERS,
    "demo": "it does what this test does, in a deployment of its own",
    "desk": "a server whose pages ask what `status`, `inbox`, `request` and `law` ask",
    "notify serve": "a server that delivers as `reconcile` does, and takes answers as `approve` does",
    "mark": FILES,
    "profile suggest": FILES,
    "profile words": "it adds words to the vocabulary, and reads no runs",
    "keys make": FILES,
    "keys import": FILES,
    "approvers init": "it installs the first epoch, when there are no runs",
    "approvers propose": "it reads the epoch in force alone",
    "approvers sign": "it reads the epoch in force alone",
    "approvers install": "it reads the epoch in force alone",
}
"""The commands that no step types, with the reason. With no run named, `audit export`, `rebuild` and `law show` are for
everything too."""


def commands() -> set[str]:
    """Every command, as it is typed without its arguments."""
    names = set()
    for command in cli.COMMANDS:
        built: Any = cli._built(command.name)
        if not isinstance(built, TyperGroup):
            names.add(command.name)
            continue
        names |= {f"{command.name} {name}" for name in built.commands}
        if built.invoke_without_command:
            names.add(command.name)
    return names


def typed() -> set[str]:
    """The commands that a step types."""
    known = commands()
    lines = [words for steps in (BATCH, DECISIONS, LOOKS) for words in steps.values()]
    return {" ".join(words[:2]) if " ".join(words[:2]) in known else words[0] for words in lines}
