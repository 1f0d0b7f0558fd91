"""IO: runs all steps of the check for one file or several bundles of one law, and prints a line for each step."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any as Json

from cutter.evidence.offline.approvals import Approvals
from cutter.evidence.offline.enacted_text import EnactedText
from cutter.evidence.offline.members import LAW
from cutter.evidence.offline.notation import BROKEN, FAILED, NOT_CHECKED, OK, SHOWN_PROBLEMS, Line, hexed, parsed, shown
from cutter.evidence.offline.receipts import CLOSING, EVENT, Receipts, verify_export

UNHEARD = "no gpg here (2.1 or newer)"
NO_ANSWER = "gpg gave no answer"
TEXTLESS = "a bundle has no text of the law; the stored units must digest to"
ALONE = (
    "only this digest covers the whole bundle (docs/reference/evidence.md): give the closeout report's with --sha256"
)


class Bundle(Receipts, Approvals, EnactedText):
    """A bundle with the steps that check it."""

    def sound(self, row: Json, gpg: str | None) -> bool:
        """Whether an accepted statement is what its verdict says. Without gpg its signature is not checked."""
        try:
            return not [*self.spoken(row), *(self.signed(gpg, row) if gpg else ())]
        except BROKEN:
            return False


def check(
    data: bytes,
    head: str | None = None,
    sha256: str | None = None,
    history: bytes | None = None,
    gpg: str | None = None,
    epochs: Sequence[str] = (),
    before: bytes | None = None,
) -> list[Line]:
    """Run every step in order for a bundle or an export. Raises ValueError if `data` is neither.

    `before` is the bundle that was given before this one. It is empty for the first of several, and None for a bundle
    that is checked alone.
    """
    if data[257:262] != b"ustar" or data[:1] == b"{":
        if before is None and any(set(parsed(line) or ()) in ({*EVENT}, CLOSING) for line in data.split(b"\n")):
            return _chain(data, head)
        raise ValueError("it has neither the form of a bundle nor the form of an export")
    try:
        b = Bundle(data)
    except BROKEN as problem:
        return [_line("archive", _raised(problem), "")]
    return [
        # 1
        _line("archive", b.archive(), f"{len(b.members)} members as the manifest says, and nothing else"),
        # 2
        _digest(b, sha256),
        # 3 and 4
        *_chain(b.members.get("audit.jsonl", b""), head),
        # 5
        _line("receipts", b.chained(), lambda: f"{len(b.receipts)} in one chain, as the audit chain names them"),
        # 6
        _line("approvals", b.approvals(), lambda: _passed(b)),
        # 7
        *_authorship(b, gpg),
        # 8
        *_policy(b, epochs),
        # 9
        _line("workers", None, "the signatures of executor and verifier: their public keys are not in a bundle"),
        # 10
        _line("history", None if history is None else b.engine(history), "Temporal's own events, given with --history"),
        # 11
        _text(b),
        # 12
        _predecessor(b, before),
    ]


def _digest(b: Bundle, sha256: str | None) -> Line:
    """Compare the digest of the sealed bundle. The law, which an export adds, is not in it."""
    try:
        own = b.sealed_sha256
    except BROKEN as problem:
        return _line("sha256", _raised(problem), "")
    return _line("sha256", [f"it is {own}"] * (own != sha256) if sha256 else None, own if sha256 else f"{own}; {ALONE}")


def _text(b: Bundle) -> Line:
    if LAW.isdisjoint(b.members):
        return _line("the law", None, lambda: f"{TEXTLESS} {hexed(b.pins.get('writer_digest'))}")
    return _line("the law", b.text(), lambda: f"{b.held()}, which digest to {hexed(b.pins['writer_digest'])}")


def _predecessor(b: Bundle, before: bytes | None) -> Line:
    """Follow the chain of enactments to the bundle before. Alone, only a first cut has nothing more to check."""
    try:
        if b.begins and before is None:
            return _line("predecessor", (), "it is a first cut, so no enactment is before it")
        if before is None:
            return _line("predecessor", None, f"{b.base_named()}: give its bundle before this one")
        problems = [*b.follows(Bundle(before) if before else None)]
        signed = "" if "law.jsonl" in b.members else "; only a bundle with its law shows that people signed this base"
        return _line("predecessor", problems, "it is a first cut" if b.begins else f"it is {b.base_named()}{signed}")
    except BROKEN as problem:
        return _line("predecessor", _raised(problem), "")


def _chain(data: bytes, head: str | None) -> list[Line]:
    try:
        audit = verify_export(data, head)
    except BROKEN as problem:
        return [_line("audit chain", _raised(problem), "")]
    lines = [_line("audit chain", audit.problems, f"{audit.events} events, head {hexed(audit.head)}")]
    lines += [_line("head", (), f"covers {audit.anchored}")] if audit.anchored != "nothing" else []
    return lines + [_line("head", None, text) for text in audit.unchecked]


def _passed(b: Bundle) -> str:
    used = [(gate, row["approver"]) for gate in b.passed for row in b.rows("consumptions") if row["gate"] == gate]
    gates = ", ".join(f"{gate} by a statement of {who}" for gate, who in used)
    lacks = sum(row["accepted"] for row in b.rows("verdicts")) - len(b.accepted)
    left = f"; without a statement here, so they count for nothing: {lacks} accepted verdicts" if lacks else ""
    return (
        f"passed: {gates}; the next line names the signers" if gates else "the run passed no gate that needs one"
    ) + left


def _authorship(b: Bundle, gpg: str | None) -> list[Line]:
    """Check the signatures. Without a statement or without gpg, the line is NOT CHECKED and never OK."""
    try:
        signers = b.signers()
    except BROKEN as problem:
        return [_line("authorship", _raised(problem), "")]
    if not signers:
        return [_line("authorship", None, "the bundle has no accepted statement, so there is no signature to check")]
    if gpg is None:
        return [_line("authorship", None, f"{UNHEARD}: whether these were signed: {signers}")]
    return [_line("authorship", b.authorship(gpg), f"gpg says so: {signers}")]


def _policy(b: Bundle, kept: Sequence[str]) -> list[Line]:
    try:
        named = ", ".join(sorted({hexed(row["policy_sha256"]) for row in b.accepted}))
    except BROKEN as problem:
        return [_line("policy", _raised(problem), "")]
    if not named:
        return [_line("policy", None, "no policy epoch judged a statement of this run")]
    ask = f"whether {named} was in force, and who has the keys: ask its installer, and give its sha256 with --epoch"
    return [_line("policy", b.in_force(kept) if kept else None, f"judged by {named}, which you gave" if kept else ask)]


def _raised(problem: Exception) -> list[str]:
    return [f"malformed, {type(problem).__name__}: {problem}"]


def _line(what: str, problems: Iterable[str] | None, why: Json) -> Line:
    """The line of a step. `why` is a text, or a function that makes the text after the step is done."""
    sentences = list[str]()
    try:
        for problem in problems or ():
            sentences.append(shown(problem))
        text = shown(why() if callable(why) else why)
    except (OSError, subprocess.SubprocessError) as problem:
        sentences.append(shown(f"{NO_ANSWER}: {type(problem).__name__}: {problem}"))
        text = ""
    except BROKEN as problem:
        sentences.append(shown(_raised(problem)[0]))
        text = ""
    more = [f"and {len(sentences) - SHOWN_PROBLEMS} more"] if len(sentences) > SHOWN_PROBLEMS else []
    verdict = FAILED if sentences else NOT_CHECKED if problems is None else OK
    return what, verdict, "; ".join([*sentences[:SHOWN_PROBLEMS], *more]) or text


def printed(lines: Iterable[Line]) -> str:
    """The steps for people, one a line. Every text in them has gone through `shown`."""
    return "\n".join(f"{verdict:<11}  {what}: {why}" for what, verdict, why in lines)


def exit_code(lines: Iterable[Line]) -> int:
    """0: no step failed. 1: a step failed. 5: no step failed, but gpg is missing, so the signatures are not checked."""
    steps = list(lines)
    if any(verdict == FAILED for _, verdict, _ in steps):
        return 1
    return 5 if any(what == "authorship" and why.startswith(UNHEARD) for what, _, why in steps) else 0


def check_files(
    files: Sequence[bytes],
    heads: Sequence[str] = (),
    sha256s: Sequence[str] = (),
    history: bytes | None = None,
    gpg: str | None = None,
    epochs: Sequence[str] = (),
) -> list[list[Line]]:
    """The steps of each file. Several files are the bundles of one law, and the first one is of its first cut.

    Raises ValueError for a file of another form, and for options that do not fit the number of files.
    """
    for name, values in (("--head", heads), ("--sha256", sha256s)):
        if values and len(values) != len(files):
            raise ValueError(f"give {name} once for each file, in the same order")
    if history is not None and len(files) > 1:
        raise ValueError("--history belongs to one file: check that file without the others")
    steps = []
    for n, data in enumerate(files):
        before = None if len(files) == 1 else files[n - 1] if n else b""
        head, sha256 = heads[n] if heads else None, sha256s[n] if sha256s else None
        steps.append(check(data, head, sha256, history, gpg, epochs, before))
    return steps


def main() -> int:
    """Check the files that the command line names, and print one line for each step."""
    parser = argparse.ArgumentParser(description="Check bundles or an export offline: exit 1 if a step failed.")
    parser.add_argument("file", type=Path, nargs="+", help="several bundles of one law: from the first cut on")
    parser.add_argument("--head", action="append", default=[], help="head of the audit chain, kept elsewhere")
    parser.add_argument("--sha256", action="append", default=[], help="digest of the file, kept elsewhere")
    parser.add_argument("--history", type=Path, help="output of `temporal workflow show --output json`")
    parser.add_argument(
        "--epoch", action="append", default=[], help="sha256 of a policy epoch that was in force; repeatable"
    )
    given = parser.parse_args()
    try:
        history = given.history.read_bytes() if given.history else None
        files = [path.read_bytes() for path in given.file]
        checked = check_files(files, given.head, given.sha256, history, shutil.which("gpg"), given.epoch)
    except (OSError, *BROKEN) as problem:
        names = shown(", ".join(map(str, given.file)))
        parser.exit(2, f"{names}: not a bundle or audit export, or not readable: {shown(problem)}\n")
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    for n, lines in enumerate(checked):
        print(*([f"{shown(given.file[n])}:"] if len(checked) > 1 else []), printed(lines), sep="\n")
    return exit_code([line for lines in checked for line in lines])
