"""IO: prints the answer of `cutter mark --explain`: the kind of each line, the rule that decided, and its unit."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Console

from cutter.marking import MarkRefusal, Options, Profile
from cutter.marking.explain import Explanation, explainer
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, end, line, say, show


def tell(
    data: bytes, profile: Profile, docprefix: str, options: Options, numbers: tuple[int, ...], *, as_json: bool
) -> None:
    """Print the explanation of each line. If the text as a whole is refused, end with 4 after that."""
    made = explainer(data, profile=profile, docprefix=docprefix, options=options)
    if isinstance(made, MarkRefusal):
        _end(made, [], as_json=as_json)
        return
    reader, result = made
    told = [reader.line(number) for number in numbers]
    if isinstance(result, MarkRefusal):
        _end(result, told, as_json=as_json)
        return
    _show(told, as_json=as_json)


def _show(told: list[Explanation], *, as_json: bool) -> None:
    found = {"explained": [asdict(one) for one in told]}

    def render(out: Console) -> None:
        for one in told:
            out.print(line(_sentence(one)), soft_wrap=True)

    show(found, as_json=as_json, render=render)


def _sentence(told: Explanation) -> str:
    """`line 12 is a unit (word): … · LAW/ARTICLE-5`, then the line itself."""
    what = {"unit": "a unit", "title": "a title", "group": "a group header", "blank": "blank"}.get(
        told.verdict, told.verdict
    )
    where = f" · {told.address}" if told.address else ""
    return f"line {told.line} is {what} ({told.rule}): {told.sentence}{where} · {told.text[:80]}"


def _end(refused: MarkRefusal, told: list[Explanation], *, as_json: bool) -> None:
    if as_json:
        found = {"explained": [asdict(one) for one in told]}
        show(as_failure(found, code=refused.code, message=refused.message), as_json=True, render=lambda _: None)
    else:
        if told:
            _show(told, as_json=False)
        say(f"refused ({refused.code}): {refused.message}")
    end(ExitCode.STOPPED)
