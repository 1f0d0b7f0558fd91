"""IO: `cutter policy`: puts a policy.yaml in force, reads one as the workers would, and explains which rule decides."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from cutter.catalogue import BY_NAME, GATES, Role, Sovereign, stands_on
from cutter.domain import ids
from cutter.domain.timestamps import EXAMPLE, parse_instant
from cutter.errors import InvalidInput, NotFound
from cutter.policy import rules
from cutter.policy.command import OPERATIONS, PLACES, Operation, operations_at
from cutter.policy.rules import EffectPolicy, InvalidPolicy, ProposedAction, Verdict, shadowed
from cutter.policy.rules_file import parse_rules, shipped
from cutter.settings import load
from cutter.storage import policies
from cutter.storage.pools import session
from starter.commands.options import RunMode
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, fields, show, table

app = typer.Typer(help="What side effects are allowed: policy.yaml.", no_args_is_help=True, add_completion=False)

IN_FORCE = "the policy in force"
"""The name of the policy that PostgreSQL holds, in the place of a file's name."""


@app.command()
def install(
    file: Annotated[Path | None, typer.Argument(help="A policy.yaml; default: the shipped one")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the policy that is in force.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a policy in force; without a file, the shipped policy, which allows every side effect of the product.

    Example: cutter policy install policy.yaml
    """
    data = _read(file) if file else shipped()
    with session(load(), Role.OPERATOR) as connection:
        made = policies.install(connection, data, replace=replace)
    _show(made, IN_FORCE, as_json=as_json)


@app.command()
def explain(
    file: Annotated[Path | None, typer.Argument(help="A policy.yaml; default: the one in force")] = None,
    gate: Annotated[str | None, typer.Option(help="A gate such as IG_cut_leg_a_execute, or a sovereign one")] = None,
    document: Annotated[str | None, typer.Option(help="Document id")] = None,
    tenant: Annotated[str | None, typer.Option(help="Default: the setting CUTTER_TENANT")] = None,
    mode: RunMode = "live",
    candidates: Annotated[int | None, typer.Option(help="Units of the law; not given: not known yet")] = None,
    at: Annotated[str | None, typer.Option(help=f"A time such as {EXAMPLE}; default: now")] = None,
    as_json: AsJson = False,
) -> None:
    """Read a policy as the workers would, and list its rules and all that is wrong; exit 1 if it denies everything.

    With --gate and --document, say for each side effect of the gate which rule decides, with its line, and why the
    rules above it do not.

    Example: cutter policy explain policy.yaml

    Example: cutter policy explain --gate IG_backup --document ICX-LAW-2026-001
    """
    settings, path = load(), str(file) if file else IN_FORCE
    if (gate is None) != (document is None):
        raise InvalidInput("--gate and --document go together")
    if file is not None:
        policy = parse_rules(_read(file))
    else:
        with session(settings, Role.OPERATOR) as connection:
            policy = policies.in_force(connection)
    if gate is None or document is None:
        _show(policy, path, as_json=as_json)
        return
    effects, document_id = _effects(gate), ids.document_id(document)
    moment = parse_instant(at) if at else datetime.now(UTC)
    if moment is None:
        raise InvalidInput(f"--at {at}: a time such as {EXAMPLE}")
    decided = []
    for place, operation in effects:
        action = ProposedAction(
            connector=operation.connector, operation=operation.name, gate=place, document_id=document_id,
            tenant=tenant or settings.tenant, mode=mode, candidates=candidates, at=moment,
        )  # fmt: skip
        decision, passed = rules.explain(policy, action)
        decided.append({
            "gate": place, "connector": operation.connector, "operation": operation.name,
            "verdict": decision.verdict.value, "tier": decision.tier.value if decision.tier else None,
            "rule": decision.rule or None, "line": decision.line, "why": decision.why,
            "then": _then(place, decision.verdict),
            "passed": [{"rule": miss.rule.name, "line": miss.rule.line, "why": miss.why} for miss in passed],
        })  # fmt: skip
    answer = {"file": path, "sha256": policy.sha256, "decisions": decided}
    show(answer, as_json=as_json, render=lambda out: _render(out, decided))


def _effects(gate: str) -> list[tuple[str, Operation]]:
    """Maps (gate, operation) to its side effects. A sovereign gate also has the writes that its approval authorises."""
    if gate not in PLACES:
        raise InvalidInput(f"--gate {gate}: there is no such gate; known: {', '.join(PLACES)}")
    ahead = [later_gate for later_gate in GATES if gate in tuple(Sovereign) and stands_on(later_gate) == gate]
    writes = [
        (later_gate.name, operation)
        for later_gate in ahead
        for operation in OPERATIONS
        if later_gate.name in operation.places
    ]
    return [*((gate, operation) for operation in operations_at(gate)), *writes]


def _then(place: str, verdict: Verdict) -> str:
    """What happens to a run that reaches this gate."""
    match verdict:
        case Verdict.ALLOW:
            return "it continues"
        case Verdict.DENY:
            return "nothing is written; the run ends as failed_policy"
        case Verdict.NEEDS_APPROVAL:
            gate = BY_NAME[place]
            sovereign = stands_on(gate)
            if sovereign is not None:
                return f"{sovereign} asks for as many people as the tier does"
            return f"the run waits as stopped_policy_{gate.phase} for as many signed resumes as the tier asks for"


def _render(out: Console, decided: list[dict[str, Any]]) -> None:
    for decision in decided:
        shown = {
            "side effect": f"{decision['connector']} {decision['operation']} at {decision['gate']}",
            "verdict": f"{decision['verdict']}({decision['tier']})" if decision["tier"] else decision["verdict"],
            "why": decision["why"],
            "then": decision["then"],
        }
        out.print(fields(shown), soft_wrap=True)
        if decision["passed"]:
            rows = [(passed["rule"], passed["line"], passed["why"]) for passed in decision["passed"]]
            out.print(table(("rule above it", "line", "does not match, since"), rows), soft_wrap=True)
        out.print()


def _show(policy: EffectPolicy | InvalidPolicy, path: str, *, as_json: bool) -> None:
    if isinstance(policy, InvalidPolicy):
        problems = [{"line": problem.line, "rule": problem.rule, "text": problem.text} for problem in policy.problems]
        wrong = {"file": path, "sha256": policy.sha256, "good": False, "problems": problems}
        step = policies.INSTALL if policy is policies.NONE else None
        show(
            as_failure(wrong, code="policy_wrong", message=str(policy.problems[0]), next_command=step),
            as_json=as_json,
            render=lambda out: out.print("\n".join(map(str, policy.problems)), soft_wrap=True),
        )
        end(ExitCode.FAILED)
        return
    hidden = [{"rule": rule.name, "line": rule.line, "by": other.name} for rule, other in shadowed(policy)]
    rows = [(rule.line, rule.name, rule.says) for rule in policy.rules]

    def render(out: Console) -> None:
        out.print(f"{path} · sha256 {policy.sha256[:16]}", soft_wrap=True)
        if rows:
            out.print(table(("line", "rule", "verdict"), rows))
        for entry in hidden:
            out.print(f"line {entry['line']}: {entry['rule']} never decides, since {entry['by']} above it always does")
        if not rows:
            out.print("no rule: everything is denied")

    listed = [{"line": line, "rule": name, "verdict": says} for line, name, says in rows]
    answer = {"file": path, "sha256": policy.sha256, "good": True, "rules": listed, "never_decides": hidden}
    show(answer, as_json=as_json, render=render)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as problem:
        raise NotFound(f"{file} cannot be read ({problem.strerror})") from None
