"""IO: writes the pages that are made from code (gates, lifecycles, settings, commands, trace); a test holds them.

`python -m docs.generate` writes; `pages()` gives {path: text}.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cutter import limits
from cutter.catalogue import GATES, Sovereign, State
from cutter.gates.report import OURS, PROBE, PROBE_RULES
from cutter.law import export_record
from cutter.notifications import webhook
from cutter.settings import PREFIX, Settings
from docs import law_api, lifecycles, trace, verifier

HERE = Path(__file__).resolve().parent
MADE = "This page is generated from the code by `python -m docs.generate`, and a test compares them."


def pages() -> dict[str, str]:
    """Every generated page."""
    return {
        "reference/gates.md": gates(),
        "reference/settings.md": settings(),
        "reference/commands.md": commands(),
        "reference/lifecycles.md": lifecycles.page(MADE),
        "internals/trace.md": trace.page(MADE),
        "../README.md": readme(),
        "reference/notification.schema.json": json.dumps(webhook.schema(), indent=2) + "\n",
        "reference/law-api.md": law_api.page(MADE),
        "../scripts/verify/verify_evidence.py": verifier.script(),
        "reference/law-export.schema.json": json.dumps(export_record.json_schema(), indent=2) + "\n",
    }


def readme() -> str:
    """The README with its diagram made again, from left to right."""
    before, _, rest = (HERE.parent / "README.md").read_text(encoding="utf-8").partition("```mermaid\n")
    made = diagram().replace("stateDiagram-v2\n", "stateDiagram-v2\n    direction LR\n")
    return before + made + rest.partition("\n```")[2]


def diagram() -> str:
    """The states as a mermaid state diagram."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> pending"]
    for gate in GATES:
        if gate.sovereign is not None:
            before = GATES[gate.number - 2].to_state.value
            number = 1 if gate.sovereign is Sovereign.CUT else 2
            lines.append(f"    {before} --> {gate.from_state.value}: SG_{number} request")
            lines.append(f"    {gate.from_state.value} --> {gate.to_state.value}: signed approval, {gate.name}")
        else:
            lines.append(f"    {gate.from_state.value} --> {gate.to_state.value}: {gate.name}")
    lines += [f"    {State.CLOSEOUT_REPORTED.value} --> [*]", "```"]
    return "\n".join(lines)


def gates() -> str:
    """Gates, states, roles, caps and effects."""
    rows = [
        f"| {gate.number} | `{gate.name}` | {gate.from_state.value} → {gate.to_state.value} | {gate.role.value} | "
        f"{gate.worker.value} | {gate.cap_minutes} | {gate.effect.value.replace('_', ' ')} | {gate.report} |"
        for gate in GATES
    ]
    head = [
        "# States and gates",
        "",
        MADE,
        "",
        diagram(),
        "",
        "There are also three families of states: `failed_<phase>`, `failed_rejected`, `failed_policy` (terminal),",
        "`stopped_<reason>` (the workflow stays open and waits) and `voided_<reason>` (terminal). `cutter status`",
        "names the next command. [A run and its gates](../concepts/run.md) explains them.",
        "",
        "| # | gate | moves | connects as | worker | soft cap, min | effect on the surveyed state | report |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    tail = [
        "",
        f"Hard cap: {limits.HARD_CAP_MINUTES} minutes of active time. Retries: {limits.RETRIES_A_GATE} a gate, "
        f"{limits.FAILURE_BUDGET_A_RUN} a run, after {', '.join(map(str, limits.RETRY_DELAYS_SECONDS))} seconds.",
        "",
    ]
    return "\n".join([*head, *rows, *tail, *probe()])


def probe() -> list[str]:
    """The structural probe by the seed's numbers."""
    return [
        "## The structural probe by the seed's numbers",
        "",
        "Seed 000 §4 asks `IG_structural_verify` for eleven booleans that match OD-W2 to OD-W9. The report's notes",
        "and `additional.probe_names` in `state.json` have the same table. `gate_invariants` in `state.json` holds the",
        "seed's invariants, here exactly eleven. Our own invariants are in `additional.gate_invariants`.",
        "",
        "| number | means | our names |",
        "| --- | --- | --- |",
        *(
            f"| {number} | {PROBE_RULES[number]} | "
            + ", ".join(f"`{name}`" + (" (ours)" if name in OURS["IG_structural_verify"] else "") for name in names)
            + " |"
            for number, names in PROBE.items()
        ),
        "",
    ]


def settings() -> str:
    """The settings object as a table."""
    rows = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default is None or repr(field.default) == "PydanticUndefined" else f"`{field.default}`"
        rows.append(f"| `{PREFIX}{name.upper()}` | {default} | {field.description} |")
    return "\n".join(
        [
            "# Settings",
            "",
            MADE,
            "",
            "Each process reads its settings once, at its start: from the environment, then from `cutter.toml`. It",
            "refuses an unknown or malformed setting by name. Secrets are files, never settings. Temporal's own",
            "connection settings are `TEMPORAL_*`.",
            "",
            "| variable | default | meaning |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def commands() -> str:
    """Every command with its one-line help and its example, and the exit codes."""
    from starter.cli import app
    from starter.console.terminal import EXIT_CODES

    rows = [f"| `cutter {name}` | {text.split(chr(10))[0]} | `{example(text)}` |" for name, text in helps(app())]
    codes = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    introduction = [
        "Every command has `--help` and `--json`. With `--json` a failure is one object on standard output: `code`,",
        "`message`, and `next`. `next` is the command to type, or null if none helps.",
    ]
    return "\n".join(["# Commands", "", MADE, "", *introduction, "",
                      "| command | does | example |", "| --- | --- | --- |", *rows, "", "## Exit codes", "",
                      "| code | means |", "| --- | --- |", *codes, ""])  # fmt: skip


def helps(group: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Full names of all commands below a group, each with its help."""
    pairs = []
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        is_group = hasattr(command, "list_commands")
        if not is_group or command.invoke_without_command:
            pairs.append((prefix + name, (command.help or "").strip()))
        if is_group:
            pairs += helps(command, f"{prefix}{name} ")
    return pairs


def example(text: str) -> str:
    """The line to type in a command's help; empty when it has none."""
    return next((line.strip().partition("Example: ")[2] for line in text.split("\n") if "Example: " in line), "")


if __name__ == "__main__":
    for page, text in pages().items():
        (HERE / page).write_text(text, encoding="utf-8")
