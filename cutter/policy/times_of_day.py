"""Pure: what the effect policy decides in the course of a day. Only rules with a window depend on the time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, timedelta

from cutter.policy.rules import Decision, EffectPolicy, InvalidPolicy, ProposedAction, Verdict, Window, decide


def by_time(policy: EffectPolicy | InvalidPolicy, action: ProposedAction) -> tuple[tuple[Window | None, Decision], ...]:
    """The decisions about the action, each with its part of the day, or None if it holds at every time."""
    windows = [rule.window for rule in policy.rules if rule.window] if isinstance(policy, EffectPolicy) else []
    midnight = action.at.astimezone(UTC).replace(hour=0, minute=0)
    decisions = [
        (minute, decide(policy, replace(action, at=midnight + timedelta(minutes=minute))))
        for minute in sorted({minute for window in windows for minute in (window.start, window.end)})
    ]
    befores = (decision for _, decision in decisions[-1:] + decisions)
    changes = [entry for entry, before in zip(decisions, befores, strict=False) if entry[1] != before]
    ends = (minute for minute, _ in changes[1:] + changes[:1])
    parts = tuple(
        (Window(start=start, end=end), decision) for (start, decision), end in zip(changes, ends, strict=True)
    )
    return parts or ((None, decide(policy, action)),)


def never_allowed(policy: EffectPolicy | InvalidPolicy, actions: Iterable[ProposedAction]) -> Decision | None:
    """The present denial of the first action that the policy denies at every time of the day. None if there is none."""
    return next(
        (
            decide(policy, action)
            for action in actions
            if all(decision.verdict is Verdict.DENY for _, decision in by_time(policy, action))
        ),
        None,
    )


def restrictions(policy: EffectPolicy | InvalidPolicy, actions: Iterable[ProposedAction]) -> str:
    """The denials of the actions, and the demands for more people at some times, with their times."""
    shown = (
        (part, decision)
        for action in actions
        for part, decision in by_time(policy, action)
        if decision.verdict is Verdict.DENY or (part and decision.verdict is Verdict.NEEDS_APPROVAL)
    )
    return "; ".join(f"{f'{part} UTC' if part else 'always'}: {decision.why}" for part, decision in shown)
