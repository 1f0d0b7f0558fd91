"""IO: prints the answer of `cutter mark --explain`: the kind of each line, the rule that decided, and its unit."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from cutter.marking import PROFILES, MarkRefusal, Options, Profile
from cutter.marking.explain import Explanation, explainer
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, end, line, say, show

_KINDS = {"unit": "a unit", "title": "a title", "group": "a group header"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What a person asked about: the file, the profile as it was typed, and the command that shows the whole cut."""

    file: Path
    profile: str
    again: str

    def after(self, explanation: Explanation) -> str:
        """What to do if the line should be something else. A suggestion knows only the text, so it never replaces a
        profile of the person's own.
        """
        if self.profile not in PROFILES:
            return f"to change that, edit {self.profile}, then: {self.again}"
        if explanation.verdict in ("blank", "excluded"):
            return f"next: {self.again}"
        becomes = "an article" if explanation.verdict == "text" else "text"
        command = ["cutter", "profile", "suggest", str(self.file), "--refine", f"line {explanation.line} is {becomes}"]
        return f"to change that: {shlex.join(command)}"


def tell(
    data: bytes, profile: Profile, docprefix: str, options: Options, numbers: tuple[int, ...], way: Way, *,
    as_json: bool,
) -> None:  # fmt: skip
    """Print the explanation of each line and how to change the first. If the text as a whole is refused, end with 4
    after that.
    """
    made = explainer(data, profile=profile, docprefix=docprefix, options=options)
    if isinstance(made, MarkRefusal):
        _end(made, [], as_json=as_json)
        return
    reader, result = made
    explanations = [reader.line(number) for number in numbers]
    if isinstance(result, MarkRefusal):
        _end(result, explanations, as_json=as_json)
        return
    _show(explanations, as_json=as_json)
    if not as_json:
        say(way.after(explanations[0]))


def _show(explanations: list[Explanation], *, as_json: bool) -> None:
    answer = {"explained": [asdict(explanation) for explanation in explanations]}

    def render(out: Console) -> None:
        for explanation in explanations:
            what = _KINDS.get(explanation.verdict, explanation.verdict)
            where = f" · {explanation.address}" if explanation.address else ""
            head = f"line {explanation.line} is {what} ({explanation.rule})"
            out.print(line(f"{head}: {explanation.sentence}{where} · {explanation.text[:80]}"), soft_wrap=True)

    show(answer, as_json=as_json, render=render)


def _end(refused: MarkRefusal, explanations: list[Explanation], *, as_json: bool) -> None:
    if as_json:
        answer: dict[str, Any] = {"explained": [asdict(explanation) for explanation in explanations]}
        answer = as_failure(answer, code=refused.code, message=refused.message, next_command=refused.then)
        show(answer, as_json=True, render=lambda _: None)
    else:
        if explanations:
            _show(explanations, as_json=False)
        say(f"refused ({refused.code}): {refused.message}")
    end(ExitCode.STOPPED)
