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


def outcome(settings: Settings, found: dict[str, Any], *, wait: bool, watch: bool | None, as_json: bool) -> None:
    """Show the outcome of the start or resume of a batch. Wait for it first if asked. Then end with its exit code."""
    # On a terminal somebody looks on, who asked for no exit code: that a person's turn has come is no news to them.
    live = not as_json and (terminal().is_terminal if watch is None else watch)
    batch_id = found["batch_id"]
    waited = wait or live or bool(watch)
    seen = until_people_or_end(settings, batch_id, watch=live) if waited else batch_status.look(settings, batch_id)
    found |= {name: seen[name] for name in ("state", "totals", "partial", "next")} | {"ui": ui_url(settings)}
    code = exit_code(found, waited=waited, asked=wait or bool(watch))
    if code in (ExitCode.FAILED, ExitCode.STOPPED):
        found = as_failure(found, code=str(found.get("code") or found["state"]), message=_why(found))
    shown = {name: _text(value) for name, value in found.items() if value not in (False, None, "", {}, [])}
    show(found, as_json=as_json, render=lambda out: out.print(fields(shown), soft_wrap=True))
    end(code)


def _why(found: dict[str, Any]) -> str:
    """One sentence with the reason why the command failed: the set was refused, or documents failed."""
    if found.get("status") == "refused":
        return str(found.get("reason") or "the set was refused")
    return f"the batch is {found['state']}: {_text(found['totals'])}"


def exit_code(found: dict[str, Any], *, waited: bool, asked: bool) -> ExitCode:
    """0: started or done. 1: ended with failures. 3: waits for people (with --wait or --watch), or for a signature that
    --include-failed needs. 4: the set was refused.

    `asked` is true with --wait or --watch. `waited` is also true if a person watches.
    """
    if found.get("status") == "refused":
        return ExitCode.STOPPED
    if found.get("needs_signature"):
        return ExitCode.WAITING
    if found["state"] in ("batch_failed_partial", "batch_voided"):
        return ExitCode.FAILED if waited else ExitCode.DONE
    return ExitCode.WAITING if asked and found["state"].startswith("batch_awaiting_") else ExitCode.DONE


def _text(value: Any) -> str:
    if isinstance(value, dict) and "sign" in value:
        return f"{value['document_id']} {value['state']}: {value['sign']}"
    if isinstance(value, dict):
        return " · ".join(f"{name} {count}" for name, count in value.items())
    if isinstance(value, list):
        return "\n".join(_text(one) if isinstance(one, dict) else str(one) for one in value)
    return str(value)
