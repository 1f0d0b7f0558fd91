"""IO: shows the outcome of a batch that a command started or resumed, after waiting if asked, with the exit code."""

from __future__ import annotations

from typing import Any

from cutter.settings import Settings
from cutter.stack.addresses import ui_url
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, end, fields, show
from starter.console.terminal import out as terminal
from starter.operator import batch_status
from starter.operator.batch_watch import until_people_or_end


def outcome(settings: Settings, answer: dict[str, Any], *, wait: bool, watch: bool | None, as_json: bool) -> None:
    """Show the outcome of the start or resume of a batch. Wait for it first if asked. Then end with its exit code."""
    # On a terminal somebody looks on, who asked for no exit code: that a person's turn has come is no news to them.
    live = not as_json and (terminal().is_terminal if watch is None else watch)
    batch_id = answer["batch_id"]
    waited = wait or live or bool(watch)
    view = until_people_or_end(settings, batch_id, watch=live) if waited else batch_status.look(settings, batch_id)
    answer |= {
        "state": view.state, "totals": view.totals, "partial": view.partial, "next": view.next, "ui": ui_url(settings),
    }  # fmt: skip
    code = exit_code(answer, waited=waited, asked=wait or bool(watch))
    if code in (ExitCode.FAILED, ExitCode.STOPPED):
        why = f"the batch is {answer['state']}: {_text(answer['totals'])}"
        if answer.get("status") == "refused":
            why = str(answer.get("reason") or "the set was refused")
        answer = as_failure(answer, code=str(answer.get("code") or answer["state"]), message=why)
    shown = {name: _text(value) for name, value in answer.items() if value not in (False, None, "", {}, [])}
    show(answer, as_json=as_json, render=lambda out: out.print(fields(shown), soft_wrap=True))
    end(code)


def exit_code(answer: dict[str, Any], *, waited: bool, asked: bool) -> ExitCode:
    """0: started or done. 1: ended with failures. 3: waits for people (with --wait or --watch), or for a signature that
    --include-failed needs. 4: the set was refused.

    `asked` is true with --wait or --watch. `waited` is also true if a person watches.
    """
    if answer.get("status") == "refused":
        return ExitCode.STOPPED
    if answer.get("needs_signature"):
        return ExitCode.WAITING
    if answer["state"] in ("batch_failed_partial", "batch_voided"):
        return ExitCode.FAILED if waited else ExitCode.DONE
    return ExitCode.WAITING if asked and answer["state"].startswith("batch_awaiting_") else ExitCode.DONE


def _text(value: Any) -> str:
    if isinstance(value, dict) and "sign" in value:
        return f"{value['document_id']} {value['state']}: {value['sign']}"
    if isinstance(value, dict):
        return " · ".join(f"{name} {count}" for name, count in value.items())
    if isinstance(value, list):
        return "\n".join(_text(entry) if isinstance(entry, dict) else str(entry) for entry in value)
    return str(value)
